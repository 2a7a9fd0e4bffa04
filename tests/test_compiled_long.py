"""The searches of all games in machine code: minutes, nearly all of them compiling.

`make compiled` runs them; `make test` has them in Python.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import test_arrays
import test_search
import test_trees
from growing import search_trees
from test_more_games import late_positions
from test_search import OTHELLO, seeds_of
from variants import SHARED

from boardenvs.game.check import check_rules
from boardenvs.game.fen import parse_position
from boardenvs.game.position import stack
from boardenvs.games import make
from boardenvs.kernel import set_backend
from boardenvs.play import parse_move, review
from boardenvs.records import make_record
from boardenvs.search import Limits, alphabeta_for

EXPECTED = json.loads(test_search.GOLDEN.read_text())


pytestmark = pytest.mark.usefixtures("in_machine_code")


@pytest.mark.parametrize("name", test_search.RECORDED)
def test_searches(name: str) -> None:
    assert test_search.recorded(name, slice(None)) == EXPECTED[name]


def test_endgames_of_others() -> None:
    """Black's discs less White's, and that the best square, counted from the top, keeps them."""
    path = SHARED / "records" / "endgames_13_14.txt"
    if not path.exists():
        pytest.skip(f"{path.name} is not there: these endgames are other people's data")
    rows = path.read_text().splitlines()
    assert len(rows) == 40
    for line in rows[::2]:
        board, side, square, difference = line.split()
        position = parse_position(OTHELLO, f"{board} {side}")
        for here in (position, position.step(int(square) ^ 56)):
            sign = -1 if here.to_move else 1
            assert sign * test_search.margin(here) == int(difference)


@pytest.mark.parametrize("name", ["othello", "othello_holes"])
def test_learnt_values(name: str) -> None:
    test_search.check_tempo(name)


def test_trees_by_random_games() -> None:
    test_trees.check_trees("wolf_and_sheep", None)


def test_trees_with_an_evaluator() -> None:
    test_trees.check_trees("othello", test_trees.Toy())
    test_trees.check_gumbel("checkers")


def test_arrays_that_do_not_fit_are_refused_as_in_numpy() -> None:
    in_machine_code = test_arrays.refused()
    set_backend("numpy")
    assert in_machine_code == test_arrays.refused()


def test_turns_that_go_on_and_sets_of_several_words() -> None:
    """As in Python, shortly before the ends of games."""
    checkers, board = make("checkers"), make("hex")
    late, later = (stack(late_positions(game)) for game in (checkers, board))
    numbers = seeds_of(late), seeds_of(later)
    found = []
    for backend in ("numba", "numpy"):
        set_backend(backend)
        by_alphabeta = alphabeta_for(checkers).search(late, numbers[0], Limits(nodes=300))
        by_trees = search_trees(board, later, numbers[1], simulations=40)
        found.append([*by_alphabeta, *by_trees])
    for compiled, in_python in zip(*found, strict=True):
        np.testing.assert_array_equal(compiled, in_python)


@pytest.mark.parametrize("name", ["chess", "go"])
def test_rules_of_large_games(name: str) -> None:
    """One board and a batch, Python and machine code."""
    check_rules(make(name), num_games=1, max_plies=60)


def test_reviews_mark_no_move_of_an_opening_of_chess() -> None:
    """The chance of a win, as the page has it, falls by less than for an inaccuracy."""
    line = "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be3 e5 Nb3 Be6 f3 Be7 Qd2 O-O O-O-O"  # Najdorf
    position, actions = make("chess").start(), list[int]()
    for move in line.split():
        actions.append(parse_move(move, position))
        position = position.step(actions[-1])
    for ply in review(make_record(position.game, actions)).plies:
        before, after = (1 / (1 + math.exp(-(x or 0) / 250)) for x in (ply.before, ply.after))
        assert before - after < 0.05, ply.name
