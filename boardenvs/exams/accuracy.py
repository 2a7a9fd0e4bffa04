"""How accurately a player moves: its moves in test positions, marked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from boardenvs.agents import Agent, check_game
from boardenvs.arena.player import FORFEIT, Player, PlayerStats
from boardenvs.arena.ratings import Z95, score_interval
from boardenvs.exams.positions import ExamPositions, exam_positions
from boardenvs.game.game import Game
from boardenvs.game.state import BoolArray, FloatArray, IntArray, take

ALL = "all"
_AT_ONCE = 50  # positions of one question to the player


@dataclass(frozen=True)
class Accuracy:
    """The marks for the positions of one kind, with 95 % intervals."""

    kind: str  # or ALL
    positions: int
    kept: float  # the share of moves that keep the value: the win, or the draw
    low: float
    high: float
    best: float | None  # the share of moves that lose no disc; None if discs do not count
    loss: float | None  # the mean loss in discs; an illegal move loses as the worst legal one
    loss_low: float | None
    loss_high: float | None

    @property
    def row(self) -> dict[str, object]:
        """A row of a table, with 95 % intervals in brackets."""
        kept = f"{self.kept:.3f} [{self.low:.3f}, {self.high:.3f}]"
        row = {"kind": self.kind, "positions": self.positions, "keeps the value": kept}
        if self.loss is not None:
            row["best move"] = f"{self.best:.3f}"
            ends = f"[{self.loss_low:.2f}, {self.loss_high:.2f}]"
            row["mean loss in discs"] = f"{self.loss:.2f} {ends}"
        return row


@dataclass(frozen=True)
class ExamResult:
    """A player's exam in one game."""

    game: str  # its id
    marks: tuple[Accuracy, ...]  # of each kind, then of all kinds
    seconds: float
    made: str  # when and how the positions were made
    stats: PlayerStats

    @property
    def total(self) -> Accuracy:
        """The marks over all kinds."""
        return self.marks[-1]


def take_exam(
    game: Game,
    agent: Agent,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ExamResult:
    """Ask the agent for its move in each position of the game's exam.

    An illegal move or an exception counts as a wrong move. `progress` is called with the number of
    answered positions and of all. The same seed gives the same marks if the agent draws only from
    the generator that it is given.

    ValueError for a game without an exam, an agent that cannot play it, or one that needs the moves
    that led to a position (`HistoryNeededError`).

    ```python
    import boardenvs
    from boardenvs.exams import take_exam

    marked = take_exam(boardenvs.games.make("othello"), boardenvs.make_agent("positional"))
    print(marked.total.kept, marked.total.loss)
    ```
    """
    check_game(agent, game)
    exam = exam_positions(game)
    began, count = time.monotonic(), len(exam.kinds)
    player, rng = Player(agent), np.random.default_rng(seed)
    answers = np.empty(count, np.int64)
    for start in range(0, count, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        answers[part] = player.act(game, take(exam.state, part), rng)
        if progress:
            progress(min(start + _AT_ONCE, count), count)
    return ExamResult(
        game=game.id,
        marks=_marks(game, exam, answers),
        seconds=time.monotonic() - began,
        made=exam.made,
        stats=player.count(),
    )


def _marks(game: Game, exam: ExamPositions, answers: IntArray) -> tuple[Accuracy, ...]:
    """Return the marks of each kind, then of all."""
    best, forfeit = exam.values.max(axis=1), answers == FORFEIT
    worst = np.where(np.isfinite(exam.values), exam.values, np.inf).min(axis=1)
    values = exam.values[np.arange(len(answers)), np.maximum(answers, 0)]
    kept = (np.sign(values) == np.sign(best)) & ~forfeit
    loss = best - np.where(forfeit, worst, values)
    kinds = np.array(exam.kinds)
    rows = {kind: kinds == kind for kind in dict.fromkeys(exam.kinds)} | {ALL: kinds == kinds}
    return tuple(
        _mark(kind, kept[of], loss[of] if game.margin_counts else None) for kind, of in rows.items()
    )


def _mark(kind: str, kept: BoolArray, loss: FloatArray | None) -> Accuracy:
    """Return the marks for positions by whether the value was kept, and by loss."""
    low, high = score_interval(kept.astype(np.float64))
    share, count = float(kept.mean()), len(kept)
    if loss is None:
        return Accuracy(kind, count, share, low, high, None, None, None, None)
    mean = float(loss.mean())
    radius = Z95 * float(loss.std(ddof=1)) / math.sqrt(count) if count > 1 else math.inf
    best = float((loss == 0).mean())
    return Accuracy(
        kind, count, share, low, high, best, mean, max(mean - radius, 0.0), mean + radius
    )
