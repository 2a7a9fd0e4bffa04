"""Games that are not the package's own, which tests register."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from boardenvs.game.contract import Game
from boardenvs.game.notation import Moving
from boardenvs.game.position import Position
from boardenvs.games import LinesOfAction, Othello
from boardenvs.kernel import Bits


@dataclass(frozen=True)
class FewestDiscs(Othello):
    """Othello the other way round: fewer discs win."""

    id: str = "fewest_discs"

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        mine, theirs = super().points(own, opp, to_move)
        return theirs, mine


class InCapitals(Moving):
    """Moves in capitals, with an x: `B1XB3`."""

    def write(self, game: Game, action: int, position: Position | None) -> str:
        return super().write(game, action, position).upper().replace("-", "X")

    def parse(self, game: Game, text: str) -> int:
        if text != text.upper():
            raise ValueError(f"{text!r} is not in capitals")
        return super().parse(game, text.lower().replace("x", "-"))


@dataclass(frozen=True)
class Capitals(LinesOfAction):
    """Lines of Action with another notation."""

    id: str = "capitals"
    notation: ClassVar = InCapitals()
