"""Rules of thumb: fair to both sides, blind to how the board is turned, and what they say they are.

And the Euler number that Lines of Action counts groups by.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from variants import make, random_position

from boardenvs.board.bitboard import from_squares, squares_of
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.games import Othello
from boardenvs.games.lines_of_action_features import MEN, connected, euler_number

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


# ---- each of them --------------------------------------------------------------------------------


def test_weights_of_othello_are_the_published_ones() -> None:
    published = [round(100 * float(word)) for word in PUBLISHED.split()]
    game = Othello()
    weights = [game.weights[square] for square in range(64)]
    assert weights == published  # their board is symmetric: which rank is first is no matter
    position = random_position(game, 2, 30)
    mine, theirs = (squares_of(bits) for bits in position.words)
    expected = sum(published[s] for s in mine) - sum(published[s] for s in theirs)
    assert value(game, position) == expected


def test_go_counts_stones_liberties_and_points_near_one_side_alone() -> None:
    game = make("go")
    for seed in range(5):
        position = random_position(game, seed, 20 + 5 * seed)
        stones = [set(squares_of(bits)) for bits in (position.own, position.opp)]
        empty = set(range(81)) - stones[0] - stones[1]

        def beside(points: set[int]) -> set[int]:
            near = {
                (x % 9 + i, x // 9 + j)
                for x in points
                for i, j in ((1, 0), (-1, 0), (0, 1), (0, -1))
            }
            return {x + 9 * y for x, y in near if x in range(9) and y in range(9)}

        liberties = [beside(own) & empty for own in stones]
        near = [first | beside(first) & empty for first in liberties]
        mine, theirs = (
            4 * len(stones[side]) + 2 * len(liberties[side]) + len(near[side] - near[1 - side])
            for side in (0, 1)
        )
        assert value(game, position) == mine - theirs


def test_kings_of_checkers_count_half_as_much_again() -> None:
    game = make("checkers")
    for text, expected in (("W:WK30,22:B1,2", 50), ("B:WK30:BK1,K2,3", 250)):
        assert abs(value(game, parse_position(game, text))) == expected


def test_nine_mens_morris_counts_men_on_the_board_and_in_hand() -> None:
    game, values = make("nine_mens_morris"), set()
    for seed in range(8):
        position = random_position(game, seed, 12 + 3 * seed)
        men = [position.own.bit_count(), -position.opp.bit_count()]
        hands = position.word("own_hand"), -position.word("opp_hand")
        assert value(game, position) == sum((*men, *hands))
        values.add((np.sign(sum(men)), any(hands)))
    assert len(values) > 3


@pytest.mark.parametrize("size", [5, 8])
def test_lines_of_action_counts_groups_holes_and_the_way_to_the_centre(size: int) -> None:
    game = make(f"lines_of_action:size={size}")
    position = random_position(game, 3, 9)
    costs = []
    for pieces in (position.opp, position.own):
        places = ([2 * x - size + 1 for x in divmod(s, size)] for s in squares_of(pieces))
        rings = sum(max(map(abs, place)) // 2 for place in places)
        costs.append(30 * euler_number(pieces, game.board) + 4 * rings)
    assert value(game, position) == costs[0] - costs[1]


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
@example(squares=ring(27))
@example(squares=ring(18) | ring(27))  # two that share a side
@example(squares=ring(27) | {27})  # filled
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
