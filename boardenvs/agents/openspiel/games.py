"""Which of OpenSpiel's games are ours, and how an action of one is written in the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from boardenvs import games
from boardenvs.game.contract import Game, Position


@dataclass(frozen=True)
class Counterpart:
    """A game of OpenSpiel that is one of ours.

    name: OpenSpiel's for it. read: what OpenSpiel calls an action, as our `Game.parse_action` reads
    it. parameters: OpenSpiel's names of those of our rules; all others must have their defaults.
    """

    name: str
    read: Callable[[str], str]
    parameters: Mapping[str, str] = field(default_factory=dict)


def _upside_down(text: str) -> str:
    """OpenSpiel counts the rows of Othello from the top, as tournaments do."""
    return text if text == "pass" else f"{text[0]}{9 - int(text[1])}"


def _without_capture(text: str) -> str:
    """OpenSpiel writes "c1xa3" for a capture."""
    return text.replace("x", "-")


# By the id of our game. A game of your own is known as soon as it has a line here.
COUNTERPARTS = {
    "othello": Counterpart("othello", _upside_down),
    "reversi": Counterpart("othello", _upside_down),
    # OpenSpiel has two more rules: who repeats a position draws, and who cannot move loses. There
    # a connection of both sides is the mover's win, and the last step a draw whatever it connects.
    "lines_of_action": Counterpart(
        "lines_of_action", _without_capture, {"max_steps": "max_game_length"}
    ),
}


def pyspiel() -> Any:
    """OpenSpiel's module; ImportError, with what to install, where there is none."""
    if find_spec("pyspiel") is None:
        raise ImportError("OpenSpiel is not installed: pip install open_spiel")
    return import_module("pyspiel")


class Translation:
    """Our game and OpenSpiel's, action by action and game by game."""

    def __init__(self, ours: Game, theirs: Any, read: Callable[[str], str]) -> None:
        self.ours = ours
        self.theirs = theirs  # a pyspiel.Game
        self._read = read
        self._start = theirs.new_initial_state()
        self._known: dict[tuple[int, int], int] = {}

    def our_action(self, role: int, action: int) -> int:
        """Our number of OpenSpiel's action."""
        if (role, action) not in self._known:
            text = self._start.action_to_string(role, action)
            self._known[role, action] = self.ours.parse_action(self._read(text))
        return self._known[role, action]

    def their_action(self, state: Any, action: int) -> int:
        """OpenSpiel's number of our action, which must be legal in this pyspiel.State."""
        role = state.current_player()
        known: dict[int, int] = {self.our_action(role, a): a for a in state.legal_actions()}
        return known[action]

    def position(self, state: Any) -> Position:
        """Where the game stands that OpenSpiel's state has come to."""
        position = self.ours.start()
        for ply in state.full_history():
            position = position.step(self.our_action(ply.player, ply.action))
        return position

    def state(self, actions: Sequence[int]) -> Any:
        """OpenSpiel's state after these of our actions; a terminal one where its rules end the game
        before.
        """
        state = self.theirs.new_initial_state()
        for action in self._without_circles(actions):
            if state.is_terminal():
                break
            state.apply_action(self.their_action(state, action))
        return state

    def _without_circles(self, actions: Sequence[int]) -> list[int]:
        """Actions to the same position that repeat none: OpenSpiel may end a game there, ours
        goes on.
        """
        position = self.ours.start()
        kept: list[int] = []
        seen = {position[:2]: 0}  # own and opposing squares, and how many actions led there
        for action in actions:
            position = position.step(action)
            kept.append(action)
            before = seen.get(position[:2])
            # Of an odd number of plies it would be the other side's turn.
            if before is not None and (len(kept) - before) % 2 == 0:
                del kept[before:]
                seen = {squares: ply for squares, ply in seen.items() if ply <= before}
            seen[position[:2]] = len(kept)
        return kept


@lru_cache(maxsize=64)
def translation_of(game: Game) -> Translation:
    """Our game and its counterpart; ValueError, with those that have one, where it has none."""
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


def translation_to(theirs: Any) -> Translation:
    """A pyspiel.Game and ours; ValueError, with those that there are, where we have none."""
    name = theirs.get_type().short_name
    found = [(i, c) for i, c in COUNTERPARTS.items() if c.name == name]
    if not found:
        known = ", ".join(dict.fromkeys(c.name for c in COUNTERPARTS.values()))
        raise ValueError(f"boardenvs does not have OpenSpiel's {name}: it has {known}")
    game_id, counterpart = found[0]
    values = theirs.get_parameters()
    rules = {ours: values.pop(name) for ours, name in counterpart.parameters.items()}
    usual = pyspiel().load_game(name).get_parameters()
    for key, value in values.items():
        if value != usual[key]:
            raise ValueError(f"our {game_id} has {key}={usual[key]}, not {value}")
    return Translation(games.make(game_id, **rules), theirs, counterpart.read)
