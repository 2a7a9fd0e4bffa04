"""The registry: the id of a game and what makes it.

A new game is one file of rules beside this one and one line here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from boardenvs.game.contract import Game
from boardenvs.games.lines_of_action import LinesOfAction
from boardenvs.games.othello import CENTRE_HOLES, Othello
from boardenvs.games.wolf_and_sheep import WolfAndSheep
from boardenvs.utils.checks import unknown
from boardenvs.utils.spec import make_from_spec, write_spec

GAMES: dict[str, Callable[..., Game]] = {
    "othello": Othello,
    "othello_holes": partial(Othello, id="othello_holes", holes=CENTRE_HOLES),
    "reversi": partial(Othello, id="reversi"),
    "wolf_and_sheep": WolfAndSheep,
    "lines_of_action": LinesOfAction,
}


def defaults(game_id: str) -> dict[str, Any]:
    """A game's rule parameters and their values by default; ValueError for an unknown id."""
    if game_id not in GAMES:
        raise ValueError(unknown("game", game_id, GAMES))
    signature = inspect.signature(GAMES[game_id])
    return {name: p.default for name, p in signature.parameters.items() if name != "id"}


def parameters(game_id: str) -> list[str]:
    """The names of a game's rule parameters; ValueError for an unknown id."""
    return list(defaults(game_id))


def make(game_id: str, **rules: Any) -> Game:
    """The game with this id, with rule parameters such as `rules="classic"`.

    ValueError for an unknown id or a wrong value, TypeError for an unknown parameter; both name
    what would be right.
    """
    if ":" in game_id and not rules:
        return parse(game_id)
    known = parameters(game_id)
    for name in rules:
        if name not in known:
            raise TypeError(unknown(f"parameter of {game_id}", name, known))
    return GAMES[game_id](**rules)


def parse(spec: str) -> Game:
    """The game of a text: "othello", "wolf_and_sheep:rules=described,max_plies=none".

    ValueError for unknown names, with the nearest one that exists, and for wrong values.
    """
    return make_from_spec("game", spec, GAMES, hidden=("id",))


def spec_of(game: Game) -> str:
    """The text that `parse` makes this game of: its id, and the parameters not left as they are."""
    values = {name: getattr(game, name) for name in parameters(game.id)}
    standard = defaults(game.id)
    return write_spec(game.id, {k: v for k, v in values.items() if v != standard[k]})


__all__ = [
    "GAMES",
    "Game",
    "LinesOfAction",
    "Othello",
    "WolfAndSheep",
    "defaults",
    "make",
    "parameters",
    "parse",
    "spec_of",
]
