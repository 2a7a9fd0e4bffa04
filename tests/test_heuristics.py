"""Rules of thumb: fair to both sides, blind to how the board is turned, and what they say they are.

And the Euler number that Lines of Action counts groups by.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from statistics import pvariance

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from three_in_a_row import ThreeInARow
from variants import make, random_position

from boardenvs.board.bitboard import from_squares, parse_square, squares_of
from boardenvs.game.contract import Game
from boardenvs.game.fen import parse_position
from boardenvs.game.position import Position, stack
from boardenvs.games.lines_of_action_features import MEN, connected, euler_number
from boardenvs.games.othello import WEIGHTS

# T. Yoshioka, S. Ishii, M. Ito (1999), as they print it.
PUBLISHED = """
     1.00 -0.25  0.10  0.05  0.05  0.10 -0.25  1.00
    -0.25 -0.25  0.01  0.01  0.01  0.01 -0.25 -0.25
     0.10  0.01  0.05  0.02  0.02  0.05  0.01  0.10
     0.05  0.01  0.02  0.01  0.01  0.02  0.01  0.05
     0.05  0.01  0.02  0.01  0.01  0.02  0.01  0.05
     0.10  0.01  0.05  0.02  0.02  0.05  0.01  0.10
    -0.25 -0.25  0.01  0.01  0.01  0.01 -0.25 -0.25
     1.00 -0.25  0.10  0.05  0.05  0.10 -0.25  1.00
