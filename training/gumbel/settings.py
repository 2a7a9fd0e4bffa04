"""The settings of a training by Gumbel search."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from boardenvs.agents.alphabeta import AlphaBetaAgent
from boardenvs.search.evaluation import Evaluation
from boardenvs.search.gumbel import GumbelSettings
from boardenvs.search.limits import MAX_DEPTH
from training.settings import (
    TRAINED,
    Above0,
    NotNegative,
    Part,
    Positive,
    RunSettings,
    Section,
    Share,
    Widths,
)


class JudgeSettings(Section):
    evaluation: str = TRAINED
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 2
    share: Part = 0.5


class SearchSettings(Section):
    simulations: Positive = 12
    considered: Positive = 5
    c_visit: NotNegative = 50.0
    c_scale: Above0 = 0.5
    full_share: Part = 0.5
    playout_cap_simulations: Annotated[int, Field(ge=0, le=10**6)] = 0
    playout_cap_role_share: Share = 0.0
    judge: JudgeSettings | None = None

    def full(self) -> GumbelSettings:
        """Of the searches whose policies are learnt."""
        return self._with(self.simulations)

    def capped(self) -> GumbelSettings | None:
        """Of the other plies; None where the network plays them by itself."""
        return self._with(self.playout_cap_simulations) if self.playout_cap_simulations else None

    def _with(self, simulations: int) -> GumbelSettings:
        return GumbelSettings(simulations, self.considered, self.c_visit, self.c_scale)


class LearningSettings(Section):
    hidden: Widths = (256, 256)
    plies_per_update: Positive = 16
    replay: Positive = 500_000
    batch_size: Positive = 1024
    reuse: Above0 = 2.0
    learning_rate: Above0 = 1e-3
    final_learning_rate: Above0 = 5e-5
    weight_decay: NotNegative = 1e-5
    value_weight: NotNegative = 1.0
    search_value: Share = 0.25
    average: Annotated[float, Field(ge=0, lt=1)] = 0.999


class GumbelConfig(RunSettings):
    """All settings of a run; `configs/gumbel/othello.yaml` says what each means."""

    hidden_setting: ClassVar = "learning.hidden"

    parts: Positive = 1
    device: Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$")] = "auto"
    search: SearchSettings = SearchSettings()
    learning: LearningSettings = LearningSettings()

    @model_validator(mode="after")
    def _both_roles(self) -> Self:
        if self.self_play.pool.share or self.self_play.learn != "both":
            raise ValueError(
                "both roles are learnt, and there is no pool: leave out self_play.learn and "
                "self_play.pool"
            )
        return self

    def part(self) -> Self:
        """The settings with the boards of one of the parts."""
        boards = self.self_play.boards // self.parts
        of_part = self.self_play.model_copy(update={"boards": boards})
        return self.model_copy(update={"self_play": of_part})

    @model_validator(mode="after")
    def _possible_parts(self) -> Self:
        boards = self.self_play.boards
        if boards % self.parts:
            raise ValueError(f"parts is {self.parts}: {boards} boards cannot be shared out evenly")
        try:
            self.part().self_play.groups()
        except ValueError as error:
            raise ValueError(f"parts is {self.parts}, and in each {error}") from None
        return self

    @model_validator(mode="after")
    def _room(self) -> Self:
        least = max(self.learning.batch_size, 64 * self.self_play.boards)
        if self.learning.replay < least:
            raise ValueError(
                f"learning.replay is {self.learning.replay}: it must be {least} or more, a batch "
                "and 64 positions of each board"
            )
        return self

    @model_validator(mode="after")
    def _possible_judge(self) -> Self:
        if self.search.judge is not None:
            self.evaluation_of(self.search.judge)
        return self

    def evaluation_of(self, judge: JudgeSettings) -> Evaluation:
        """What the judge searches by; ValueError where it cannot be had."""
        agent, game = AlphaBetaAgent(evaluation=judge.evaluation), self.make_game()
        agent.check_game(game)
        found = agent.evaluation_for(game)
        assert found is not None  # it is named
        return found
