"""The settings of a training by Gumbel search; `configs/gumbel/othello.yaml` explains each."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from boardenvs.agents.alphabeta import AlphaBetaAgent
from boardenvs.game.game import Game
from boardenvs.search.evaluation import Evaluation
from boardenvs.search.halving import GumbelSettings
from training.run_settings import (
    SCRATCH,
    TRAINED,
    Above0,
    Device,
    Part,
    Positive,
    RunSettings,
    Section,
    SelfPlaySettings,
    Share,
)


class SearchSettings(Section):
    simulations: Positive = 12
    considered: Positive = 5
    c_scale: Above0 = 0.5
    full_share: Part = 0.5
    playout_cap_simulations: Annotated[int, Field(ge=0, le=10**6)] = 0
    playout_cap_role_share: Share = 0.0
    judge: bool = False
    workers: Annotated[int, Field(ge=0, le=1000)] = 0
    workers_on: Literal["processes", "ray"] = "processes"

    def with_simulations(self, simulations: int) -> GumbelSettings:
        """Return the settings of a search with this many simulations."""
        return GumbelSettings(simulations, self.considered, c_scale=self.c_scale)


class LearningSettings(Section):
    replay: Positive = 500_000
    batch_size: Positive = 1024
    reuse: Above0 = 2.0
    learning_rate: Above0 = 1e-3
    final_learning_rate: Above0 = 5e-5
    search_value: Share = 0.25
    drills: Annotated[int, Field(ge=0, le=10**6)] = 0

    # Constants of all configurations: plies on each board between two rounds of learning, AdamW's
    # weight decay, and what remains of the average of weights at each gradient step.
    PLIES_PER_UPDATE: ClassVar = 8
    WEIGHT_DECAY: ClassVar = 1e-5
    AVERAGE: ClassVar = 0.998


class GumbelConfig(RunSettings):
    """All settings of a run."""

    device: Device = "auto"
    search: SearchSettings = SearchSettings()
    learning: LearningSettings = LearningSettings()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.self_play.pool.share:
            raise ValueError("search has no pool of opponents: leave out self_play.pool")
        least = max(self.learning.batch_size, 64 * self.self_play.boards)
        if self.learning.replay < least:
            raise ValueError(
                f"learning.replay is {self.learning.replay}: it must be {least} or more, a batch "
                "and 64 positions of each board"
            )
        if self.self_play.boards % max(1, self.search.workers):
            raise ValueError(
                f"search.workers is {self.search.workers}: it must divide self_play.boards, "
                f"{self.self_play.boards}"
            )
        self.share().groups()
        if self.search.workers_on == "ray" and find_spec("ray") is None:
            raise ValueError("search.workers_on is 'ray', which is not installed: pip install ray")
        self.start_policy()
        self.judging_evaluation()
        return self

    def share(self) -> SelfPlaySettings:
        """Return the settings of a worker's boards."""
        boards = self.self_play.boards // max(1, self.search.workers)
        return self.self_play.model_copy(update={"boards": boards})

    def game_to_train(self) -> Game:
        game = self.make_game()
        return game.for_training if self.start == SCRATCH else game

    def judging_evaluation(self) -> Evaluation | None:
        """Return the evaluation that the judge searches with; None without a judge.

        ValueError if none comes with the package for this game.
        """
        if not self.search.judge:
            return None
        return AlphaBetaAgent(evaluation=TRAINED).evaluation_for(self.make_game())
