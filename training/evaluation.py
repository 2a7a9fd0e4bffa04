"""How strong a policy is: paired games against a suite of opponents.

The opponents of a suite are fixed, and so are the openings: each is played twice, with roles
swapped. While a run trains, the evaluation suite chooses its best policy. At the end there is the
final evaluation, against players that the policy did not learn from, in games from openings that
did not choose it. There the policy plays as it will be used: read back from its file, as it is and
with the shield (`boardenvs.agents.shield`). All meet one another too, and the arena's ratings say
in one number how strong each is: 0 is random play.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, Field
from rich.console import Console
from rich.progress import track

from boardenvs import games
from boardenvs.agents import Agent
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.shield import Shield
from boardenvs.arena import MatchResult
from boardenvs.arena.executor import HERE, Executor
from boardenvs.arena.pairing import Entrant, Pairing, Played
from boardenvs.arena.results import rate_pairings
from boardenvs.arena.workers import play_by
from boardenvs.exams import Accuracy, has_exam, take_exam
from boardenvs.game.state import BoolArray
from boardenvs.games import Game
from boardenvs.records.batch import play
from boardenvs.records.recorder import record_match
from boardenvs.tablebase import Tablebase
from training.exact import LEAKS, examine
from training.settings import RunSettings, SuiteSettings

RAW, SHIELDED, ANCHOR = "policy", "policy, shielded", "random"


class Score(BaseModel):
    """The result against one opponent; `low` to `high` is the score's 95 % interval."""

    score: float
    low: float
    high: float
    wins: int
    draws: int
    losses: int
    by_role: tuple[float, float] = (0.0, 0.0)  # the scores in the first and in the second role
    wiped_out: int = 0  # games lost without a piece left
    plies: float = 0.0  # the mean length of a game

    def __str__(self) -> str:
        return (
            f"{self.score:.3f} [{self.low:.3f}, {self.high:.3f}] "
            f"+{self.wins} ={self.draws} -{self.losses}"
        )


class SuiteResult(BaseModel):
    """The results of a policy after `steps`, `minutes` into the training, by opponent."""

    steps: int
    minutes: float
    scores: dict[str, Score]
    exact: dict[str, float] = {}  # by metric, see `training.exact`
    exam: float | None = None  # the share of the game's exam; None where there is none

    @property
    def worst(self) -> float:
        """The lowest score, or share of the exact solution where there is one."""
        return min(self._scores())

    @property
    def rank(self) -> tuple[bool, float, float]:
        """What policies are ranked by: no leaks, the worst score, the mean where that is equal.

        Scores are shares of the exact solution where there is one: it counts all mistakes, and
        opponents only those on the few lines that they lead to.
        """
        scores = self._scores()
        leaks = [value for name, value in self.exact.items() if name.endswith(LEAKS)]
        return not any(leaks), min(scores), sum(scores) / len(scores)

    @property
    def metrics(self) -> dict[str, float]:
        """All of it by the names of metrics; README.md explains each."""
        metrics = {"evaluation/worst": self.worst}
        for name, score in self.scores.items():
            metrics[f"evaluation/{name}"] = score.score
            metrics[f"evaluation_plies/{name}"] = score.plies
            metrics[f"evaluation_wiped_out/{name}"] = score.wiped_out
        metrics |= {} if self.exam is None else {"exam/kept": self.exam}
        return metrics | {f"exact/{name.replace(' ', '_')}": x for name, x in self.exact.items()}

    def _scores(self) -> list[float]:
        shares = [value for name, value in self.exact.items() if not name.endswith(LEAKS)]
        return shares or [s.score for s in self.scores.values()]

    def __str__(self) -> str:
        parts = [f"{name} {score}" for name, score in self.scores.items()]
        parts += [] if self.exam is None else [f"exam {self.exam:.3f}"]
        return "   ".join(parts + [f"{name} {value:.4g}" for name, value in self.exact.items()])


class Rating(BaseModel):
    """A rating in Elo points and its 95 % interval; None where the games give no end."""

    rating: float
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[str, str]:
        """Those of the interval in whole points, "?" where there is none."""
        low, high = ("?" if end is None else f"{end:.0f}" for end in (self.low, self.high))
        return low, high

    def __str__(self) -> str:
        return f"{self.rating:.0f} [{', '.join(self.ends)}]"


class FinalEvaluation(BaseModel):
    """The best policy against the report's opponents."""

    scores: dict[str, dict[str, Score]]  # of RAW and SHIELDED, by opponent
    exact: dict[str, dict[str, float]]  # of RAW and SHIELDED, by metric
    ratings: dict[str, Rating]  # of all entrants, the strongest first
    exam: dict[str, list[Accuracy]] = {}  # of RAW and SHIELDED; empty for a game without an exam
    samples: list[Any] = Field(default_factory=list, exclude=True)  # records: two by opponent


# ---- while it trains -----------------------------------------------------------------------------


