"""The registry: the id of a game and what makes it.

A new game is one file of rules beside this one and one line here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from boardenvs.errors import unknown
from boardenvs.game import Game
from boardenvs.games.lines_of_action import LinesOfAction
from boardenvs.games.othello import CENTRE_HOLES, Othello
from boardenvs.games.wolf_and_sheep import WolfAndSheep

GAMES: dict[str, Callable[..., Game]] = {
    "othello": Othello,
    "othello_holes": partial(Othello, id="othello_holes", holes=CENTRE_HOLES),
    "reversi": partial(Othello, id="reversi"),
    "wolf_and_sheep": WolfAndSheep,
    "lines_of_action": LinesOfAction,
}


def parameters(game_id: str) -> list[str]:
    """The names of a game's rule parameters; ValueError for an unknown id."""
    if game_id not in GAMES:
        raise ValueError(unknown("game", game_id, GAMES))
    return [name for name in inspect.signature(GAMES[game_id]).parameters if name != "id"]


def make(game_id: str, **rules: Any) -> Game:
    """The game with this id, with rule parameters such as `rules="classic"`.

    ValueError for an unknown id or a wrong value, TypeError for an unknown parameter; both name
    what would be right.
    """
    known = parameters(game_id)
    for name in rules:
        if name not in known:
            raise TypeError(unknown(f"parameter of {game_id}", name, known))
    return GAMES[game_id](**rules)


__all__ = ["GAMES", "Game", "LinesOfAction", "Othello", "WolfAndSheep", "make", "parameters"]
