"""The settings of learning an evaluation; `configs/ntuple/othello.yaml` explains them."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from boardenvs.agents import agent_for
from boardenvs.search import Limits
from boardenvs.search.evaluation import MOST_TUPLES, Places, Tuple
from boardenvs.search.evaluation_file import parse_tuple
from training.settings import (
    Ascending,
    GameSettings,
    NotNegative,
    Part,
    PlyRange,
    Positive,
    Section,
    Share,
    SuiteSettings,
)

Pieces = Annotated[int, Field(ge=0, le=256)]
Depth = Annotated[int, Field(ge=1, le=100)]


class TargetSettings(Section):
    """A search by the evaluation of the generation before, which says a position's target."""

    depth: Depth
    endgame: Pieces = 0

    @property
    def limits(self) -> Limits:
        return Limits(self.depth, endgame=self.endgame)


class PlaySettings(Section):
    """How many games, from which openings and with whom."""

    games: Positive
    opening_plies: PlyRange = (4, 24)
    noise: Share = 0.0
    against_heuristic: Share = 0.0


class GenerationSettings(PlaySettings, TargetSettings):
    """Games that the evaluation of the generation before plays against itself."""

    depth: Depth = 3
    endgame: Pieces = 12
    targets: TargetSettings | None = None
    random_move_share: Share = 0.0
    with_previous: bool = False
    after_own_moves: bool = False

    @model_validator(mode="after")
    def _judged(self) -> Self:
        if self.random_move_share and self.targets is None:
            raise ValueError(
                f"random_move_share is {self.random_move_share}, and how a game ended says nothing "
                "of moves that were not played: it needs targets"
            )
        return self


class FitSettings(Section):
    iterations: Positive = 25
    prior: NotNegative = 3.0
    neighbours: Share = 0.5


class OnePlySettings(PlaySettings):
    """Rounds of games one ply deep, each followed by a step towards how they ended."""

    rounds: Positive = 10
    averaged: Positive = 8
    games: Positive = 40_000
    opening_plies: PlyRange = (0, 2)
    noise: Share = 0.1
    against_heuristic: Share = 0.9
    step: Part = 0.5
    fit: FitSettings = FitSettings()

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if self.averaged > self.rounds:
            raise ValueError(
                f"averaged is {self.averaged}, and rounds {self.rounds}: it must be at most that"
            )
        return self

    @property
    def playing(self) -> GenerationSettings:
        """How the games of a round are played."""
        games = self.model_dump(include=set(PlaySettings.model_fields))
        return GenerationSettings(**games, depth=1, endgame=0, after_own_moves=True)


class ReportSettings(SuiteSettings):
    """The games of the report, by `depth` plies of search."""

    depth: Depth = 4


class NTupleConfig(GameSettings):
    """All settings of a run; `configs/ntuple/othello.yaml` says what each means."""

    tuples: tuple[str, ...] = ()
    blocks: tuple[Annotated[str, Field(pattern=r"^[1-9][0-9]?x[1-9][0-9]?$")], ...] = ()
    stages: Annotated[int, Field(ge=1, le=60)] = 15
    pieces: Annotated[tuple[Pieces, Pieces], Ascending] = (0, 64)
    heuristic: bool = False
    features: bool = False
    generations: Annotated[tuple[GenerationSettings, ...], Field(min_length=1)]
    fit: FitSettings = FitSettings()
    one_ply: OnePlySettings | None = None
    report: ReportSettings = ReportSettings()

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        game = self.make_game()
        if self.heuristic and not game.has_heuristic:
            raise ValueError(f"heuristic is true, and {self.game} has none")
        if self.generations[0].targets is not None:
            raise ValueError(
                "generations.0.targets: the first generation has no evaluation to search by, its "
                "positions count how their games ended"
            )
        if self.one_ply is not None and self.heuristic:
            raise ValueError(
                "one_ply is set, and heuristic is true: weights for one ply are learnt without the "
                "game's heuristic, so heuristic must be false"
            )
        if self.features and not game.feature_sizes:
            raise ValueError(f"features is true, and {self.game} has none")
        count = len(Places(game, self.all_tuples()).squares)
        if not (0 if self.features else 1) <= count <= MOST_TUPLES:
            raise ValueError(
                f"tuples and blocks come to {count} with their images: 1 to {MOST_TUPLES} can be, "
                "or none with features"
            )
        played = [*self.generations, *([self.one_ply.playing] if self.one_ply else [])]
        if not game.has_heuristic and any(g.against_heuristic for g in played):
            raise ValueError(f"against_heuristic is set, and {self.game} has no heuristic")
        for spec in self.report.opponents:
            agent_for(game, spec)
        return self

    def all_tuples(self) -> tuple[Tuple, ...]:
        """Those of `tuples` and `blocks`."""
        board = self.make_game().board
        return tuple(parse_tuple(x, board) for x in self.tuples) + tuple(self._blocks())

    def _blocks(self) -> list[Tuple]:
        """Blocks in every place; of those that are images of one another, one."""
        game, found = self.make_game(), list[Tuple]()
        known: set[frozenset[int]] = set()
        for block in self.blocks:
            files, ranks = map(int, block.split("x"))
            width = game.board.columns
            down, across = range(game.board.rows + 1 - ranks), range(width + 1 - files)
            if not (down and across):
                raise ValueError(
                    f"blocks: {block} does not fit on {game.board.rows} ranks of {width} files"
                )
            for corner in (width * y + x for y in down for x in across):
                squares = tuple(corner + width * y + x for y in range(ranks) for x in range(files))
                if frozenset(squares) not in known:
                    found.append(squares)
                    known |= {frozenset(s.squares[x] for x in squares) for s in game.symmetries}
        return found
