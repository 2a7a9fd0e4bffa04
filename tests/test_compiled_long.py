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

from boardenvs.game import check_rules
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


@pytest.mark.parametrize("name", ["wolf_and_sheep", "lines_of_action"])
def test_trees_of_positions(name: str) -> None:
    for evaluator in (None, test_trees.Toy()):
        test_trees.check_trees(name, evaluator)
    test_trees.check_gumbel(name)


def test_sets_of_several_words() -> None:
    test_more_games.check_search("hex")


@pytest.mark.parametrize("name", ["chess", "go"])
def test_large_games(name: str) -> None:
    """One board and a batch, Python and machine code; and many random games in machine code."""
    check_rules(openspiel_games.GAMES[name].game, num_games=1, max_plies=60)
    assert openspiel_games.compare(name, games=40, seed=1) > 4000
