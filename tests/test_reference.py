"""The kernel against the slow rules in `reference.py` on positions that games seldom reach; whole
games are in `test_playouts.py`.
"""

import random

import pytest
from hypothesis import given, settings, strategies as st
from reference import CELLS, HOLES, OF_SIZES, REFERENCE, Board
from rule_sheets import read_move
from variants import BUILT_IN

from boardenvs import games
from boardenvs.game import check
from boardenvs.game.check import check_rules
from boardenvs.game.perft import successors
from boardenvs.game.position import stack

pytestmark = pytest.mark.usefixtures("as_written")

# Reversi's are Othello's.
other_rules = pytest.mark.parametrize("name", [name for name in BUILT_IN if name != "reversi"])


def words(board):
    first, second = (sum(1 << (8 * y + x - 9) for x, y in cells) for cells in board.pieces)
    return first, second


def check_position(game, rules, position, board):
    """The same squares, legal actions, end and goals; returns the moves by action."""
    assert (position.pieces(0), position.pieces(1)) == words(board)
    assert (position.to_move, position.ply) == (board.to_move, board.ply)
    moves = {read_move(game, rules.spell(move)): move for move in rules.legal(board)}
    assert position.legal_actions() == sorted(moves)
    assert position.terminated == rules.over(board)
    assert position.result() == rules.goals(board)
    return moves


def check_successors(game, rules, position, moves, board):
    """All successors at once, as a batch, and those of `moves` on one board."""
    state = stack([position])
    assert not rules.over(board) or tuple(game.results(state)[0]) == rules.goals(board)
    rows, actions, after = successors(game, state)
    assert (rows == 0).all()
    batch = dict(zip(actions.tolist(), game.positions(after), strict=True))
    for action, move in moves.items():
        next_board = rules.after(board, move)
        check_position(game, rules, batch[action], next_board)
        assert position.step(action) == batch[action]


@st.composite
def any_board(draw, name):
    """Pieces placed at random, as many of a side as the game can have, and either side to move."""
    shuffled = draw(st.permutations(CELLS))
    if name.startswith("wolf_and_sheep"):
        first, second = shuffled[:1], shuffled[1:5]
    elif name.startswith("lines_of_action"):
        count = draw(st.integers(0, 12))
        first, second = shuffled[:count], shuffled[count : count + draw(st.integers(0, 12))]
    else:
        free = [cell for cell in shuffled if "holes" not in name or cell not in HOLES]
        discs = draw(st.integers(0, len(free)))
        split = draw(st.integers(0, discs))
        first, second = free[:split], free[split:discs]
    ply = draw(st.sampled_from([0, 1, 48, 49, 50, 51]))
    return Board((frozenset(first), frozenset(second)), draw(st.integers(0, 1)), ply)


@other_rules
@settings(max_examples=20)
@given(data=st.data())
def test_random_positions(name, game, data):
    """Any position that the game accepts: its legal actions, and one step from it."""
    rules = REFERENCE[name]
    board = data.draw(any_board(name))
    position = game.position(words(board), board.to_move, board.ply)
    moves = check_position(game, rules, position, board)
    some = dict(sorted(moves.items())[:: max(1, len(moves) // 6)])
    check_successors(game, rules, position, some, board)


@pytest.mark.parametrize("text", OF_SIZES)
def test_random_games_of_other_sizes(text):
    game, rules, rng = games.make(text), OF_SIZES[text], random.Random(1)
    assert games.spec_of(game) == text
    columns = game.board.columns

    def cells(squares):
        return tuple((square % columns + 1, square // columns + 1) for square in squares)

    def cells_of(position, role):
        bits = position.pieces(role)
        return frozenset(cells(s for s in range(game.board.size) if bits >> s & 1))

    for _ in range(2 if game.board.size < 64 else 1):
        position, board = game.start(), rules.start
        while not rules.over(board):
            moves = {cells(game.action_squares(a, position)): a for a in position.legal_actions()}
            assert {*moves} == rules.legal(board)
            move = rng.choice(sorted(moves))
            position, board = position.step(moves[move]), rules.after(board, move)
            assert (cells_of(position, 0), cells_of(position, 1)) == board.pieces
        assert position.terminated
        assert position.result() == rules.goals(board)


@pytest.mark.parametrize(
    "text", ["othello:size=12", "othello:size=6", "go:size=5", "hex:size=6", "connect_four:rows=9"]
)
def test_boards_of_other_sizes_keep_the_rules_of_games(text, monkeypatch):
    """In machine code the one with most words."""
    if text != "othello:size=12":
        monkeypatch.setattr(check, "find_spec", lambda name: None)
    check_rules(games.make(text), num_games=1, max_plies=10 if "12" in text else 30)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("othello:size=7", "size is 7: it must be 4 to 16, and even"),
        ("hex:size=17", "size is 17: it must be 2 to 16, and whole"),
        ("connect_four:columns=3,rows=3", "connect is 4: it must be 2 to 3"),
        ("lines_of_action:rules=described,size=4", "size is 4: it must be 5 to 16"),
        ("othello_holes:size=6,holes=1099511627776", "bitboard of 36 bits"),
    ],
)
def test_sizes_that_no_board_has_are_named(text, right):
    with pytest.raises(ValueError, match=right):
        games.make(text)
