"""The searches of all games in machine code, as recorded: minutes, nearly all of them compiling.

`make compiled` runs them; `make test` has Othello's alone, and the others in Python.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import test_search
import test_trees

from boardenvs.kernel import set_backend

pytest.importorskip("numba")

EXPECTED = json.loads(test_search.GOLDEN.read_text())


@pytest.fixture(autouse=True)
def in_machine_code() -> Iterator[None]:
    set_backend("numba")
    yield
    set_backend(None)


@pytest.mark.parametrize("name", sorted({*test_search.RECORDED} - {"othello"}))
def test_searches(name: str) -> None:
    assert test_search.recorded(name, None) == EXPECTED["alphabeta"][name]


@pytest.mark.parametrize("name", sorted({*test_search.IN_TREES} - {"othello"}))
def test_trees_of_positions(name: str) -> None:
    assert test_trees.recorded(name) == EXPECTED["trees"][name]
