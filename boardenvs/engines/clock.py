"""What an engine may take, in seconds by the clock and of CPU, for a move and for a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from boardenvs.engines.channel import EngineLateError, Limit

MOVE = 60.0  # seconds for a move where no others are given
LAG = 1.0  # seconds that an engine may be late: what it is told is not all that passes
_GAMES = 10_000  # whose times are remembered

Key = tuple[int, tuple[int, ...]]


@dataclass
class Clock:
    """Limits in seconds, None for none; those of games hold where the plies so far are known."""

    move_time: float | None = None
    game_time: float | None = None
    move_cpu: float | None = None
    game_cpu: float | None = None
    # What it took in games so far, by its role and all plies before its last move: games that go on
    # side by side are told apart by these, and those that are still the same take turns.
    _spent: dict[Key, list[tuple[float, float]]] = field(default_factory=dict)

    def taken(self, role: int, actions: Sequence[int]) -> tuple[float, float]:
        """Wall and CPU seconds that the game took so far, which is then forgotten."""
        for end in reversed(range(len(actions))):
            key = role, tuple(actions[:end])
            if key in self._spent:
                found = self._spent[key].pop()
                if not self._spent[key]:
                    del self._spent[key]
                return found
        return 0.0, 0.0

    def limit(self, taken: tuple[float, float]) -> Limit:
        """What is left for a move; EngineLateError where the time for the game is over."""
        wall, cpu = taken
        limit = Limit(
            min(_or(self.move_time, MOVE if self.game_time is None else inf), self.left(wall))
            + LAG,
            min(_or(self.move_cpu, inf), _or(self.game_cpu, inf) - cpu),
        )
        if limit.wall <= 0 or limit.cpu <= 0:
            raise EngineLateError("its time for the game is over")
        return limit

    def left(self, wall: float) -> float:
        """Seconds that are left of a game in which it took so many."""
        return _or(self.game_time, inf) - wall

    def add(self, role: int, actions: Sequence[int], wall: float, cpu: float) -> None:
        """Note what a game took up to the move of this role after these actions."""
        if self.game_time is None and self.game_cpu is None:
            return
        self._spent.setdefault((role, tuple(actions)), []).append((wall, cpu))
        if len(self._spent) > _GAMES:
            del self._spent[next(iter(self._spent))]


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
