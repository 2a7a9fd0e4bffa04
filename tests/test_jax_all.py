"""JAX at length: games of every kind. It takes minutes of compiling."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module

import pytest
from jax_rules import check_functions, check_operations, compare, jax
from variants import HERE, make

from boardenvs import games

jnp = jax.numpy


@pytest.fixture(autouse=True)
def _forget():
    """What a test has compiled takes a hundred megabytes, and no other one uses it."""
    yield
    jax.clear_caches()


@pytest.mark.parametrize("x64", [False, True])
def test_words(x64):
    check_operations(x64)
    check_functions(x64)


# A game of each kind: the other variants differ from these in few rules on the same operations.
GAMES = ("othello", "lines_of_action", "wolf_and_sheep_described")


@pytest.mark.parametrize(
    ("name", "x64"), [*((name, False) for name in GAMES), ("wolf_and_sheep", True)]
)
def test_games_are_those_of_numpy(name, x64):
    """One of them compiled as for users."""
    optimised = name == "othello"
    assert compare(make(name), plies=150, boards=200, x64=x64, optimised=optimised) > 0


# Small, of several words, with turns that go on.
@pytest.mark.parametrize("game", ["three_in_a_row:ThreeInARow", "hex", "checkers"])
def test_games_of_others(game):
    assert compare(games.make(game), plies=110, boards=40, x64=False, optimised=False) > 0


def test_the_benchmark_of_self_play_by_search(monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("pgx")
    monkeypatch.syspath_prepend(str(HERE.parent / ".ci/bench"))
    self_play = import_module("self_play")
    monkeypatch.setattr(self_play, "BOARDS", 4)
    monkeypatch.setattr(self_play, "PLIES", 3)
    rows = [*self_play.by_search([make("connect_four")], others=True)]
    assert [row.library for row in rows] == 2 * ["boardenvs", "Pgx and mctx"]
    assert all(row.is_ready() and row.play() == 12 for row in rows)


def test_the_benchmark_in_jax(tmp_path):
    pytest.importorskip("pgx", reason="pgx is not installed")
    words = ["--jax", "--games", "three_in_a_row:ThreeInARow", "--sizes", "32", "--rounds", "2"]
    command = [sys.executable, HERE.parent / ".ci/bench", *words, "--seconds", "0.01"]
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    subprocess.run([*command, "--out", tmp_path], env=environment, check=True)
    (file,) = tmp_path.iterdir()
    assert file.name == "jax.json"
    rows = json.loads(file.read_text())["results"]
    assert {r["library"] for r in rows} == {"boardenvs", "Pgx"}
    assert all(r["boards"] == 32 and len(r["rates"]) == 2 for r in rows)
