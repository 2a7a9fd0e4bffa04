"""Rules of thumb: fair to both sides, blind to how the board is turned, and what they say they are.

And the Euler number that Lines of Action counts groups by.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from three_in_a_row import ThreeInARow
from variants import make, random_position

from boardenvs.board.bitboard import from_squares, parse_square, squares_of
from boardenvs.game.contract import Game, Position
from boardenvs.game.fen import parse_position
from boardenvs.games.lines_of_action_groups import MEN, connected, euler_number
from boardenvs.games.othello import WEIGHTS

SEEDS = st.integers(0, 2**32 - 1)
SYMMETRIC = ["othello", "othello_holes", "reversi", "lines_of_action", "lines_of_action_described"]

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


def value(game: Game, position: Position) -> int:
    mine, theirs = game.kernels.evaluate.one(*position[:2], *position[3:5])
    return mine - theirs


def position_of(game: Game, seed: int) -> Position:
    return random_position(game, seed, seed % 61)


# ---- every heuristic -------------------------------------------------------------------------


@given(seed=SEEDS)
def test_what_one_side_gains_the_other_loses(game: Game, seed: int) -> None:
    position = position_of(game, seed)
    swapped = position._replace(own=position.opp, opp=position.own, to_move=1 - position.to_move)
    assert value(game, swapped) == -value(game, position)


@pytest.mark.parametrize("name", SYMMETRIC)
@given(seed=SEEDS)
def test_the_sides_are_alike(name: str, seed: int) -> None:
    """It counts whose pieces they are, not which role has the move; the start of all is even."""
    game = make(name)
    position = position_of(game, seed)
    assert value(game, position._replace(to_move=1 - position.to_move)) == value(game, position)
    if not name.startswith("lines"):
        assert value(game, game.start()) == 0


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
    expected = sum(
        (position.own >> s & 1) * published[s] - (position.opp >> s & 1) * published[s]
        for s in range(64)
    )
    assert value(game, position) == expected
    for square in range(64):
        assert value(game, game.position((1 << square, 0))) == published[square]


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


@pytest.mark.parametrize("rules", ["lines_of_action", "lines_of_action_described"])
def test_features_of_lines_of_action(rules: str) -> None:
    """In fractions and by coordinates; a mean that is nearly whole may be rounded down."""
    game = make(rules)
    for seed in range(40):
        position = random_position(game, seed, 6 + seed)
        found = {
            name: feature.number
            for name, feature in game.features(position.own, position.opp, 0, 0).items()
        }
        sides = {"own": places(position.own), "opposing": places(position.opp)}
        for side, pieces in sides.items():
            count = len(pieces)
            centre = [Fraction(sum(p[axis] for p in pieces), count) for axis in (0, 1)]
            spread = sum((p[axis] - centre[axis]) ** 2 for p in pieces for axis in (0, 1)) / count
            number, rest = divmod(found[f"{side} spread"], 99)
            assert number == count
            assert 0 <= 4 * spread - rest < Fraction(11, 10)
            for kinds in (("a1", "b1"), ("c1", "d1"), ("b2", "c2"), ("d2", "c3"), ("d3", "d4")):
                one, other = (on_images_of(game, pieces, name) for name in kinds)
                most = len({s.squares[parse_square(kinds[1])] for s in game.symmetries})
                assert found[f"{side} on {', '.join(kinds)}"] == one * (most + 1) + other


def places(bits: int) -> list[tuple[int, int]]:
    return [(square % 8, square // 8) for square in squares_of(bits)]


def on_images_of(game: Game, pieces: list[tuple[int, int]], name: str) -> int:
    """How many stand on squares that are images of this one."""
    images = {s.squares[parse_square(name)] for s in game.symmetries}
    return sum(8 * y + x in images for x, y in pieces)


def test_wolf_and_sheep_sees_a_way_through() -> None:
    game = make("wolf_and_sheep")
    closed = parse_position(game, "8/8/8/2w5/8/s1s1s1s1/8/8 wolf 10")
    gap = parse_position(game, "8/8/8/2w5/8/2s1s1s1/7s/8 wolf 10")
    passed = parse_position(game, "8/8/6s1/5s1s/8/2w5/4s3/8 wolf 10")
    assert value(game, closed) <= 0 < value(game, gap)
    assert value(game, passed) > 0
    lower = parse_position(game, "8/8/8/8/8/8/3w4/s1s1s1s1 wolf 4")
    higher = parse_position(game, "3w4/8/8/8/8/8/8/s1s1s1s1 wolf 4")
    assert value(game, lower) > value(game, higher)  # a wolf that has come down


# ---- groups and holes ----------------------------------------------------------------------------

NEIGHBOURS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
SIDES = [(0, 1), (1, 0), (0, -1), (-1, 0)]
PIECES = st.one_of(
    st.sets(st.integers(0, 63), max_size=MEN),
    # Close together, where they touch and enclose something.
    st.sets(st.sampled_from([8 * y + x for x in range(2, 7) for y in range(1, 6)]), max_size=MEN),
).map(from_squares)


def parts(cells: set[tuple[int, int]], steps: list[tuple[int, int]]) -> int:
    """How many sets of connected cells there are, by flooding them."""
    left, count = set(cells), 0
    while left:
        front, count = [left.pop()], count + 1
        while front:
            x, y = front.pop()
            near = {(x + dx, y + dy) for dx, dy in steps} & left
            left -= near
            front += near
    return count


def cells_of(bits: int) -> set[tuple[int, int]]:
    return {(s % 8 + 1, s // 8 + 1) for s in range(64) if bits >> s & 1}


def groups_and_holes(bits: int) -> tuple[int, int]:
    """Groups hang together by all eight neighbours; what is empty, with the board's surroundings,
    by four.
    """
    pieces = cells_of(bits)
    empty = {(x, y) for x in range(10) for y in range(10)} - pieces
    return parts(pieces, NEIGHBOURS), parts(empty, SIDES) - 1


def ring(x: int, y: int) -> list[int]:
    """The four squares around one."""
    return [8 * (y + dy) + x + dx for dx, dy in SIDES]


@given(bits=PIECES)
@example(bits=0)
@example(bits=1)
@example(bits=from_squares(ring(3, 3)))
@example(bits=from_squares(ring(1, 1) + ring(5, 5)))
@example(bits=from_squares(ring(2, 2) + ring(3, 3)))  # two that share a side
@example(bits=from_squares([*ring(3, 3), 27]))  # filled
@example(bits=from_squares([0, 7, 56, 63, 27]))
@example(bits=from_squares([0, 9, 18, 27, 36, 45, 54, 63, 7, 14, 21, 28]))
def test_groups_by_flooding(bits: int) -> None:
    groups, holes = groups_and_holes(bits)
    euler = euler_number(bits)
    assert (euler - (1 << 64) if euler >> 63 else euler) == groups - holes
    assert connected(bits) == (groups <= 1)
    array = np.array([bits], np.uint64)
    assert euler_number(array)[0] == euler
    assert connected(array)[0] == connected(bits)


def test_twelve_pieces_enclose_few_squares() -> None:
    """`connected` takes the Euler number for at least -7: a piece of the densest net of rings
    encloses at most a square each.
    """
    net = [s for x, y in ((2, 2), (3, 3), (4, 4), (2, 4), (4, 2), (3, 5)) for s in ring(x, y)]
    best = 0
    squares = sorted(set(net))
    rng = np.random.default_rng(0)
    for _ in range(500):
        bits = from_squares(rng.choice(squares, MEN, replace=False).tolist())
        best = max(best, groups_and_holes(bits)[1] - groups_and_holes(bits)[0] + 1)
    assert 1 < best <= 6
