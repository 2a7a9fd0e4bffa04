"""The searches of all games in machine code: minutes, nearly all of them compiling.

`make compiled` runs them; `make test` has Othello's alone, and some of the others in Python.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import openspiel_games
import pytest
import test_more_games
import test_search
import test_trees

from boardenvs.game.check import check_rules
from boardenvs.kernel import set_backend

pytest.importorskip("numba")

EXPECTED = json.loads(test_search.GOLDEN.read_text())
OTHERS = sorted({*test_search.RECORDED} - {"othello"})


@pytest.fixture(autouse=True)
def in_machine_code() -> Iterator[None]:
    set_backend("numba")
    yield
    set_backend(None)


@pytest.mark.parametrize("name", OTHERS)
def test_searches(name: str) -> None:
    assert test_search.recorded(name, slice(None)) == EXPECTED[name]


def test_learnt_values_of_the_holes() -> None:
    test_search.check_tempo("othello_holes")


def test_trees_by_random_games() -> None:
    test_trees.check_trees("wolf_and_sheep", None)


def test_trees_with_an_evaluator() -> None:
    test_trees.check_trees("lines_of_action", test_trees.Toy())
    test_trees.check_gumbel("lines_of_action")


def test_turns_that_go_on() -> None:
    test_more_games.check_alphabeta("checkers")


def test_sets_of_several_words() -> None:
    test_more_games.check_trees("hex")


@pytest.mark.parametrize("name", ["chess", "go"])
def test_large_games(name: str) -> None:
    """Many random games in machine code."""
    assert openspiel_games.compare(name, games=40, seed=1) > 4000


def test_rules_of_chess() -> None:
    """One board and a batch, Python and machine code."""
    check_rules(openspiel_games.GAMES["chess"].game, num_games=1, max_plies=60)
