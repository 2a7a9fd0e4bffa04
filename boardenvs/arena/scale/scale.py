"""A game's scale: its reference players and their ratings, as they were measured once for all."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from boardenvs.game.contract import Game
from boardenvs.games.files import require_file

FOLDER = Path(__file__).parent / "references"


@dataclass(frozen=True)
class Reference:
    """A player of known strength, in Elo points above random play."""

    agent: str  # its text, see `boardenvs.make_agent`
    rating: float
    error: float  # the standard error that its own games leave


@dataclass(frozen=True)
class Scale:
    """The references of a game, the weakest first, and how they were measured."""

    game: str  # its text, see `boardenvs.games.parse`
    made: str  # the date
    boardenvs: str  # the version of the package
    seed: int
    pairs: int  # openings of each pairing, each played twice
    references: tuple[Reference, ...]

    def to_json(self) -> dict[str, Any]:
        """What the file holds; `from_json` reads it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Scale:
        references = tuple(Reference(**reference) for reference in values["references"])
        return cls(**{**values, "references": references})


@cache
def scale_of(game: Game) -> Scale:
    """The scale that came with the package; ValueError for a game without one."""
    advice = "`boardenvs arena` rates players in any game"
    path = require_file(FOLDER, game, "there is no scale", ".json", advice)
    return Scale.from_json(json.loads(path.read_text(encoding="utf-8")))
