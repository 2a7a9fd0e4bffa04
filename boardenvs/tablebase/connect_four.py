"""Connect Four, solved by search; a book has positions of the opening, which take longest.

`book.npy` is made by `python .ci/tables/book.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boardenvs.game.errors import PositionError
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.games.connect_four import ConnectFour
from boardenvs.kernel import get_backend
from boardenvs.kernel.backend import Backend
from boardenvs.kernel.link import link
from boardenvs.tablebase import dropping
from boardenvs.tablebase.dropping import DISCS, FILES, KEPT, Solver, key_of, slot_of
from boardenvs.utils.halting import run_until

_log = logging.getLogger("boardenvs")

BOOK = Path(__file__).parent / "book.npy"
EXACT = 7  # discs from which on the length of the game counts too: before, that takes minutes
_NEAR = 5  # moves of the winner: an end as near as that is found at once, with any discs
_SLOW = 10  # discs with fewer than which a search may take seconds
_SLOW_IN_PYTHON = 16
_MOST = DISCS // 2  # no score is higher
_LINES = bytes.fromhex(  # of four through each square, file by file
    "03040505040300 04060808060400 05080b0b080500 070a0d0d0a0700"
    "05080b0b080500 04060808060400 03040505040300"
)


class Solution(NamedTuple):
    """The result of a position with best play."""

    value: int  # 1 if the side to move wins, 0 for a draw, -1 if it loses
    plies: int | None  # to the end of the game; None if only the value is known


def covers(game: Game) -> bool:
    """Return whether it is Connect Four on 6x7; a subclass may have other rules."""
    return type(game) is ConnectFour and game.has_rules_of(ConnectFour())


class ExactSearch:
    """Finds results with perfect play of both sides, with `slots`, a power of two, of a table."""

    def __init__(self, slots: int = 1 << 22) -> None:
        self._function = link(dropping, {}, {"WORD_COUNT": 2, "LEGAL_WORDS": 1}).solve
        self._slots = np.zeros(slots, np.uint64)
        moves = np.zeros(FILES * DISCS, np.uint64)
        lines = np.frombuffer(_LINES, np.uint8).astype(np.int64)
        halted = np.zeros(1, np.int64)
        self._memory = Solver(self._slots, moves, lines, halted)
        self._stop: Callable[[], bool] = lambda: False
        self._kept: set[int] = set()
        for data in np.load(BOOK).tolist():
            self.keep(data)

    def best_action(self, position: Position) -> int:
        """Return an action that keeps the result, and that wins soonest or loses latest; before
        `EXACT` discs only if the end is near. The game must not be over.
        """

        def order(action: int) -> tuple[bool, int]:
            return key_of_position(position.step(action)) not in self._kept, abs(action - 3)

        best, _ = self._best_score(position)
        for action in sorted(position.legal_actions(), key=order):
            if self._score(position.step(action), -best, 1 - best) == -best:
                return action
        raise PositionError(f"{position.fen()!r} has other legal actions than its discs allow")

    def solution(self, position: Position) -> Solution:
        """Return the result, and from `EXACT` discs on, or if it is near, when it comes."""
        plies = discs_of(position)
        score, exact = self._best_score(position)
        value = int(np.sign(score))
        if not exact or value == 0:
            return Solution(value, None if value else DISCS - plies)
        moves = _MOST + 1 - abs(score) - (plies + (value < 0)) // 2  # of the winner
        return Solution(value, 2 * moves - (value > 0))

    def takes_long(self, position: Position, discs: int = _SLOW) -> bool:
        """Return whether there are fewer discs than this, and no entry in the book: with the
        default a search may take seconds, with `EXACT` minutes. Without Numba, whether it takes
        seconds.
        """
        most = discs if get_backend() == "numba" else _SLOW_IN_PYTHON
        return discs_of(position) < most and key_of_position(position) not in self._kept

    @contextmanager
    def until(self, stop: Callable[[], bool]) -> Iterator[None]:
        """Raise TimeoutError in place of a result once `stop()` returns True."""
        before, self._stop = self._stop, stop
        try:
            yield
        finally:
            self._stop = before

    def keep(self, data: int) -> None:
        """Keep what the book has of a position."""
        self._kept.add(data >> 12)
        self._slots[slot_of(data >> 12, self._slots)] = data | KEPT

    def _best_score(self, position: Position) -> tuple[int, bool]:
        """Return the score, and whether it is exact. Else its sign is, and a loss is as late as
        this.
        """
        discs = discs_of(position)
        is_exact, near = discs >= EXACT, (DISCS + 1 - discs) // 2 - _NEAR
        for low, high in () if is_exact else ((near, _MOST), (-_MOST, -near)):
            score = self._score(position, low, high)
            if abs(score) > near:
                return score, True
        if self.takes_long(position, EXACT):
            _announce(discs, get_backend())
        most = _MOST if is_exact else 1
        score = self._score(position, -most, most)
        return score if is_exact or score >= 0 else -near, is_exact

    def _score(self, position: Position, low: int, high: int) -> int:
        """Return the score as `dropping.solve`, also of a game that is over."""
        plies = discs_of(position)
        if position.is_over():
            score = 0 if position.result()[0] == 50 else -((DISCS + 2 - plies) // 2)
            return min(high, max(low, score))
        kind = np.uint64 if get_backend() == "numba" else int
        own, taken = map(kind, _words(position))
        search = partial(self._function, own, taken, plies, low, high, self._memory)
        if not self.takes_long(position):
            return int(search())
        halted = self._memory.halted
        try:
            score = run_until(search, self._halt, stop=self._stop)
            if halted[0]:
                raise TimeoutError(f"{position.fen()!r} was not solved in time")
        finally:
            halted[0] = 0
        return int(score)

    def _halt(self) -> None:
        self._memory.halted[0] = 1


@cache
def _announce(discs: int, backend: Backend) -> None:
    """Log, once for each number of discs, that a search takes long."""
    _log.warning(
        "Connect Four is being solved with %d discs on the board: with fewer than %d that takes a "
        "minute or two, else seconds%s",
        discs, EXACT, "" if backend == "numba" else ", without Numba a hundred times as long"
    )  # fmt: skip


@lru_cache(maxsize=2)
def exact_search(backend: Backend) -> ExactSearch:
    """Return the search that this process shares; `backend` is the one in use."""
    return ExactSearch()


def discs_of(position: Position) -> int:
    """Return the plies that have been played: what the position itself says may be wrong."""
    return (position.own | position.opp).bit_count()


def _words(position: Position) -> list[Any]:
    """Return the own and all discs, with seven bits a file; PositionError if one has nothing
    below it.
    """
    sets = position.own, position.own | position.opp
    position.game.check_squares(sets)  # or search would read beyond its lists
    return [sum(1 << s % 7 * 7 + s // 7 for s in range(DISCS) if b >> s & 1) for b in sets]


def key_of_position(position: Position) -> int:
    """Return the position's number in the table and in the book."""
    own, taken = _words(position)
    return key_of(own, taken, discs_of(position))
