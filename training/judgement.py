"""How strong the best policy of a run is, against players that it did not learn from.

The policy is judged as it will be used: read back from its file, as it is and with the shield
(`boardenvs.agents.shield`). It meets the report's opponents in games from openings that did not
choose it. All meet one another too, and the arena's ratings say in one number how strong each is:
0 is random play.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field
from rich.console import Console
from rich.progress import track

from boardenvs.agents import Agent, make_agent
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.shield import Shield
from boardenvs.arena.tournament.ratings import rate
from boardenvs.exams import Mark
from boardenvs.records.recorder import record_match
from training.exact import examine
from training.panel import Score, exam, match, score_of
from training.settings import RunSettings

RAW, SHIELDED, ANCHOR = "policy", "policy, shielded", "random"


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


class Judgement(BaseModel):
    """The best policy against the report's opponents."""

    scores: dict[str, dict[str, Score]]  # of RAW and SHIELDED, by opponent
    exact: dict[str, dict[str, float]]  # of RAW and SHIELDED, by metric
    ratings: dict[str, Rating]  # of all entrants, the strongest first
    exam: dict[str, list[Mark]] = {}  # of RAW and SHIELDED; empty for a game without an exam
    samples: list[Any] = Field(default_factory=list, exclude=True)  # records: two by opponent


def judge(config: RunSettings, file: Path, seed: int, console: Console) -> Judgement:
    """Play all matches between the policy in the file, raw and shielded, and the opponents."""
    game = config.make_game()
    policy = PolicyAgent(load_policy(file))
    entrants: dict[str, Agent] = {RAW: policy, SHIELDED: Shield(policy)}
    entrants |= {spec: make_agent(spec) for spec in (*config.report.opponents, ANCHOR)}
    pairings = list(itertools.combinations(entrants, 2))
    results = {
        (a, b): match(game, entrants[a], entrants[b], config.report, seed)
        for a, b in track(pairings, "the report's matches", console=console, transient=True)
    }
    ratings = rate(list(entrants), {k: [r.pair_scores] for k, r in results.items()}, ANCHOR, seed)
    columns = (ratings.entrants, ratings.rating, ratings.low, ratings.high)
    return Judgement(
        scores={
            kind: {spec: score_of(game, results[kind, spec]) for spec in config.report.opponents}
            for kind in (RAW, SHIELDED)
        },
        exact={k: examine(game, entrants[k], seed) for k in (RAW, SHIELDED)},
        exam={
            kind: list(marked.marks)
            for kind in (RAW, SHIELDED)
            if (marked := exam(game, entrants[kind], seed)) is not None
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
