"""Wolf and Sheep (Fox and Hounds), after its rule sheet or after a description of it.

Source: the rule sheet `sheepAndWolf` of the General Game Playing repository. With
`rules="classic"` the wolf steps diagonally in all four directions and the sheep diagonally
forwards. With `rules="described"` the description is taken at its word: the wolf steps in all
eight directions and the sheep in all four diagonal ones; then the sheep can never win, since they
stay on one colour of square and every square has neighbours of both.

The description ends the game when the wolf's y is "numerically greater" than a sheep's, which
would be at the start; the rule sheet's condition is used: no sheep has a smaller y than the wolf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import ClassVar

from boardenvs.board.bitboard import (
    DIRECTIONS,
    NE,
    NW,
    SE,
    SW,
    Direction,
    by_role,
    from_squares,
    highest,
    lowest,
    rank_of,
    step,
)
from boardenvs.board.bitslice import countdown
from boardenvs.board.symmetry import IDENTITY, MIRROR, Symmetry
from boardenvs.game.errors import PositionError
from boardenvs.game.game import MAX_PLY, Game
from boardenvs.game.notation import Moving
from boardenvs.game.rules import About
from boardenvs.games.appearance import (
    ABOUT_WOLF_AND_SHEEP,
    LOOK_WOLF_AND_SHEEP,
    instructions_of_wolf_and_sheep,
)
from boardenvs.kernel import ALL, Bits, Table, less, nonzero, popcount, spread
from boardenvs.utils.checks import check_name, check_whole

WOLF, SHEEP = 0, 1
DIAGONAL = (NE, SE, SW, NW)
FORWARD = (NE, NW)

# The directions of the wolf and of the sheep.
STEPS: dict[str, tuple[tuple[Direction, ...], tuple[Direction, ...]]] = {
    "classic": (DIAGONAL, FORWARD),
    "described": (DIRECTIONS, DIAGONAL),
}

GAP = 64  # the value of a way through the sheep's line to the wolf
RANK = 4  # of each rank to it: those come down, and those the sheep are spread over
ROOM = 1  # of each square within its reach
_WAY = 10  # the longest way that is looked for, in steps

# The square that an action leaves and the one that it enters; noop neither.
_SOURCE = Table([1 << square for _ in DIRECTIONS for square in range(64)] + [0])
_TARGET = Table([step(1 << square, d) for d in DIRECTIONS for square in range(64)] + [0])


@dataclass(frozen=True)
class WolfAndSheep(Game):
    """The wolf wins by getting past the sheep, the sheep by leaving it without a move.

    Action 64*d + s moves the piece on square s one step in direction d; 512 is noop.
    Planes: own pieces, opposing pieces, all ones if the sheep are to move, and with a cap the
    plies left, in binary, lowest digit first, each digit a constant plane.
    """

    id: str = "wolf_and_sheep"
    max_plies: int | None = 200  # type: ignore[misc]  # None: no cap
    rules: str = "classic"

    roles: ClassVar = ("wolf", "sheep")
    variants: ClassVar = tuple(STEPS)
    notation: ClassVar = Moving(distance=1)
    opening_plies: ClassVar = (0, 6)
    look: ClassVar = LOOK_WOLF_AND_SHEEP

    def __post_init__(self) -> None:
        check_name("rules", self.rules, STEPS)
        if self.max_plies is not None:
            check_whole("max_plies", self.max_plies, 1, MAX_PLY)

    @property
    def about(self) -> About:
        instructions = instructions_of_wolf_and_sheep(self.rules, self.max_plies)
        return replace(ABOUT_WOLF_AND_SHEEP, instructions=instructions)

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return IDENTITY, MIRROR

    def setup(self) -> tuple[int, int]:
        return from_squares(["d8"]), from_squares(["a1", "c1", "e1", "g1"])

    def moves(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        wolf_steps, sheep_steps = STEPS[self.rules]
        movers = {
            (True, True): own,
            (True, False): own & ~spread(to_move),
            (False, True): own & spread(to_move),
            (False, False): own & 0,
        }
        empty = ~(own | opp) & ALL
        return tuple(
            movers[d in wolf_steps, d in sheep_steps] & step(empty, d.opposite) for d in DIRECTIONS
        )

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        return (own & ~_SOURCE[action]) | _TARGET[action], opp

    def over(self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits) -> Bits:
        wolf, sheep = by_role(own, opp, to_move)
        wolf_steps, sheep_steps = STEPS[self.rules]
        both_move = can_move(wolf, sheep, wolf_steps) & can_move(sheep, wolf, sheep_steps)
        sheep_below = less(rank_of(lowest(sheep)), rank_of(wolf))
        return (both_move & sheep_below) ^ 1

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        wolf, sheep = by_role(own, opp, to_move)
        mine = can_move(wolf, sheep, STEPS[self.rules][WOLF]) ^ to_move
        return mine, mine ^ 1

    def planes(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, ...]:
        return (own, opp, spread(to_move), *countdown(ply, self.max_plies))

    def check_squares(self, squares: tuple[int, ...]) -> None:
        counts = tuple(bits.bit_count() for bits in squares)
        if counts != (1, 4):
            raise PositionError(
                f"there are {counts[WOLF]} wolves and {counts[SHEEP]} sheep: one wolf and four "
                "sheep are needed"
            )

    def evaluate(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
        """Return whether the sheep's line has gaps, and how far the wolf is behind it.

        The wolf's prospects are credited to it; the sheep's are what it lacks.
        """
        wolf, sheep = by_role(own, opp, to_move)
        reached = _within_reach(wolf, sheep, STEPS[self.rules][WOLF])
        gap = less(rank_of(lowest(sheep)), rank_of(lowest(reached))) ^ 1
        spread_out = rank_of(highest(sheep)) - rank_of(lowest(sheep))
        prospects = gap * GAP + (spread_out + 7 - rank_of(wolf)) * RANK + popcount(reached) * ROOM
        even = GAP // 2  # zero lies between a closed line and an open one
        return by_role(prospects, even, to_move)


def can_move(pieces: Bits, others: Bits, directions: Sequence[Direction]) -> Bits:
    """Return the flag 1 where one of the pieces has an empty square next to it."""
    around = reduce(or_, [step(pieces, d) for d in directions])
    return nonzero(around & ~(pieces | others))


def _within_reach(wolf: Bits, sheep: Bits, directions: Sequence[Direction]) -> Bits:
    """Return where the wolf could go if the sheep stood still."""
    for _ in range(_WAY):
        wolf = wolf | reduce(or_, [step(wolf, d) & ~sheep for d in directions])
    return wolf
