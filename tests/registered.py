"""Games that are not the package's own, which tests register."""

from __future__ import annotations

from dataclasses import dataclass

from boardenvs.game.state import Position
from boardenvs.games import LinesOfAction, Othello
from boardenvs.kernel import Bits


@dataclass(frozen=True)
class FewestDiscs(Othello):
    """Othello the other way round: fewer discs win."""

    id: str = "fewest_discs"

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        mine, theirs = super().points(own, opp, to_move)
        return theirs, mine


@dataclass(frozen=True)
class Capitals(LinesOfAction):
    """Lines of Action with moves in capitals, with an x: `B1XB3`."""

    id: str = "capitals"

    def action_name(self, action: int, position: Position | None = None) -> str:
        return super().action_name(action, position).upper().replace("-", "X")

    def parse_action(self, text: str) -> int:
        if text != text.upper():
            raise ValueError(f"{text!r} is not in capitals")
        return super().parse_action(text.lower().replace("x", "-"))
