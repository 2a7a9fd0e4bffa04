"""A small game with walls on empty squares, numbers in squares, and actions that share a square."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from boardenvs.game import Game, Parts, Placing
from boardenvs.game.look import Drawing, Ink, Look, Rect
from boardenvs.game.position import Position
from boardenvs.kernel import Bits, Table, nonzero, popcount

ALL = (1 << 12) - 1
_FENCE = Table([*(1 << s for s in range(12)), *[0] * 13])  # of each action; the last is noop
_POST = Table([*[0] * 12, *(1 << s for s in range(12)), 0])
FENCE = Drawing(1, 1, (Rect(0, 0, 1, 0.14, Ink("#d4a017")),))
POST = Drawing(1, 1, (Rect(0, 0, 0.14, 1, Ink("#d4a017")),))


class Building(Placing):
    """Action s builds on square s, in a direction that a letter after it tells."""

    def __init__(self, letter: str) -> None:
        self.letter = letter

    def write(self, game: Game, action: int, position: Position | None) -> str:
        return super().write(game, action, position) + self.letter

    def parse(self, game: Game, text: str) -> int:
        return super().parse(game, text.removesuffix(self.letter))

    def form(self, game: Game, action: int, position: Position | None) -> str:
        way = {"f": "a fence along its upper edge", "p": "a fence along its left edge"}[self.letter]
        return f"for {way} as a square and {self.letter}, like {self.write(game, action, position)}"


@dataclass(frozen=True)
class Fences(Game):
    """Build fences on empty squares; who has built more of those along the upper edges wins."""

    id: str = "fences"

    roles: ClassVar = ("ann", "bob")
    shape: ClassVar = (3, 4)
    squares: ClassVar = ("own", "opp", "own_fences", "opp_fences", "posts")
    numbers: ClassVar = {"built": 13}
    margin_counts: ClassVar = True
    notation: ClassVar = Parts((Building("f"), Building("p")))
    look: ClassVar = Look(
        badges=(("ann_fences", FENCE), ("bob_fences", FENCE), ("posts", POST)),
    )

    def setup(self) -> tuple[int, ...]:
        return 1, 1 << 11, 0, 0, 0, 0

    def moves(
        self, own: Bits, opp: Bits, own_fences: Bits, opp_fences: Bits, posts: Bits
    ) -> Sequence[Bits]:
        free = ALL & ~(own | opp | own_fences | opp_fences | posts)
        return free, free

    def play(
        self,
        own: Bits,
        opp: Bits,
        own_fences: Bits,
        opp_fences: Bits,
        posts: Bits,
        built: Bits,
        action: Bits,
    ) -> tuple[Bits, ...]:
        return own, opp, own_fences | _FENCE[action], opp_fences, posts | _POST[action], built + 1

    def over(self, moves: Sequence[Bits]) -> Bits:
        return nonzero(moves[0]) ^ 1

    def points(self, own_fences: Bits, opp_fences: Bits) -> tuple[Bits, Bits]:
        return popcount(own_fences), popcount(opp_fences)

    def labels(self, position: Position) -> Mapping[int, str]:
        return {0: str(position.word("built"))}
