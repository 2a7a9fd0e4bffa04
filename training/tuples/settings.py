"""The settings of learning an evaluation; `configs/evaluation/othello.yaml` explains them."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from boardenvs.agents import agent_for
from boardenvs.board.bitboard import parse_square
from boardenvs.search import Limits
from boardenvs.search.evaluation import MOST_TUPLES, Places, Tuple
from boardenvs.search.evaluation_file import parse_tuple
from training.settings import (
    GameSettings,
    NotNegative,
    PanelSettings,
    Part,
    PlyRange,
    Positive,
    Section,
    Share,
)

Pieces = Annotated[int, Field(ge=0, le=64)]
Depth = Annotated[int, Field(ge=1, le=100)]


class TargetSettings(Section):
    """A search by the evaluation of the generation before, which says what a position is worth."""

    depth: Depth
    endgame: Annotated[int, Field(ge=0, le=64)] = 0

    @property
    def limits(self) -> Limits:
        return Limits(self.depth, endgame=self.endgame)


class CorrectionSettings(Section):
    """What the evaluation before leaves of the results is fitted, and a share of it added."""

    share: Part = 0.5
    prior: NotNegative = 600.0


class GenerationSettings(Section):
    """Games that the evaluation of the generation before plays against itself."""

    games: Positive
    depth: Depth = 3
    endgame: Annotated[int, Field(ge=0, le=64)] = 12
    opening_plies: PlyRange = (4, 24)
    noise: Share = 0.0
    against_heuristic: Share = 0.0
    targets: TargetSettings | None = None
    strays: Share = 0.0
    with_previous: bool = False
    kept: Part = 1.0
    correction: CorrectionSettings | None = None

    @model_validator(mode="after")
    def _judged(self) -> Self:
        if self.strays and self.targets is None:
            raise ValueError(
                f"strays is {self.strays}, and how a game ended says nothing of moves that were "
                "not played: it needs targets"
            )
        return self

    @property
    def limits(self) -> Limits:
        return Limits(self.depth, endgame=self.endgame)


class FitSettings(Section):
    iterations: Positive = 25
    prior: NotNegative = 3.0
    neighbours: Share = 0.5


class JudgingSettings(PanelSettings):
    """The games of the report, by `depth` plies of search."""

    depth: Depth = 4


class EvaluationConfig(GameSettings):
    """All settings of a run; `configs/evaluation/othello.yaml` says what each means."""

    tuples: tuple[str, ...] = ()
    blocks: tuple[Annotated[str, Field(pattern=r"^[1-8]x[1-8]$")], ...] = ()
    stages: Annotated[int, Field(ge=1, le=60)] = 15
    pieces: tuple[Pieces, Pieces] = (0, 64)
    heuristic: bool = False
    features: bool = False
    generations: Annotated[tuple[GenerationSettings, ...], Field(min_length=1)]
    fit: FitSettings = Field(default_factory=FitSettings)
    report: JudgingSettings = Field(default_factory=JudgingSettings)

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        game = self.make_game()
        if self.pieces[0] > self.pieces[1]:
            raise ValueError(f"pieces is {list(self.pieces)}: it must be a range [low, high]")
        if self.heuristic and not game.has_heuristic:
            raise ValueError(f"heuristic is true, and {self.game} has none")
        if self.generations[0].targets is not None:
            raise ValueError(
                "generations.0.targets: the first generation has no evaluation to search by, its "
                "positions count how their games ended"
            )
        if self.generations[0].correction is not None:
            raise ValueError(
                "generations.0.correction: the first generation has no evaluation to correct"
            )
        if self.features and not game.feature_sizes:
            raise ValueError(f"features is true, and {self.game} has none")
        count = len(Places(game, self.all_tuples()).squares)
        if not (0 if self.features else 1) <= count <= MOST_TUPLES:
            raise ValueError(
                f"tuples and blocks come to {count} with their images: 1 to {MOST_TUPLES} can be, "
                "or none with features"
            )
        if not game.has_heuristic and any(g.against_heuristic for g in self.generations):
            raise ValueError(f"against_heuristic is set, and {self.game} has none")
        for spec in self.report.opponents:
            agent_for(game, spec)
        return self

    def all_tuples(self) -> tuple[Tuple, ...]:
        """Those of `tuples` and `blocks`."""
        return tuple(map(parse_tuple, self.tuples)) + tuple(self._blocks())

    def _blocks(self) -> list[Tuple]:
        """Blocks in every place; of those that are images of one another, one."""
        game, found = self.make_game(), list[Tuple]()
        known: set[frozenset[int]] = set()
        for block in self.blocks:
            files, ranks = int(block[0]), int(block[2])
            for rank in range(9 - ranks):
                for file in range(9 - files):
                    corner = parse_square("abcdefgh"[file] + str(rank + 1))
                    squares = tuple(corner + 8 * y + x for y in range(ranks) for x in range(files))
                    if frozenset(squares) not in known:
                        found.append(squares)
                        known |= {
                            frozenset(s.squares[square] for square in squares)
                            for s in game.symmetries
                        }
        return found
