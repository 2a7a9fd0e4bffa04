"""JAX at length: every game and variant, and Pgx's own test. It takes minutes of compiling."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from jax_rules import PAIRS, UINT64, check_functions, check_operations, compare, jax, keys
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
MORE_GAMES = (
    *("connect_four:ConnectFour", "hex:Hex", "checkers:Checkers"),
    *("morris:NineMensMorris", "go:Go"),  # chess takes 20 s more, and nothing new
)
GAMES = [*[(name, PAIRS) for name in VARIANTS], *[(name, UINT64) for name in WITH_UINT64]]


@pytest.mark.parametrize(("name", "kind"), GAMES)
def test_every_game_is_that_of_numpy(name, kind):
    """Compiled as for users where it is the first of its kind."""
    optimised = kind == PAIRS and name in ("othello", "wolf_and_sheep", "lines_of_action")
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


def test_pgx_finds_nothing_wrong(monkeypatch):
    """Its test of environments. With the libraries of today its random choice for one board asks
    for an axis that is not there, which fails on Pgx's own games too; and it knows its own ids.
    """
    pytest.importorskip("pgx", reason="pgx is not installed")
    from pgx._src import api_test

    from boardenvs.envs.jax import pgx

    def choose(key, mask):
        return jax.random.categorical(key, jnp.log(mask.astype(jnp.float32)), axis=-1)

    monkeypatch.setattr(api_test, "act_randomly", jax.jit(choose))
    monkeypatch.setattr(api_test, "get_args", lambda ids: [*ids.__args__, *games.GAMES])
    api_test.api_test(pgx.make("wolf_and_sheep:max_plies=30"), 3)


def test_pgx_plays_othello_alike():
    """Legal actions at every ply, the end and the result; its squares count from the other edge."""
    original = pytest.importorskip("pgx", reason="pgx is not installed").make("othello")
    from boardenvs.envs.jax import pgx

    ours = pgx.make("othello")
    both = [(jax.jit(env.init), jax.jit(env.step)) for env in (original, ours)]
    for seed in range(3):
        states = [init(jax.random.key(seed)) for init, _ in both]
        first = [int(s.current_player) for s in states]
        rng = np.random.default_rng(seed)
        while not states[0].terminated:
            masks = [np.asarray(s.legal_action_mask) for s in states]
            np.testing.assert_array_equal(masks[0][:64].reshape(8, 8)[::-1].ravel(), masks[1][:64])
            assert masks[0][64] == masks[1][64]
            action = int(rng.choice(np.flatnonzero(masks[0])))
            mirrored = action if action == 64 else action ^ 56
            pair = zip(both, states, (action, mirrored), strict=True)
            states = [step(state, jnp.int32(a)) for (_, step), state, a in pair]
        assert states[1].terminated
        assert states[0].rewards[first[0]] == states[1].rewards[first[1]]


def test_an_environment_for_one_player_has_rewards_for_one():
    pytest.importorskip("pgx", reason="pgx is not installed")
    from pgx.experimental import auto_reset

    from boardenvs.envs.jax import pgx

    env = pgx.make("three_in_a_row:ThreeInARow", opponent="random")
    step, rewards = jax.jit(jax.vmap(auto_reset(env.step, env.init))), []
    sample, init = jax.jit(jax.vmap(env.sample)), jax.jit(jax.vmap(env.init))
    state = init(keys(0))
    for ply in range(10):
        state = step(state, sample(state, keys(ply)), keys(ply))
        assert (np.asarray(state.current_player) == 0).all()
        rewards += np.asarray(state.rewards)[np.asarray(state.terminated)].tolist()
    assert env.num_players == 1
    assert {(-1.0,), (1.0,)} <= set(map(tuple, rewards))


def test_the_benchmark_in_jax(tmp_path):
    """What it measures and writes; its figures are nobody's to test."""
    game = "three_in_a_row:ThreeInARow"
    words = ["--jax", "--games", game, "--sizes", 32, "--rounds", 2, "--seconds", 0.01]
    result = subprocess.run(
        [sys.executable, "-m", "boardenvs.bench", *map(str, words), "--out", tmp_path],
        env={**os.environ, "PYTHONPATH": str(HERE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert not set(tmp_path.iterdir()) - {tmp_path / "jax.json"}
    rows = json.loads((tmp_path / "jax.json").read_text())["results"]
    libraries = {"boardenvs", "Pgx"} if find_spec("pgx") else {"boardenvs"}
    assert {r["library"] for r in rows} == libraries
    assert all(r["boards"] == 32 and len(r["rates"]) == 2 for r in rows)
