"""Paired games of a policy against a suite of opponents, and the ranking of a run's policies."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from boardenvs.agents import Agent
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.arena.executor import seed_libraries
from boardenvs.arena.match import play_match
from boardenvs.arena.match_result import MatchResult
from boardenvs.exams import take_exam
from boardenvs.game.game import Game
from training.exact import examine
from training.run_settings import RunSettings, SuiteSettings


class Score(BaseModel):
    """The result against one opponent; `low` to `high` is the 95 % interval of the score."""

    score: float
    low: float
    high: float
    wins: int
    draws: int
    losses: int

    def __str__(self) -> str:
        return (
            f"{self.score:.3f} [{self.low:.3f}, {self.high:.3f}] "
            f"+{self.wins} ={self.draws} -{self.losses}"
        )


class SuiteResult(BaseModel):
    """The scores by opponent of the policy after `steps` and `minutes` of training."""

    steps: int
    minutes: float
    cpu_minutes: float
    scores: dict[str, Score]
    exact: dict[str, float] = {}  # by metric, see `training.exact`
    kept: float | None = None  # the share of the exam's positions whose value the policy keeps
    losses: dict[str, float] = {}  # of the update before

    @property
    def rank(self) -> tuple[float, float]:
        """The sort key of policies: the worst score, then the mean score.

        If the game is solved, the shares of `training.exact` replace the scores: they count all
        mistakes, games only those that an opponent happens to provoke.
        """
        scores = list(self.exact.values()) or [s.score for s in self.scores.values()]
        return min(scores), sum(scores) / len(scores)

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers of TensorBoard and of `evaluations.csv`."""
        metrics = {"evaluation/worst": self.rank[0]}
        metrics |= {f"evaluation/{name}": score.score for name, score in self.scores.items()}
        for end in ("low", "high"):
            metrics |= {f"{end}/{name}": getattr(score, end) for name, score in self.scores.items()}
        metrics |= {f"exact/{name.replace(' ', '_')}": x for name, x in self.exact.items()}
        return metrics | ({} if self.kept is None else {"exam/kept": self.kept}) | self.losses

    def __str__(self) -> str:
        parts = [f"{name} {score}" for name, score in self.scores.items()]
        return "   ".join(parts + [f"{name} {value:.4g}" for name, value in self.exact.items()])


def best_of(results: Sequence[SuiteResult]) -> SuiteResult:
    """Return the latest result whose worst score is within a standard error of the highest; if the
    game is solved, the highest.

    The highest of many is partly luck, and policies get better as the learning rate falls.
    """
    best = max(reversed(results), key=lambda result: result.rank)
    if best.exact:
        return best
    worst = min(best.scores.values(), key=lambda score: score.score)
    least = worst.score - (worst.high - worst.low) / 4
    return next(result for result in reversed(results) if result.rank[0] >= least)


def evaluate(config: RunSettings, policy: Policy, seed: int) -> dict[str, Any]:
    """Return the fields of a `SuiteResult` that judge a policy."""
    game, agent = config.make_game(), PolicyAgent(policy)
    scores = play_suite(game, agent, config.evaluation, seed)
    result: dict[str, Any] = {"scores": scores, "exact": examine(game, agent, seed)}
    with contextlib.suppress(ValueError):  # the game has no exam
        result["kept"] = take_exam(game, agent).total.kept
    return result


def play_suite(game: Game, agent: Agent, suite: SuiteSettings, seed: int) -> dict[str, Score]:
    """Return the agent's scores against each opponent of the suite."""
    return {name: score_of(play(game, suite, agent, name, seed)) for name in suite.opponents}


def play(game: Game, suite: SuiteSettings, a: object, b: object, seed: int) -> MatchResult:
    """Return a match on the suite's openings; RuntimeError if one of the two players fails."""
    seed_libraries(seed)  # players may draw from them
    result = play_match(game, a, b, suite.pairs, opening_plies=suite.opening_plies, seed=seed)
    for stats in result.stats:
        if stats.forfeits:
            raise RuntimeError(f"an agent failed in an evaluation: {stats.message}")
    return result


def score_of(result: MatchResult) -> Score:
    """Return the score of a match's first agent."""
    low, high = result.interval
    return Score(
        score=result.score,
        low=low,
        high=high,
        wins=result.wins,
        draws=result.draws,
        losses=result.losses,
    )
