"""How strong a policy is: paired games against a fixed panel of opponents."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from boardenvs.agents import Agent, make_agent
from boardenvs.arena import play_match
from boardenvs.games import Game


class Score(BaseModel):
    """The result against one opponent; `low` to `high` is the score's 95 % interval."""

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


class PanelResult(BaseModel):
    """The results of a policy after `steps`, `minutes` into the training, by opponent."""

    steps: int
    minutes: float
    scores: dict[str, Score]

    @property
    def worst(self) -> tuple[float, float]:
        """What policies are ranked by: the worst score, and the mean where that is equal."""
        scores = [s.score for s in self.scores.values()]
        return min(scores), sum(scores) / len(scores)

    def __str__(self) -> str:
        return "   ".join(f"{name} {score}" for name, score in self.scores.items())


def evaluate(
    game: Game,
    agent: Agent,
    opponents: Sequence[str],
    *,
    pairs: int,
    opening_plies: tuple[int, int],
    seed: int,
) -> dict[str, Score]:
    """Play each opponent from the same openings, each opening twice with roles swapped."""
    scores = {}
    for spec in opponents:
        match = play_match(
            game, agent, make_agent(spec), pairs, opening_plies=opening_plies, seed=seed
        )
        low, high = match.interval
        scores[spec] = Score(
            score=match.score,
            low=low,
            high=high,
            wins=match.wins,
            draws=match.draws,
            losses=match.losses,
        )
    return scores