def evaluate(
    config: RunSettings,
    agent: Agent,
    seed: int,
    steps: int,
    minutes: float,
    executor: Executor = HERE,
) -> SuiteResult:
    """The result of the agent, of so many steps and minutes, in the evaluation suite of a run."""
    game = config.make_game()
    marks = exam_marks(game, agent, seed)
    return SuiteResult(
        steps=steps,
        minutes=minutes,
        scores=play_suite(game, agent, config.evaluation, seed, None, executor),
        exact=examine(game, agent, seed),
        exam=marks[-1].kept if marks else None,
    )


def play_suite(
    game: Game,
    agent: Agent,
    suite: SuiteSettings,
    seed: int,
    console: Console | None = None,
    executor: Executor = HERE,
) -> dict[str, Score]:
    """The scores of the agent against each opponent of the suite, by the opponent's name; a console
    shows how many matches are played.
    """
    pairings = [
        _pairing(game, suite, Entrant("policy", agent), Entrant(spec, spec), seed)
        for spec in suite.opponents
    ]
    return {x.second: score_of(game, _whole(x)) for x in _play(pairings, console, executor)}


def _play(pairings: list[Pairing], console: Console | None, executor: Executor) -> list[Played]:
    """What comes of each pairing; a console shows how many are played."""
    playing = track(
        play_by(executor, pairings),
        "the report's matches",
        len(pairings),
        console=console,
        transient=True,
        disable=console is None,
    )
    found = dict(playing)
    return [found[number] for number in range(len(pairings))]


def exam_marks(game: Game, agent: Agent, seed: int) -> list[Accuracy]:
    """The agent's marks in the game's exam, that of all questions last; none for a game without an
    exam, and where `training.exact` looks at all positions.
    """
    if not has_exam(game) or Tablebase.covers(game):
        return []
    return list(take_exam(game, agent, seed=seed).marks)


def _pairing(
    game: Game, suite: SuiteSettings, first: Entrant, second: Entrant, seed: int
) -> Pairing:
    plies = suite.opening_plies or game.opening_plies
    return Pairing(games.spec_of(game), game, first, second, suite.pairs, plies, seed)


def _whole(played: Played) -> MatchResult:
    """The games of a pairing; RuntimeError where one of the two failed in some."""
    if played.match is None:
        raise RuntimeError(f"an evaluation could not be played: {played.void}")
    for faults in played.match.faults:
        if faults.forfeits:
            raise RuntimeError(f"an agent failed in an evaluation: {faults.message}")
    return played.match


def score_of(game: Game, result: MatchResult) -> Score:
    """What a match says of its first agent."""
    low, high = result.interval
    first, second = result.scores.mean(axis=1).tolist()
    return Score(
        score=result.score,
        low=low,
        high=high,
        wins=result.wins,
        draws=result.draws,
        losses=result.losses,
        by_role=(first, second),
        wiped_out=_wiped_out(game, result),
        plies=result.mean_plies,
    )


def _wiped_out(game: Game, result: MatchResult) -> int:
    """The games that the first agent lost without a piece left."""
    assert result.actions is not None
    lines = [line[line >= 0].tolist() for line in result.actions.reshape(result.games, -1)]
    final = play(game, game.init(result.games), lines).final
    role = np.repeat([0, 1], result.games // 2)
    wiped_out = np.where(final.to_move == role, *game.wiped_out(final))
    lost: BoolArray = (result.scores == 0).ravel()
    return int((lost & wiped_out).sum())


# ---- at the end ----------------------------------------------------------------------------------


def evaluate_finally(
    config: RunSettings, file: Path, seed: int, console: Console, executor: Executor = HERE
) -> FinalEvaluation:
    """Play all matches between the policy in the file, raw and shielded, and the opponents."""
    game = config.make_game()
    policy = PolicyAgent(load_policy(file))
    agents: dict[str, Agent] = {RAW: policy, SHIELDED: Shield(policy)}
    opponents = dict.fromkeys((*config.report.opponents, ANCHOR))
    entrants = [Entrant(*x) for x in agents.items()] + [Entrant(x, x) for x in opponents]
    pairings = [
        _pairing(game, config.report, first, second, seed)
        for first, second in itertools.combinations(entrants, 2)
    ]
    all_played = _play(pairings, console, executor)
    results = {(played.first, played.second): _whole(played) for played in all_played}
    ratings = rate_pairings([entrant.label for entrant in entrants], all_played, ANCHOR, seed)
    columns = (ratings.entrants, ratings.rating, ratings.low, ratings.high)
    return FinalEvaluation(
        scores={
            kind: {spec: score_of(game, results[kind, spec]) for spec in config.report.opponents}
            for kind in (RAW, SHIELDED)
        },
        exact={kind: examine(game, agent, seed) for kind, agent in agents.items()},
        exam={
            kind: marks
            for kind, agent in agents.items()
            if (marks := exam_marks(game, agent, seed))
        },
        ratings={
            name: Rating(rating=value, low=_finite(low), high=_finite(high))
            for name, value, low, high in zip(*columns, strict=True)
        },
        samples=[
            record
            for spec in config.report.opponents
            for record in record_match(game, results[RAW, spec], (RAW, spec))[:2]
        ],
    )


def _finite(value: float) -> float | None:
    return float(value) if abs(value) < float("inf") else None
