"""Exact ends of Othello: endgames of others, small boards that are solved, plain search."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from negamax import WIN, lead_with_best_play
from variants import SHARED, make, random_line, random_position, searched

from boardenvs.game.contract import Game, Position, stack
from boardenvs.games import Othello
from boardenvs.kernel import ALL, get_backend, set_backend
from boardenvs.search import Analysis, Limits, engine_for

ENDGAMES = SHARED / "records" / "endgames_13_14.txt"
BLACK, RED = 0, 1


def margin(game: Game, position: Position) -> int:
    """The discs that the side to move will be ahead; the search must have proven it."""
    state = stack([position])
    found = engine_for(game).search(state, np.ones(1, np.uint64), Limits(endgame=64), forced=True)
    assert found.exact == 1
    value = int(found.value[0])
    assert value == 0 or abs(value) > WIN
    return value - WIN * int(np.sign(value))


def of_black(position: Position, lead: int) -> int:
    return lead if position.to_move == BLACK else -lead


# ---- endgames of others --------------------------------------------------------------------------


@functools.cache
def endgames() -> list[tuple[Position, int, int]]:
    """The positions, a best square, and the difference of discs."""
    if not ENDGAMES.exists():
        pytest.skip(f"{ENDGAMES.name} is not there: these endgames are other people's data")
    rows = []
    for line in ENDGAMES.read_text().splitlines():
        board, side, square, difference = line.split()
        squares = [sum(1 << i for i in range(64) if board[i] == disc) for disc in "XO"]
        position = make("othello").position((squares[0], squares[1]), int(side == "White"))
        rows.append((position, int(square), int(difference)))
    return rows


def test_the_difference_is_that_of_black() -> None:
    """White to move: along the search's line the discs come out as the file says, for black, and so
    does a plain search of the last moves, again with white to move.
    """
    game = make("othello")
    position, _, difference = endgames()[1]
    assert position.to_move == RED
    assert difference == 46
    by_plain_search = []
    for action in searched(position).line:
        empty = 64 - (position.own | position.opp).bit_count()
        if empty <= 7 and position.to_move == RED:
            by_plain_search.append(of_black(position, lead_with_best_play(game, position)))
        assert position.is_legal(action)
        position = position.step(action)
    assert position.terminated
    assert position.pieces(BLACK).bit_count() - position.pieces(RED).bit_count() == difference
    assert len(by_plain_search) >= 3
    assert set(by_plain_search) == {difference}


def test_endgames_of_others() -> None:
    """All differences, and that the best square given keeps them."""
    game = make("othello")
    # In plain Python those that take the fewest positions.
    few = [4, 35, 30, 26, 28, 13]
    rows = endgames()
    assert len(rows) == 40
    for position, square, difference in (
        rows if get_backend() == "numba" else [rows[i] for i in few]
    ):
        assert of_black(position, margin(game, position)) == difference
        after = position.step(square)
        assert of_black(after, margin(game, after)) == difference


# ---- small boards --------------------------------------------------------------------------------


def small(width: int, height: int) -> Othello:
    """Othello on the middle of the board."""
    files = range((8 - width) // 2, (8 + width) // 2)
    ranks = range((8 - height) // 2, (8 + height) // 2)
    return Othello(holes=ALL ^ sum(1 << (8 * y + x) for x in files for y in ranks))


@pytest.mark.usefixtures("in_python")
def test_four_by_four() -> None:
    """The second player wins 11 to 3, which is well known; and every other position as well."""
    game = small(4, 4)

    @functools.cache
    def lead(own: int, opp: int) -> int:
        position = game.position((own, opp))
        if position.terminated:
            return own.bit_count() - opp.bit_count()
        afters = [position.step(action) for action in position.legal_actions()]
        return max(-lead(after.own, after.opp) for after in afters)

    assert margin(game, game.start()) == -8
    end = game.start()
    for action in searched(game.start()).line:
        end = end.step(action)
    assert (end.terminated, end.pieces(0).bit_count(), end.pieces(1).bit_count()) == (True, 3, 11)
    assert lead(game.start().own, game.start().opp) == -8
    for seed in range(20):
        for position in random_line(game, seed, 30)[0][:-1]:
            assert margin(game, position) == lead(position.own, position.opp)


@pytest.mark.usefixtures("in_python")
def test_a_board_lying_down_is_a_board_standing_up() -> None:
    standing, lying = small(4, 6), small(6, 4)
    assert standing.holes == transposed(lying.holes) != lying.holes
    for seed, plies in enumerate((5, 7, 9, 10, 11, 12)):
        one = random_line(standing, seed, plies)[0][-1]
        other = lying.position((transposed(one.pieces(0)), transposed(one.pieces(1))), one.to_move)
        assert margin(standing, one) == margin(lying, other)


def transposed(bits: int) -> int:
    """Files and ranks exchanged."""
    return sum(1 << (8 * (s % 8) + s // 8) for s in range(64) if bits >> s & 1)


# The number of the move that fills a square in Joel Feinstein's perfect game on six by six, from
# the top rank down, 0 for the discs of the start: the second player wins 20 to 16.
# https://www.maths.nottingham.ac.uk/plp/pmzjff/Othello/6x6sol.html
FEINSTEIN = """
    28  9  8  7 31 32
    22 14  1  4 17 16
    27 13  0  0  6 15
    19  2  0  0  5 12
    24 23  3 10 26 29
    21 18 20 11 25 30
