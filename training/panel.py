"""How strong a policy is: paired games against a panel.

The opponents of a panel are fixed, and so are the openings: each is played twice, with roles
swapped.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pydantic import BaseModel

from boardenvs.agents import Agent, make_agent
from boardenvs.arena import MatchResult, play_match
from boardenvs.arena.playing.openings import same_winner
from boardenvs.exams import Marked, take_exam
from boardenvs.exams.questions import has_exam
from boardenvs.game.state import BoolArray, IntArray, State, where
from boardenvs.games import Game
from boardenvs.tablebase import Tablebase
from training.exact import LEAKS
from training.settings import PanelSettings


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


class PanelResult(BaseModel):
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
        return not any(self._leaks()), min(scores), sum(scores) / len(scores)

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

    def _leaks(self) -> list[float]:
        return [value for name, value in self.exact.items() if name.endswith(LEAKS)]

    def __str__(self) -> str:
        parts = [f"{name} {score}" for name, score in self.scores.items()]
        parts += [] if self.exam is None else [f"exam {self.exam:.3f}"]
        return "   ".join(parts + [f"{name} {value:.4g}" for name, value in self.exact.items()])


def exam_share(game: Game, agent: Agent, seed: int) -> float | None:
    """The share of the agent's moves in the game's exam that keep the value; None for a game
    without an exam, and where `training.exact` looks at all positions.
    """
    marked = exam(game, agent, seed)
    return None if marked is None else marked.total.kept


def exam(game: Game, agent: Agent, seed: int) -> Marked | None:
    """The agent's marks in the game's exam; None as in `exam_share`."""
    if not has_exam(game) or Tablebase.covers(game):
        return None
    return take_exam(game, agent, seed=seed)


def evaluate(
    game: Game,
    agent: Agent,
    panel: PanelSettings,
    seed: int,
    progress: Callable[[int], None] = lambda matches: None,
) -> dict[str, Score]:
    """The scores of the agent against each opponent of the panel, by the opponent's name;
    `progress` is told how many of the matches are played.
    """
    scores: dict[str, Score] = {}
    progress(0)
    for spec in panel.opponents:
        scores[spec] = score_of(game, match(game, agent, make_agent(spec), panel, seed))
        progress(len(scores))
    return scores


def match(game: Game, a: Agent, b: Agent, panel: PanelSettings, seed: int) -> MatchResult:
    """The games between two agents; RuntimeError where one of them fails."""
    result = play_match(
        game,
        a,
        b,
        panel.pairs,
        opening_plies=panel.opening_plies or game.opening_plies,
        keep=same_winner,
        seed=seed,
    )
    for conduct in result.conduct:
        if conduct.forfeits:
            raise RuntimeError(f"an agent failed in an evaluation: {conduct.message}")
    return result


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
    final = _replay(game, result.actions.reshape(result.games, -1))
    role = np.repeat([0, 1], result.games // 2)
    mine = np.where(final.to_move == role, final.own, final.opp)
    lost: BoolArray = (result.scores == 0).ravel()
    return int((lost & (mine == 0)).sum())


def _replay(game: Game, actions: IntArray) -> State:
    """The positions after these actions, (B, P), -1 after the last of each row."""
    state = game.init(len(actions))
    for played in actions.T:
        going = played >= 0
        state = where(going, game.step(state, np.where(going, played, game.noop)), state)
    return state
