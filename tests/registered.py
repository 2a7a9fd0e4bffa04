"""Games that are not the package's own, which tests register."""

from __future__ import annotations

from dataclasses import dataclass

from boardenvs.games import Othello
from boardenvs.kernel import Bits


@dataclass(frozen=True)
class FewestDiscs(Othello):
    """Othello the other way round: fewer discs win."""

    id: str = "fewest_discs"

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        mine, theirs = super().points(own, opp, to_move)
        return theirs, mine
