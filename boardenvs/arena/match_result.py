"""The result of a match: scores with intervals, in all and by role, and the games."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.arena.executor import SECOND
from boardenvs.arena.player import PlayerStats
from boardenvs.arena.ratings import score_interval
from boardenvs.game.state import FloatArray, IntArray
from boardenvs.report import ReportTable

Counts = tuple[int, int, int]  # wins, draws and losses


@dataclass(frozen=True)
class MatchResult:
    """The games of a match; a win of the first agent scores 1, a draw 1/2, a loss 0.

    Arrays (2, pairs) hold the games in which the first agent has the first role in row 0 and the
    others in row 1; column i is opening i. A forfeit is a loss.

    ```python
    import boardenvs

    result = boardenvs.play_match(boardenvs.games.make("othello"), "greedy", "random", pairs=50)
    print(result.score, result.interval, result.wins, result.by_role)
    ```
    """

    scores: FloatArray  # (2, pairs) float64; nan for games that are not over
    forfeits: IntArray  # (2, pairs) int8: 1 if the first agent forfeited, 2 if the second did
    mean_plies: float  # of a game, its opening included
    openings: int  # the number of distinct ones
    stats: tuple[PlayerStats, PlayerStats]  # of the first and of the second agent
    actions: IntArray  # (2, pairs, P) int32, openings included, -1 after the end

    @property
    def games(self) -> int:
        return self.scores.size

    @property
    def counts(self) -> Counts:
        """The wins, draws and losses of the first agent."""
        return _counts(self.scores)

    @property
    def wins(self) -> int:
        return self.counts[0]

    @property
    def draws(self) -> int:
        return self.counts[1]

    @property
    def losses(self) -> int:
        return self.counts[2]

    @property
    def by_role(self) -> tuple[Counts, Counts]:
        """The first agent's wins, draws and losses in the first and in the second role."""
        return _counts(self.scores[0]), _counts(self.scores[1])

    @property
    def pair_scores(self) -> FloatArray:
        """The mean score of each opening's two games, (pairs,) float64."""
        return self.scores.mean(axis=0)

    @property
    def pair_points(self) -> FloatArray:
        """The points of both agents in each opening's two games, (pairs, 2) float64."""
        points = self.scores.sum(axis=0)
        return np.stack([points, 2 - points], axis=1)

    @property
    def score(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the score, over openings; see `score_interval`."""
        return score_interval(self.pair_scores)

    def __str__(self) -> str:
        (low, high), (won, drawn, lost) = self.interval, self.counts
        score = f"{self.score:.3f} [{low:.3f}, {high:.3f}] (+{won} ={drawn} -{lost})"
        return "\n".join([score, *self.faults])

    @property
    def faults(self) -> list[str]:
        """A sentence on what went wrong with each player that forfeited games or failed in them."""
        players = zip(("the first player", "the second player"), self.stats, strict=True)
        return [fault for who, stats in players if (fault := stats.explain(who, self.games))]

    def rows(self, sides: tuple[str, str]) -> list[dict[str, object]]:
        """Return the rows of a table: the first agent's games in all and by role; the score with
        its 95 % interval.
        """
        parts = {"all": self.scores}
        parts |= {f"as {side}": self.scores[[i]] for i, side in enumerate(sides)}
        rows = []
        for name, scores in parts.items():
            counts = dict(zip(("won", "drawn", "lost"), _counts(scores), strict=True))
            low, high = score_interval(scores.mean(axis=0))
            score = f"{scores.mean():.3f} [{low:.3f}, {high:.3f}]"
            rows.append({"": name, "games": scores.size, **counts, "score": score})
        return rows

    def _repr_html_(self) -> str:
        """Return the first agent's games in all and by role, for notebooks."""
        title = "the first agent's games; scores with 95 % intervals over openings"
        rows = self.rows(("the first role", "the second role"))
        return ReportTable(rows, "; ".join([title, *self.faults])).html()


def forfeited(pairs: int, side: int, message: str) -> MatchResult:
    """Return the match in which this side forfeits all games unplayed."""
    stats = PlayerStats(), PlayerStats()
    stats[side - 1].add(2 * pairs, message)
    return MatchResult(
        scores=np.full((2, pairs), float(side == SECOND)),
        forfeits=np.full((2, pairs), side, np.int8),
        mean_plies=0.0,
        openings=pairs,
        stats=stats,
        actions=np.empty((2, pairs, 0), np.int32),
    )


def _counts(scores: FloatArray) -> Counts:
    return int((scores == 1).sum()), int((scores == 0.5).sum()), int((scores == 0).sum())
