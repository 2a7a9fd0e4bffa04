"""The endgame solver against plain search, on many boards, and what it takes for granted."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from variants import random_line, searched

from boardenvs.board.bitboard import from_squares
from boardenvs.game.contract import Game, Position, stack
from boardenvs.games import Othello, parse
from boardenvs.kernel import ALL, get_backend, set_backend
from boardenvs.search import Engine, Limits, engine, engine_for

BOARDS = {
    "othello": Othello(),
    "winner": Othello(empties="winner"),
    "centre": parse("othello_holes"),
    "corners": Othello(holes=from_squares(["a1", "h8", "b2", "d3", "e6"])),
    "lopsided": Othello(holes=from_squares(["a4", "c1", "c2", "f3", "g7", "h2"])),
    "six": Othello(holes=ALL ^ sum(0x7E << (8 * y) for y in range(1, 7))),
    "flat": Othello(holes=ALL ^ sum(0xFF << (8 * y) for y in (2, 3, 4, 5))),
}


@dataclass(frozen=True)
class PlainOthello(Othello):
    """Othello that says no more of itself than every game does."""

    fills_by_capture: ClassVar = False
    stable = Game.stable


def empty_squares(game: Game, position: Position) -> int:
    return 64 - (position.own | position.opp | game.holes).bit_count()


def late_positions(game: Game, games: int, fewest: int, most: int) -> list[Position]:
    """Of random games, with so many empty squares; none where the game is over."""
    found = []
    for seed in range(games):
        for position in random_line(game, seed, 200)[0][:-1]:
            if fewest <= empty_squares(game, position) <= most:
                found.append(position)
    return found


def plain_lead(game: Game, position: Position) -> int:
    """The points that the side to move is ahead with best play, without any cut-off."""

    @functools.cache
    def best(here: Position) -> int:
        if here.terminated:
            mine, theirs = game.kernels.points.one(here.own, here.opp, here.to_move)
            return mine - theirs
        return max(-best(here.step(action)) for action in here.legal_actions())

    return best(position)


def solve(game: Game, position: Position) -> tuple[int | None, int]:
    found = searched(position, endgame=64)
    assert found.depth == empty_squares(game, position)
    return found.margin, found.nodes


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("board", BOARDS)
def test_leads_are_those_of_plain_search(board: str) -> None:
    game = BOARDS[board]
    positions = late_positions(game, 5, 1, 8)
    assert len(positions) > 20
    for position in positions:
        assert solve(game, position)[0] == plain_lead(game, position)


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("board", BOARDS)
def test_lines_are_games_that_end_with_the_lead(board: str) -> None:
    game = BOARDS[board]
    for position in late_positions(game, 4, 10, 10):
        found = searched(position, endgame=64)
        end = position
        for action in found.line:
            assert end.is_legal(action)
            end = end.step(action)
        assert end.terminated
        sign = 1 if end.to_move == position.to_move else -1
        assert sign * int(game.score_margin(stack([end]))[0]) == found.margin


@pytest.mark.usefixtures("in_python")
def test_games_that_say_less_of_themselves_are_solved_too() -> None:
    known, plain = Othello(), PlainOthello()
    for position in late_positions(known, 4, 9, 9):
        assert solve(known, position)[0] == solve(plain, position)[0]


def test_machine_code_and_python_do_the_same() -> None:
    """Node by node."""
    game = Othello()
    positions = stack(late_positions(game, 6, 9, 11))
    seeds = np.ones(len(positions.ply), np.uint64)
    found = []
    for backend in {"numpy", get_backend()}:
        set_backend(backend)
        found.append(engine_for(game).search(positions, seeds, Limits(endgame=64), forced=True))
    set_backend(None)
    for column in zip(*found, strict=True):
        for other in column[1:]:
            np.testing.assert_array_equal(column[0], other)


@pytest.mark.usefixtures("in_python")
def test_a_table_that_forgets_costs_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Othello()
    positions = stack(late_positions(game, 3, 10, 10))
    seeds = np.ones(len(positions.ply), np.uint64)
    usual = Engine(game).search(positions, seeds, Limits(endgame=64), forced=True)
    monkeypatch.setattr(engine, "_SLOTS", 2)
    found = Engine(game).search(positions, seeds, Limits(endgame=64), forced=True)
    np.testing.assert_array_equal(found.value, usual.value)
    assert found.exact.all()
    assert found.nodes.sum() > usual.nodes.sum()


@pytest.mark.usefixtures("in_python")
def test_empty_squares_go_to_nobody_or_to_the_winner() -> None:
    """Nine discs to one, and neither side can move."""
    bits = from_squares(["a1", "b1", "c1", "d1", "e1", "f1", "g1", "a2", "b2"])
    position = (bits, from_squares(["h2"])), 0, 40
    assert Othello().position(*position).terminated
    for game, expected in ((Othello(), 8), (Othello(empties="winner"), 62)):
        assert game.score_margin(stack([game.position(*position)])).tolist() == [expected]
    with pytest.raises(ValueError, match="unknown empties 'me'"):
        Othello(empties="me")


# ---- stable squares ------------------------------------------------------------------------------


def kept_to_the_end(game: Game, position: Position) -> int:
    """Squares of the side that is not to move that no line of play takes from it: all are tried."""
    role, kept, known = 1 - position.to_move, position.opp, set[Position]()
    left = [position]
    while left:
        here = left.pop()
        kept &= here.pieces(role)
        if not here.terminated:
            for action in here.legal_actions():
                after = here.step(action)
                if after not in known:
                    known.add(after)
                    left.append(after)
    return kept


@pytest.mark.parametrize("board", BOARDS)
def test_stable_squares_are_kept_whatever_is_played(board: str) -> None:
    game = BOARDS[board]
    claimed = there = 0
    for position in late_positions(game, 6, 1, 5):
        stable = game.kernels.stable.one(position.own, position.opp)[0]
        kept = kept_to_the_end(game, position)
        assert stable & ~kept == 0
        claimed, there = claimed + stable.bit_count(), there + kept.bit_count()
    assert claimed > there / 2  # most are found


@pytest.mark.parametrize("board", BOARDS)
def test_stable_squares_are_kept_in_random_play(board: str) -> None:
    """Earlier in the game, where not all lines can be tried."""
    game, rng, claimed = BOARDS[board], random.Random(1), 0
    for position in late_positions(game, 4, 6, 40):
        role, stable = 1 - position.to_move, game.kernels.stable.one(position.own, position.opp)[0]
        claimed += stable.bit_count()
        for _ in range(3 if stable else 0):
            here = position
            while not here.terminated:
                here = here.step(rng.choice(here.legal_actions()))
                assert stable & ~here.pieces(role) == 0
    assert claimed > 50


def test_stable_squares_told_by_hand() -> None:
    """A corner and what leans on it; a full line along all four axes; nothing on an open edge."""
    stable = Othello().kernels.stable.one
    own = from_squares(["e5"])
    for squares, expected in (
        (["a1", "a2", "b1", "b2"], ["a1", "a2", "b1"]),
        (["a1", "a2", "a3", "b1", "b2"], ["a1", "a2", "a3", "b1", "b2"]),
        (["a2", "a3", "b2"], []),
        (["h8", "g8", "f8", "e8", "h7"], ["h8", "g8", "f8", "e8", "h7"]),
    ):
        assert stable(own, from_squares(squares))[0] == from_squares(expected)
    holes = Othello(holes=from_squares(["b1", "a2", "b2"]))
    assert holes.kernels.stable.one(own, from_squares(["a1"]))[0] == 1
