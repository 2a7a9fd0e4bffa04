"""JAX at length: every game and variant. It takes minutes of compiling."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from jax_rules import PAIRS, UINT64, check_functions, check_operations, compare, jax
from variants import HERE, VARIANTS, make

from boardenvs import games

jnp = jax.numpy


@pytest.fixture(autouse=True)
def _forget():
    """What a test has compiled takes a hundred megabytes, and no other one uses it."""
    yield
    jax.clear_caches()


@pytest.mark.parametrize("kind", [PAIRS, UINT64])
def test_words(kind):
    check_operations(kind)
    check_functions(kind)


# All with pairs; with uint64, which does the same by the test above, one of each kind: see below.
WITH_UINT64 = ["othello_holes", "wolf_and_sheep"]
MORE_GAMES = ("hex:Hex", "checkers:Checkers")
GAMES = [*[(name, PAIRS) for name in VARIANTS], *[(name, UINT64) for name in WITH_UINT64]]


@pytest.mark.parametrize(("name", "kind"), GAMES)
def test_every_game_is_that_of_numpy(name, kind):
    """One of them compiled as for users."""
    optimised = (name, kind) == ("othello", PAIRS)
    assert compare(make(name), plies=150, boards=200, kind=kind, optimised=optimised) > 0


@pytest.mark.parametrize(
    ("game", "kind"),
    [
        ("lines_of_action:max_steps=31", UINT64),
        ("three_in_a_row:ThreeInARow", PAIRS),
        *((f"boardenvs_{game}", PAIRS) for game in MORE_GAMES),
    ],
)
def test_games_with_parameters_and_of_others(game, kind):
    assert compare(games.make(game), plies=110, boards=40, kind=kind, optimised=False) > 0


def test_the_benchmark_in_jax(tmp_path):
    pytest.importorskip("pgx", reason="pgx is not installed")
    words = ["--jax", "--games", "three_in_a_row:ThreeInARow", "--sizes", "32", "--rounds", "2"]
    command = [sys.executable, "-m", "boardenvs.bench", *words, "--seconds", "0.01"]
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    subprocess.run([*command, "--out", tmp_path], env=environment, check=True)
    (file,) = tmp_path.iterdir()
    rows = json.loads(file.read_text())["results"]
    assert {r["library"] for r in rows} == {"boardenvs", "Pgx"}
    assert all(r["boards"] == 32 and len(r["rates"]) == 2 for r in rows)