"""

# Games whose sides differ in nothing but whose pieces they are.
ALIKE = ["othello", "othello_holes", "reversi", "lines_of_action", "lines_of_action_described"]


def value(game: Game, position: Position) -> int:
    return int(game.values(stack([position]))[0])


# ---- every heuristic -------------------------------------------------------------------------


def test_what_one_side_gains_the_other_loses(name: str, game: Game) -> None:
    """And where they are alike it counts whose pieces they are, not which role has the move."""
    for seed in range(30):
        position = random_position(game, seed, 2 * seed)
        other = 1 - position.to_move
        swapped = position._replace(words=position.words[::-1], to_move=other)
        assert value(game, swapped) == -value(game, position)
        if name in ALIKE:
            assert value(game, position._replace(to_move=other)) == value(game, position)


@pytest.mark.parametrize("name", ["othello", "othello_holes", "reversi"])
def test_the_start_is_even(name: str) -> None:
    assert value(make(name), make(name).start()) == 0


def test_a_game_without_one_says_what_to_write() -> None:
    game = ThreeInARow()
    assert not game.has_heuristic
    with pytest.raises(NotImplementedError, match=r"write ThreeInARow.evaluate\(self, own, opp"):
        game.values(game.init(3))
    assert make("othello").has_heuristic


# ---- each of them --------------------------------------------------------------------------------


def test_weights_of_othello_are_the_published_ones() -> None:
    published = [round(100 * float(word)) for word in PUBLISHED.split()]
    assert list(WEIGHTS) == published  # their board is symmetric: which rank is first is no matter
    game = make("othello")
    position = random_position(game, 2, 30)
    mine, theirs = (squares_of(bits) for bits in position.words)
    expected = sum(published[s] for s in mine) - sum(published[s] for s in theirs)
    assert value(game, position) == expected


def test_lines_of_action_likes_few_groups_near_the_centre() -> None:
    game = make("lines_of_action")

    def worth(black: list[str], white: list[str] = ["a1", "h8"]) -> int:  # noqa: B006
        return value(game, game.position((from_squares(black), from_squares(white))))

    assert worth(["d4", "e5"]) > worth(["d4", "f6"]) > worth(["b4", "g6"]) > worth(["a4", "h6"])
    assert worth(["d4", "e5"], ["d5", "e4"]) == 0
    # One ring farther out costs each piece as much; a group more costs more than that.
    rings = [worth([square]) for square in ("d4", "c3", "b2", "a8")]
    assert len({a - b for a, b in itertools.pairwise(rings)}) == 1
    assert worth(["d4", "f4"]) < worth(["c4", "b4"])


def test_features_of_lines_of_action() -> None:
    """In fractions and by coordinates; a mean that is nearly whole may be rounded down."""
    game = make("lines_of_action")
    kinds = ["a1", "b1", "c1", "d1", "b2", "c2", "d2", "c3", "d3", "d4"]
    images = {kind: {s.squares[parse_square(kind)] for s in game.symmetries} for kind in kinds}
    for seed in range(40):
        position = random_position(game, seed, 6 + seed)
        found = game.features(position.own, position.opp, 0, 0)
        for side, bits in (("own", position.own), ("opposing", position.opp)):
            squares = list(squares_of(bits))
            spread = sum(pvariance([Fraction(s // d % 8) for s in squares]) for d in (1, 8))
            number, rest = divmod(found[f"{side} spread"].number, 99)
            assert number == len(squares)
            assert 0 <= 4 * spread - rest < Fraction(11, 10)
            for one, other in zip(kinds[::2], kinds[1::2], strict=True):
                on_one, on_other = (
                    len(images[kind].intersection(squares)) for kind in (one, other)
                )
                expected = on_one * (len(images[other]) + 1) + on_other
                assert found[f"{side} on {one}, {other}"].number == expected


def test_wolf_and_sheep_sees_a_way_through() -> None:
    game = make("wolf_and_sheep")
    closed, gap, passed, lower, higher = (
        value(game, parse_position(game, f"{board} wolf 10"))
        for board in (
            "8/8/8/2w5/8/s1s1s1s1/8/8",
            "8/8/8/2w5/8/2s1s1s1/7s/8",
            "8/8/6s1/5s1s/8/2w5/4s3/8",
            "8/8/8/8/8/8/3w4/s1s1s1s1",
            "3w4/8/8/8/8/8/8/s1s1s1s1",
        )
    )
    assert closed <= 0 < min(gap, passed)
    assert lower > higher  # a wolf that has come down


# ---- groups and holes ----------------------------------------------------------------------------

# On a board with a border, ten cells wide.
SIDES = (1, -1, 10, -10)
NEIGHBOURS = (*SIDES, 9, -9, 11, -11)
PIECES = st.one_of(
    st.sets(st.integers(0, 63), max_size=MEN),
    # Close together, where they touch and enclose something.
    st.sets(st.sampled_from([8 * y + x for x in range(2, 7) for y in range(1, 6)]), max_size=MEN),
)


def parts(cells: set[int], steps: tuple[int, ...]) -> int:
    """How many sets of connected cells there are, by flooding them."""
    left, count = set(cells), 0
    while left:
        front, count = {left.pop()}, count + 1
        while front:
            front = {cell + step for cell in front for step in steps} & left
            left -= front
    return count


def ring(square: int) -> set[int]:
    """The four squares around one."""
    return {square + step for step in (1, -1, 8, -8)}


@given(squares=PIECES)
@example(squares=set())
@example(squares={0})
@example(squares=ring(27))
@example(squares=ring(9) | ring(45))
@example(squares=ring(18) | ring(27))  # two that share a side
@example(squares=ring(27) | {27})  # filled
@example(squares={0, 7, 56, 63, 27})
@example(squares={0, 9, 18, 27, 36, 45, 54, 63, 7, 14, 21, 28})
@example(squares={10, 12, 17, 19, 26, 28, 33, 35, 37, 42, 44, 51})  # of most holes
def test_groups_by_flooding(squares: set[int]) -> None:
    """Groups hang together by all eight neighbours; what is empty, with the board's surroundings,
    by four.
    """
    pieces = {11 + 10 * (square // 8) + square % 8 for square in squares}
    groups, holes = parts(pieces, NEIGHBOURS), parts(set(range(100)) - pieces, SIDES) - 1
    bits = from_squares(squares)
    euler = euler_number(bits)
    assert (euler - (1 << 64) if euler >> 63 else euler) == groups - holes
    assert connected(bits) == (groups <= 1)
    array = np.array([bits], np.uint64)
    assert euler_number(array)[0] == euler
    assert connected(array)[0] == connected(bits)