"""


@pytest.mark.usefixtures("in_python")
def test_six_by_six() -> None:
    game = small(6, 6)
    numbers = [int(word) for word in FEINSTEIN.split()]
    square = {n: 8 * (6 - i // 6) + 1 + i % 6 for i, n in enumerate(numbers) if n}
    position, values = game.start(), dict[int, int]()
    for number in range(1, 33):
        if position.legal_actions() == [game.noop]:
            position = position.step(game.noop)
        if number > 17:
            values[33 - number] = of_black(position, margin(game, position))
        assert position.is_legal(square[number])
        position = position.step(square[number])
    assert position.terminated
    assert [position.pieces(role).bit_count() for role in (BLACK, RED)] == [16, 20]
    assert values == dict.fromkeys(range(1, 16), -4)  # by empty squares


# ---- plain search, limits, lines -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["othello", "othello_holes"])
def test_ends_are_those_of_a_plain_search(name: str) -> None:
    """Six and seven empty squares, passes and early ends among them."""
    game = make(name)
    assert isinstance(game, Othello)
    passes = 0
    for backend in ("numpy", None) if name == "othello" else ("numpy",):
        set_backend(backend)
        for seed in range(12):
            positions = random_line(game, seed, 200)[0]
            full = 64 - game.holes.bit_count()
            wanted = [p for p in positions if 6 <= full - (p.own | p.opp).bit_count() <= 7]
            for position in wanted[:2]:
                lead = 0 if position.terminated else lead_with_best_play(game, position)
                if not position.terminated:
                    assert margin(game, position) == lead
                    found = searched(position)
                    assert (found.margin, found.value) == (lead, lead)
                    assert found.outcome == ("win" if lead > 0 else "loss" if lead else "draw")
                    passes += follow(game, position, found).count(game.noop)
    set_backend(None)
    assert passes > 3


def follow(game: Othello, position: Position, found: Analysis) -> list[int]:
    """The line, which must be a game to its end with the lead that was promised."""
    role, end = position.to_move, position
    for action in found.line:
        assert end.is_legal(action)
        end = end.step(action)
    assert end.terminated
    assert end.pieces(role).bit_count() - end.pieces(1 - role).bit_count() == found.margin
    return list(found.line)


def test_a_position_that_is_no_end_is_searched() -> None:
    """Half of the nodes are for the end; where they are too few the rest is for a usual search."""
    game = make("othello")
    position = random_position(game, 10, 49)
    solved = searched(position)
    assert solved.outcome is not None
    short = searched(position, nodes=solved.nodes // 2)
    assert short.outcome is None
    assert short.margin is None
    assert short.value is not None
    assert len(short.line) == short.depth > 4
    assert solved.nodes // 4 < short.nodes < solved.nodes
    not_tried = searched(position, nodes=solved.nodes // 2, endgame=5)
    assert not_tried.depth >= short.depth
