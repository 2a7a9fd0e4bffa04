"""What belongs to a game hangs on its class: no table that gives wrong results for others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from three_in_a_row import FullThreeInARow, ThreeInARow, wins
from variants import searched

from boardenvs.board.bitboard import from_squares
from boardenvs.board.symmetry import Symmetry
from boardenvs.game.contract import Game, stack
from boardenvs.games import Othello, WolfAndSheep
from boardenvs.search import Limits, engine_for

THREE = [ThreeInARow(), FullThreeInARow()]


@cache
def solved(mine: frozenset[int], theirs: frozenset[int]) -> tuple[int, int]:
    """Value to the side to move and plies to the end, by trying everything: -1, 0 or 1."""
    if wins(sorted(theirs)):
        return -1, 0
    free = [8 * y + x for y in range(3) for x in range(3) if 8 * y + x not in mine | theirs]
    if not free:
        return 0, 0
    found = [(-v, d + 1) for v, d in (solved(theirs, mine | {s}) for s in free)]
    best = max(v for v, _ in found)
    lengths = [d for v, d in found if v == best]
    return best, min(lengths) if best > 0 else max(lengths)


def positions(game: Game, seed: int) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """The squares of the side to move and of the other, of random games."""
    rng = np.random.default_rng(seed)
    for _ in range(30):
        position = game.start()
        while not position.terminated:
            mine, theirs = (
                frozenset(s for s in range(64) if bits >> s & 1)
                for bits in (position.own, position.opp)
            )
            yield mine, theirs
            position = position.step(int(rng.choice(position.legal_actions())))


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("game", THREE, ids=lambda game: game.id)
def test_a_game_of_placing_that_is_not_othello_is_searched_right(game: Game) -> None:
    for mine, theirs in set(positions(game, 1)):
        to_move = (len(mine) + len(theirs)) % 2
        words = from_squares(mine), from_squares(theirs)
        squares = words if to_move == 0 else words[::-1]
        position = game.position(squares, to_move, len(mine) + len(theirs))
        value, plies = solved(mine, theirs)
        found = searched(position)
        assert found.outcome == {1: "win", 0: "draw", -1: "loss"}[value]
        assert found.plies == (plies if value else None)  # sooner is better, no margin counts
        assert found.margin is None


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("game", THREE, ids=lambda game: game.id)
def test_the_endgame_solver_is_for_games_that_fill_up_and_count_a_margin(game: Game) -> None:
    roots = stack([game.start()])
    seeds = np.zeros(1, np.uint64)
    plain = engine_for(game).search(roots, seeds, Limits(depth=9))
    asked = engine_for(game).search(roots, seeds, Limits(depth=9, endgame=64))
    assert plain.value.tolist() == asked.value.tolist() == [0]
    assert plain.nodes.tolist() == asked.nodes.tolist()


@pytest.mark.parametrize("square", ["a2", "c3", "d3", "a1", "h1"])
def test_symmetries_are_those_of_the_holes(square: str) -> None:
    game = Othello(holes=from_squares([square]))
    kept = {
        Symmetry(swap, files, ranks)
        for swap in (False, True)
        for files in (False, True)
        for ranks in (False, True)
        if _turned(square, swap, files, ranks) == square
    }
    assert set(game.symmetries) == kept


def _turned(square: str, swap: bool, files: bool, ranks: bool) -> str:
    """The square's image, told by its name."""
    x, y = "abcdefgh".index(square[0]), int(square[1]) - 1
    x, y = (y, x) if swap else (x, y)
    x, y = (7 - x if files else x), (7 - y if ranks else y)
    return "abcdefgh"[x] + str(y + 1)


def test_games_of_one_rule_know_one_another() -> None:
    assert Othello(id="reversi").has_rules_of(Othello())
    assert not Othello(holes=1 << 8).has_rules_of(Othello())
    assert not dataclasses.replace(WolfAndSheep(), rules="described").has_rules_of(WolfAndSheep())
    assert not ThreeInARow().has_rules_of(Othello())
