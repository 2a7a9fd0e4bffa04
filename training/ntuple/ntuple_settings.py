"""The settings of learning an evaluation; `configs/ntuple/othello.yaml` explains each."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from boardenvs.search import Limits
from boardenvs.search.evaluation import MOST_TUPLES, Terms, Tuple
from boardenvs.search.evaluation_file import parse_tuple
from training.run_settings import (
    Ascending,
    GameSettings,
    NotNegative,
    PlyRange,
    Positive,
    Section,
    Share,
    SuiteSettings,
)

Pieces = Annotated[int, Field(ge=0, le=256)]
Depth = Annotated[int, Field(ge=1, le=100)]


class TargetSettings(Section):
    """A search that gives positions their targets, by the evaluation of the generation before."""

    depth: Depth
    endgame: Pieces = 0

    @property
    def limits(self) -> Limits:
        return Limits(self.depth, endgame=self.endgame)


class GenerationSettings(TargetSettings):
    """Games that the evaluation of the generation before plays against itself."""

    games: Positive
    depth: Depth = 3
    endgame: Pieces = 12
    opening_plies: PlyRange = (4, 24)
    noise: Share = 0.0
    against_heuristic: Share = 0.0
    targets: TargetSettings | None = None
    random_move_share: Share = 0.0
    with_previous: bool = False

    @model_validator(mode="after")
    def _has_targets(self) -> Self:
        if self.random_move_share and self.targets is None:
            raise ValueError(
                f"random_move_share is {self.random_move_share}, and the result of a game says "
                "nothing about moves that were not played: it needs targets"
            )
        return self


class FitSettings(Section):
    iterations: Positive = 25
    prior: NotNegative = 3.0
    neighbours: Share = 0.5


class NTupleConfig(GameSettings):
    """All settings of a run."""

    tuples: tuple[str, ...] = ()
    stages: Annotated[int, Field(ge=1, le=60)] = 15
    pieces: Annotated[tuple[Pieces, Pieces], Ascending] = (0, 64)
    features: bool = False
    generations: Annotated[tuple[GenerationSettings, ...], Field(min_length=1)]
    fit: FitSettings = FitSettings()
    workers: Annotated[int, Field(ge=0, le=1000)] = 0  # processes that play; 0: this one
    report: SuiteSettings = SuiteSettings()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        game = self.make_game()
        if not game.in_words:
            raise ValueError(
                f"{self.game} is written in plain Python: evaluations are learnt for rules on words"
            )
        if self.generations[0].targets is not None:
            raise ValueError(
                "generations.0.targets: the first generation has no evaluation to search with, its "
                "targets are the results of its games"
            )
        if self.features and not game.feature_sizes:
            raise ValueError(f"features is true, and {self.game} has none")
        count = len(Terms(game, self.parsed_tuples()).squares)
        if not (0 if self.features else 1) <= count <= MOST_TUPLES:
            raise ValueError(
                f"tuples are {count} with their images: 1 to {MOST_TUPLES} are possible, or none "
                "with features"
            )
        if any(g.against_heuristic for g in self.generations) and not game.has_heuristic:
            raise ValueError(f"against_heuristic is set, and {self.game} has no heuristic")
        self.check_players("report.opponents")
        return self

    def parsed_tuples(self) -> tuple[Tuple, ...]:
        """Return the tuples as squares."""
        board = self.make_game().board
        return tuple(parse_tuple(text, board) for text in self.tuples)
