"""The exact solution of Wolf and Sheep, against slow searches that share nothing with it.

What it says of all positions must follow from what it says of their successors, and near a cap on
plies what it says is compared with minimax over the reference rules. In the classic game the sheep
win from the start, in 44 plies. In the described one the wolf wins every position: it can always
step to a lower rank, and from the eighth it is past all sheep in seven moves.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from placings import CLASSIC, DESCRIBED, SHEEP, WOLF, game_of, placings, random_placings
from reference import REFERENCE, Board, Rules
from variants import make

from boardenvs import PositionError
from boardenvs.board.bitboard import flip_files, from_squares, squares_of
from boardenvs.board.symmetry import MIRROR
from boardenvs.game.contract import Position, stack
from boardenvs.game.perft import successors
from boardenvs.game.state import take
from boardenvs.games import WolfAndSheep
from boardenvs.tablebase import Tablebase
from boardenvs.tablebase.numbering import CHUNKS, COUNT, DARK_SQUARES, FLOCKS, numbers, positions


@pytest.fixture(params=[CLASSIC, DESCRIBED])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def board_of(position: Position) -> Board:
    """The reference's form of a position."""
    wolf, sheep = (
        frozenset((s % 8 + 1, s // 8 + 1) for s in squares_of(position.pieces(role)))
        for role in (WOLF, SHEEP)
    )
    return Board((wolf, sheep), position.to_move)


class Minimax:
    """Plain minimax over the reference rules, in which a winner hurries and a loser delays. After
    so many plies a game that is not over is the wolf's.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.known: dict[tuple[Board, int], tuple[int, int]] = {}

    def solve(self, board: Board, plies: int) -> tuple[int, int]:
        """1 or -1 for the side to move, and the plies to the end."""
        key = (dataclasses.replace(board, ply=0), plies)
        if key not in self.known:
            self.known[key] = self._solve(board, plies)
        return self.known[key]

    def _solve(self, board: Board, plies: int) -> tuple[int, int]:
        if self.rules.over(board):
            return (1 if self.rules.goals(board)[board.to_move] == 100 else -1), 0
        if plies == 0:
            return (1 if board.to_move == WOLF else -1), 0
        replies = [
            self.solve(self.rules.after(board, move), plies - 1) for move in self.rules.moves(board)
        ]
        wins = [when for value, when in replies if value == -1]
        if wins:
            return 1, 1 + min(wins)
        return -1, 1 + max(when for _, when in replies)


@cache
def capped_search(variant: str) -> Minimax:
    return Minimax(REFERENCE[variant])


@pytest.mark.parametrize("variant", [CLASSIC, DESCRIBED])
@given(squares=placings(), to_move=st.integers(0, 1), left=st.integers(0, 4))
def test_the_cap_is_foreseen(
    variant: str, squares: tuple[int, int], to_move: int, left: int
) -> None:
    """Near the cap, values and lengths are those of a search that ends there and pays the wolf."""
    game = game_of(variant, max_plies=100)
    position = game.position(squares, to_move, 100 - left)
    (value,), (distance,) = Tablebase.load(game).lookup(stack([position]))
    if value == 0:  # not decided before the cap: it pays what the position would
        assert position.result() == (100.0, 0.0)
        value, distance = (1 if to_move == WOLF else -1), distance
        assert distance == left
    assert capped_search(variant).solve(board_of(position), left) == (value, distance)


# ---- all positions, from one another -----------------------------------------------------------


def test_every_position_follows_from_its_successors(name: str) -> None:
    """Ends are worth their result; else the best successor decides. If this holds everywhere the
    table is right, by induction over the distance. It is checked on every 7th position.
    """
    game = game_of(name)
    table = Tablebase.load(game)
    undecided = 0
    for number, chunk in enumerate(CHUNKS):
        state = take(positions(game, *chunk)[1], slice(number % 7, None, 7))
        value, distance = table.lookup(state)
        undecided += int((value == 0).sum())
        over = state.terminated
        np.testing.assert_array_equal(value[over], np.sign(game.score_margin(state))[over])
        assert not distance[over].any()
        rows, _, after = successors(game, state)
        their_value, their_distance = table.lookup(after)
        fastest = np.full(len(value), 1000)
        slowest = np.full(len(value), -1000)
        lost = their_value == -1
        np.minimum.at(fastest, rows[lost], their_distance[lost])
        np.maximum.at(slowest, rows, np.where(lost, 1000, their_distance))
        wins = fastest < 1000
        np.testing.assert_array_equal(value[~over], np.where(wins, 1, -1)[~over])
        expected = 1 + np.where(wins, fastest, slowest)
        np.testing.assert_array_equal(distance[~over], expected[~over])
    assert undecided == 0


def test_the_classic_sheep_win_from_the_start_against_every_defence() -> None:
    """All that the wolf can do is tried, on the reference rules, against the table's answers."""
    game, rules = game_of(CLASSIC), REFERENCE[CLASSIC]
    table = Tablebase.load(game)
    value, distance = table.lookup(game.init(1))
    assert (value[0], distance[0]) == (-1, 44)
    layer, ends, met = {game.start()}, set(), 0
    for ply in range(45):
        met += len(layer)
        after = set()
        for position in layer:
            if rules.over(board_of(position)):
                assert rules.goals(board_of(position)) == (0, 100)
                ends.add(ply)
            elif position.to_move == WOLF:
                assert len(position.legal_actions()) == len(rules.moves(board_of(position)))
                after |= {position.step(a) for a in position.legal_actions()}
            else:
                moves = table.moves(stack([position]))
                after.add(position.step(int(moves.actions[moves.score.argmax()])))
        layer = after
    assert not layer
    assert max(ends) == 44
    assert met > 1000


def test_counts_are_those_of_the_positions(name: str) -> None:
    game = game_of(name)
    table = Tablebase.load(game)
    found: dict[tuple[str, str], list[int]] = {}
    for chunk in CHUNKS:
        state = positions(game, *chunk)[1]
        value, distance = table.lookup(state)
        for sign in (1, -1):
            winner = chunk[0] if sign == 1 else 1 - chunk[0]
            entry = found.setdefault((game.roles[chunk[0]], game.roles[winner]), [0, 0, 0])
            entry[0] += int((value == sign).sum())
            entry[1] += int((state.terminated & (value == sign)).sum())
            entry[2] = max(entry[2], int(distance[value == sign].max(initial=0)))
    counts = table.counts()
    assert {(c.to_move, c.winner): [c.positions, c.over, c.longest] for c in counts} == found
    assert sum(c.positions for c in counts) == 2 * 35960 * 60


# ---- numbers, mirror images, and what is outside ----------------------------------------------


def test_numbers_are_dense_and_all_different() -> None:
    game = game_of(CLASSIC)
    seen = np.zeros(COUNT, np.bool_)
    for chunk in CHUNKS[::9]:
        ids, state = positions(game, *chunk)
        np.testing.assert_array_equal(numbers(game, state), ids)
        assert not seen[ids].any()
        seen[ids] = True
        assert len(ids) == (FLOCKS if chunk[1] not in DARK_SQUARES else FLOCKS - 31 * 30 * 29 // 6)
    # Sets of squares in order of their highest squares, as the combinatorial system has them.
    in_order = sorted(combinations(range(32), 4), key=lambda four: four[::-1])
    wolf = 1  # b1, a light square
    for rank in (0, 1, 17, 4000, FLOCKS - 1):
        flock = from_squares(DARK_SQUARES[k] for k in in_order[rank])
        state = stack([game.position((1 << wolf, flock))])
        assert numbers(game, state)[0] == wolf * FLOCKS + rank


def test_the_sheep_start_where_the_table_has_them(name: str) -> None:
    assert game_of(name).setup()[1] & ~from_squares(DARK_SQUARES) == 0


@given(squares=placings(), to_move=st.integers(0, 1), ply=st.integers(0, 210))
def test_mirror_images_are_worth_the_same(
    name: str, squares: tuple[int, int], to_move: int, ply: int
) -> None:
    game = game_of(name, max_plies=200)
    table = Tablebase.load(game)
    mirrored = flip_files(squares[0]), flip_files(squares[1])
    state = stack([game.position(s, to_move, ply) for s in (squares, mirrored)])
    value, distance = table.lookup(state)
    assert value[0] == value[1]
    assert distance[0] == distance[1]
    keep = table.preserving(state)
    np.testing.assert_array_equal(keep[0], keep[1][game.action_images(MIRROR)])


@pytest.mark.parametrize(
    ("wolf", "sheep"),
    [
        (["d8"], ["a1", "b1", "c1", "e1"]),  # both colours
        (["d8", "f8"], ["a1", "c1", "e1", "g1"]),
        ([], ["a1", "c1", "e1", "g1"]),
        (["d8"], ["a1", "c1", "e1"]),
        (["d8"], ["a1", "c1", "e1", "g1", "b2"]),
        (["d8"], []),
        (["a1"], ["a1", "c1", "e1", "g1"]),
    ],
)
@pytest.mark.parametrize("to_move", [0, 1])
def test_what_no_game_reaches_is_refused(wolf: list[str], sheep: list[str], to_move: int) -> None:
    game = game_of(CLASSIC)
    own, opp = (from_squares(s) for s in ((wolf, sheep) if to_move == 0 else (sheep, wolf)))
    state = stack(
        [game.start(), Position(own, opp, (0,) * 9, to_move, 0, False, game), game.start()]
    )
    with pytest.raises(PositionError, match=r"row 1, .*one wolf, and four sheep on squares of one"):
        Tablebase.load(game).lookup(state)


@pytest.mark.parametrize("game_id", ["othello", "lines_of_action"])
def test_other_games_are_refused(game_id: str) -> None:
    with pytest.raises(ValueError, match=rf"no tablebase of {game_id}: only 'wolf_and_sheep'"):
        Tablebase.load(make(game_id))


def test_a_subclass_may_have_other_rules_and_is_refused() -> None:
    class Faster(WolfAndSheep):
        pass

    assert Tablebase.covers(make(DESCRIBED))
    assert not Tablebase.covers(Faster())


# ---- moves -------------------------------------------------------------------------------------


def keeping(game: WolfAndSheep, position: Position) -> set[int]:
    """The actions that keep the value, one at a time."""
    table = Tablebase.load(game)
    value = {}
    for action in position.legal_actions():
        value[action] = -int(table.lookup(stack([position.step(action)]))[0][0])
    return {action for action, v in value.items() if v == max(value.values())}


@pytest.mark.parametrize("max_plies", [None, 6])
def test_preserving_actions_and_mistakes(name: str, max_plies: int | None) -> None:
    game = game_of(name, max_plies)
    table = Tablebase.load(game)
    state = random_placings(game, 300, seed=5)
    mask, mistakes = table.preserving(state), table.mistakes(state)
    assert mask.shape == (300, 513)
    assert mask.dtype == np.bool_
    some_wrong = 0
    for row, position in enumerate(game.positions(state)):
        right, legal = keeping(game, position), position.legal_actions()
        assert set(np.flatnonzero(mask[row]).tolist()) == right
        wrong = len(legal) - len(right)
        assert mistakes[row] == pytest.approx(wrong / len(legal) if legal else 0)
        some_wrong += wrong > 0
    assert some_wrong > 5 or (name == DESCRIBED and max_plies is None)
    if name == DESCRIBED and max_plies is None:
        assert some_wrong == 0  # the wolf can give nothing away


def test_moves_say_what_the_positions_after_them_say(name: str) -> None:
    game = game_of(name, max_plies=9)
    table = Tablebase.load(game)
    state = random_placings(game, 50, seed=6)
    moves = table.moves(state)
    legal = [(row, a) for row, p in enumerate(game.positions(state)) for a in p.legal_actions()]
    assert list(zip(moves.rows.tolist(), moves.actions.tolist(), strict=True)) == legal
    value, distance = table.lookup(moves.after)
    np.testing.assert_array_equal(moves.value, -value)
    np.testing.assert_array_equal(moves.distance, distance + 1)
    # Better is: a quick win, a slow win, nothing, a slow loss, a quick loss.
    kinds = [(1, 1), (1, 9), (0, 9), (-1, 8), (-1, 2)]
    ordered = moves._replace(
        value=np.array([v for v, _ in kinds], np.int8),
        distance=np.array([d for _, d in kinds], np.int16),
    )
    assert (np.diff(ordered.score) < 0).all()
