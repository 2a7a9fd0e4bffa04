"""Games that OpenSpiel has too, and the translation of their actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from boardenvs import games
from boardenvs.game.contract import Game


@dataclass(frozen=True)
class Counterpart:
    """OpenSpiel's version of a game of ours.

    name: OpenSpiel's name of the game. read: turns OpenSpiel's name of an action into ours, as for
    `Game.parse_action`. parameters: our rules' names, and OpenSpiel's names of the same; all other
    rules must have their defaults.
    """

    name: str
    read: Callable[[str], str]
    parameters: Mapping[str, str] = field(default_factory=dict)


def _upside_down(text: str) -> str:
    """Othello's rows are counted from the top in OpenSpiel, as in tournaments."""
    return text if text == "pass" else f"{text[0]}{9 - int(text[1])}"


def _without_capture(text: str) -> str:
    """Captures are written "c1xa3" in OpenSpiel."""
    return text.replace("x", "-")


# By the id of our game; a line here adds a game.
COUNTERPARTS = {
    "othello": Counterpart("othello", _upside_down),
    "reversi": Counterpart("othello", _upside_down),
    # OpenSpiel's rules differ: repeating a position draws, having no move loses, a move that
    # connects both sides wins, and the last step is a draw even if it connects.
    "lines_of_action": Counterpart(
        "lines_of_action", _without_capture, {"max_steps": "max_game_length"}
    ),
}


def pyspiel() -> Any:
    """Return OpenSpiel's module; ImportError with the command that installs it."""
    if find_spec("pyspiel") is None:
        raise ImportError("OpenSpiel is not installed: pip install open_spiel")
    return import_module("pyspiel")


class Translation:
    """Translates actions and games between our game and OpenSpiel's."""

    def __init__(self, ours: Game, theirs: Any, read: Callable[[str], str]) -> None:
        self.ours = ours
        self.theirs = theirs  # a pyspiel.Game
        self._read = read
        self._start = theirs.new_initial_state()
        self._known: dict[tuple[int, int], int] = {}

    def our_action(self, role: int, action: int) -> int:
        """Return our number of OpenSpiel's action."""
        if (role, action) not in self._known:
            text = self._start.action_to_string(role, action)
            self._known[role, action] = self.ours.parse_action(self._read(text))
        return self._known[role, action]

    def their_action(self, state: Any, action: int) -> int:
        """Return OpenSpiel's number of our action, which must be legal in this pyspiel.State."""
        role = state.current_player()
        known: dict[int, int] = {self.our_action(role, a): a for a in state.legal_actions()}
        return known[action]

    def state(self, actions: Sequence[int]) -> Any:
        """Return OpenSpiel's state after our actions, or where its rules end the game."""
        state = self.theirs.new_initial_state()
        for action in self._without_circles(actions):
            if state.is_terminal():
                break
            state.apply_action(self.their_action(state, action))
        return state

    def _without_circles(self, actions: Sequence[int]) -> list[int]:
        """Return actions to the same position without repeating one, which may end OpenSpiel's
        game but not ours.
        """
        position = self.ours.start()
        kept: list[int] = []
        seen = {position[:2]: 0}  # own and opposing squares, and how many actions led there
        for action in actions:
            position = position.step(action)
            kept.append(action)
            before = seen.get(position[:2])
            # After an odd number of plies it is the other side's turn.
            if before is not None and (len(kept) - before) % 2 == 0:
                del kept[before:]
                seen = {squares: ply for squares, ply in seen.items() if ply <= before}
            seen[position[:2]] = len(kept)
        return kept


@lru_cache(maxsize=64)
def translation_of(game: Game) -> Translation:
    """Return the translation of a game; ValueError if OpenSpiel does not have it."""
    counterpart = COUNTERPARTS.get(game.id)
    if counterpart is None:
        raise ValueError(f"OpenSpiel has no {game.id}: it has {', '.join(COUNTERPARTS)}")
    usual = games.defaults(games.name_of(game))
    values = {name: getattr(game, name) for name in usual}
    for name in usual:
        if name not in ("id", *counterpart.parameters) and values[name] != usual[name]:
            raise ValueError(f"OpenSpiel's {game.id} has {name}={usual[name]}, not {values[name]}")
    given = {theirs: values[ours] for ours, theirs in counterpart.parameters.items()}
    return Translation(game, pyspiel().load_game(counterpart.name, given), counterpart.read)
