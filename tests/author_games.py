"""Small games of tests, of the kinds that authors bring: a side that moves again, moves in parts,
counts in squares, walls on lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import ClassVar

from boardenvs.board import Board, step
from boardenvs.game import Game, Named, Notation, Placing, Position
from boardenvs.kernel import Bits, Table, less, nonzero, popcount, rounds, spread


@dataclass(frozen=True)
class Stripes(Game):
    """Fill squares; the last square of a file gives another move. More squares win, of files
    that one has closed.
    """

    id: str = "stripes"
    rows: int = 3
    columns: int = 4

    roles: ClassVar = ("black", "white")
    squares: ClassVar = ("own", "opp", "own_files", "opp_files")  # those that a side has closed
    notation: ClassVar = Placing()

    @cached_property
    def _files(self) -> Table:
        files = [self.board.file(square % self.columns) for square in range(self.board.size)]
        return Table([*files, 0])

    @cached_property
    def _placed(self) -> Table:
        return Table([*(1 << square for square in range(self.board.size)), 0])

    def setup(self) -> tuple[int, ...]:
        return 0, 0, 0, 0

    def moves(self, own: Bits, opp: Bits) -> list[Bits]:
        return [~(own | opp) & self.board.all]

    def play(
        self, own: Bits, opp: Bits, own_files: Bits, opp_files: Bits, action: Bits
    ) -> tuple[Bits, ...]:
        own = own | self._placed[action]
        file = self._files[action]
        full = nonzero(file & ~(own | opp)) ^ 1
        return own, opp, own_files | file & spread(full, self.board.all), opp_files

    def again(self, action: Bits, own_files: Bits, before_own_files: Bits) -> Bits:
        return nonzero((own_files ^ before_own_files) & self._files[action])

    def over(self, moves: Sequence[Bits]) -> Bits:
        return nonzero(moves[0]) ^ 1

    def points(self, own_files: Bits, opp_files: Bits) -> tuple[Bits, Bits]:
        return popcount(own_files), popcount(opp_files)


@dataclass(frozen=True)
class Sixteen(Stripes):
    """The beginning of a game on the largest board."""

    id: str = "sixteen"
    rows: int = 16
    columns: int = 16

    max_plies: ClassVar = 20


FIVE = Board(rows=1, columns=5)


@dataclass(frozen=True)
class Lift(Game):
    """A turn has two actions: lift one of one's pieces, then put it on an empty square. A side
    that holds the middle for a third time wins.
    """

    id: str = "lift"
    max_plies: ClassVar = 60

    roles: ClassVar = ("left", "right")
    shape: ClassVar = FIVE
    squares: ClassVar = ("own", "opp", "lifted")
    numbers: ClassVar = {"own_held": 4, "opp_held": 4}
    notation: ClassVar = Placing()

    def setup(self) -> tuple[int, ...]:
        return 0b00001, 0b10000, 0, 0, 0

    def moves(self, own: Bits, opp: Bits, lifted: Bits) -> list[Bits]:
        holds = spread(nonzero(lifted))
        return [own & ~holds | FIVE.all & ~(own | opp | lifted) & holds]

    def play(
        self, own: Bits, opp: Bits, lifted: Bits, own_held: Bits, opp_held: Bits, action: Bits
    ) -> tuple[Bits, ...]:
        square, holds = _SQUARE[action], spread(nonzero(lifted))
        own = own ^ square
        middle = nonzero(own & holds & 0b00100)
        return own, opp, square & ~holds, own_held + middle, opp_held

    def again(self, lifted: Bits) -> Bits:
        return nonzero(lifted)

    def over(self, moves: Sequence[Bits], own_held: Bits, opp_held: Bits) -> Bits:
        return less(2, own_held) | less(2, opp_held) | nonzero(moves[0]) ^ 1

    def points(self, own_held: Bits, opp_held: Bits) -> tuple[Bits, Bits]:
        return own_held, opp_held


_SQUARE = Table([*(1 << square for square in range(5)), 0])


@dataclass(frozen=True)
class Heaps(Game):
    """Take any number from one of the heaps; the last one wins. Squares have counts."""

    id: str = "heaps"

    roles: ClassVar = ("first", "second")
    shape: ClassVar = (1, 3)
    numbers: ClassVar = {"heap_a": 8, "heap_b": 8, "heap_c": 8}
    notation: ClassVar = Named(tuple(f"{heap}{n}" for heap in "abc" for n in range(1, 8)))

    def setup(self) -> tuple[int, ...]:
        return 0, 0, 3, 4, 5

    def moves(self, heap_a: Bits, heap_b: Bits, heap_c: Bits) -> list[Bits]:
        a, b, c = (_UP_TO[heap] for heap in (heap_a, heap_b, heap_c))
        return [a | b << 7 | c << 14]

    def play(
        self, own: Bits, opp: Bits, heap_a: Bits, heap_b: Bits, heap_c: Bits, action: Bits
    ) -> tuple[Bits, ...]:
        a, b, c = (taken[action] for taken in _TAKEN)
        return own, opp, heap_a - a, heap_b - b, heap_c - c

    def over(self, heap_a: Bits, heap_b: Bits, heap_c: Bits) -> Bits:
        return nonzero(heap_a | heap_b | heap_c) ^ 1

    def points(self) -> tuple[Bits, Bits]:
        return 0, 1  # the side to move has not taken the last one

    def evaluate(self) -> tuple[Bits, Bits]:
        return 0, 0


_UP_TO = Table([(1 << n) - 1 for n in range(8)])
_TAKEN = [
    Table([n if heap == place else 0 for place in range(3) for n in range(1, 8)] + [0])
    for heap in range(3)
]


NINE = Board(rows=9, columns=9)
_NORTH, _, _EAST, _, _SOUTH, _, _WEST, _ = NINE.directions
_PLACED = Table([1 << square for square in range(NINE.size)] * 2 + [0])
_IS_WALL = Table([0] * NINE.size + [1] * NINE.size + [0])


class Steps(Notation):
    """Action s steps to square s; action 81 + s builds a wall on the upper edge of square s."""

    planes = 2
    needs_position = False

    def write(self, game: Game, action: int, position: Position | None) -> str:
        wall, square = divmod(action, game.board.size)
        return "=" * wall + Placing().write(game, square, position)

    def parse(self, game: Game, text: str) -> int:
        wall = text.startswith("=")
        return game.board.size * wall + Placing().parse(game, text[wall:])

    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        return (action % game.board.size,)


@dataclass(frozen=True)
class Walls(Game):
    """Step to a neighbour, or wall up the way north of a square, which must not be farther from
    one's goal than the opponent's. Black comes from rank 1 and goes to rank 9, white down.
    """

    id: str = "walls"
    max_plies: ClassVar = 80

    roles: ClassVar = ("black", "white")
    shape: ClassVar = NINE
    squares: ClassVar = ("own", "opp", "walls")
    numbers: ClassVar = {"own_left": 4, "opp_left": 4}
    notation: ClassVar = Steps()

    def setup(self) -> tuple[int, ...]:
        return 1 << 4, 1 << 76, 0, 3, 3

    def moves(self, own: Bits, opp: Bits, walls: Bits, own_left: Bits) -> list[Bits]:
        free = NINE.all & ~walls & ~NINE.rank(8)
        builds = spread(nonzero(own_left), NINE.all)
        return [_around(own, walls) & ~opp, free & builds]

    def play(
        self,
        own: Bits,
        opp: Bits,
        walls: Bits,
        own_left: Bits,
        opp_left: Bits,
        action: Bits,
    ) -> tuple[Bits, ...]:
        square, wall = _PLACED[action], _IS_WALL[action]
        builds, steps = spread(wall, NINE.all), spread(nonzero(square) & (wall ^ 1), NINE.all)
        return (
            own ^ ((own ^ square) & steps),
            opp,
            walls | square & builds,
            own_left - wall,
            opp_left,
        )

    def over(self, own: Bits, opp: Bits, to_move: Bits) -> Bits:
        won, lost = self.points(own, opp, to_move)
        return won | lost

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        return nonzero(own & goal(to_move)), nonzero(opp & goal(to_move ^ 1))

    def planes(
        self, own: Bits, opp: Bits, walls: Bits, own_left: Bits, opp_left: Bits, to_move: Bits
    ) -> tuple[Bits, ...]:
        counts = [
            spread(less(k, left), NINE.all) for left in (own_left, opp_left) for k in range(3)
        ]
        return own, opp, walls, spread(to_move, NINE.all), *counts

    def evaluate(self, own: Bits, opp: Bits, walls: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        """How much farther the other side's way is, which the number of rounds tells."""
        return distance(opp, walls, to_move ^ 1), distance(own, walls, to_move)


def goal(role: Bits) -> Bits:
    """Rank 9 of black, rank 1 of white: small and large sets, which are as wide as the board."""
    return spread(role ^ 1, NINE.rank(8)) | spread(role, NINE.rank(0))


def distance(piece: Bits, walls: Bits, role: Bits) -> Bits:
    """Steps to the goal."""
    return rounds(_grown, piece, walls, goal(role))[1]


def _around(piece: Bits, walls: Bits) -> Bits:
    up, down = step(piece & ~walls, _NORTH), step(piece, _SOUTH) & ~walls
    return reduce(or_, [up, down, step(piece, _EAST), step(piece, _WEST)])


def _grown(reached: Bits, walls: Bits, goal: Bits) -> Bits:
    arrived = spread(nonzero(reached & goal) ^ 1, NINE.all)
    return reached | _around(reached, walls) & arrived
