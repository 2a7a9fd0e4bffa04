"""The rules compiled with Numba against the same rules through NumPy and Python."""

import os
import subprocess
import sys

import numpy as np
import pytest

import boardenvs
from boardenvs import games

pytest.importorskip("numba", reason="the extra fast is not installed")

VARIANTS = [
    *((game_id, {}) for game_id in games.GAMES),
    ("wolf_and_sheep", {"rules": "described", "max_plies": None}),
    ("lines_of_action", {"rules": "described", "max_steps": 7}),
]


@pytest.fixture(autouse=True)
def _restore_backend():
    before = boardenvs.kernel.get_backend()
    yield
    boardenvs.kernel.set_backend(before)


def with_each_backend(function):
    results = []
    for backend in ("numpy", "numba"):
        boardenvs.kernel.set_backend(backend)
        assert boardenvs.kernel.get_backend() == backend
        results.append(function())
    return results


def assert_same(first, second):
    if isinstance(first, tuple):
        assert len(first) == len(second)
        for a, b in zip(first, second, strict=True):
            assert_same(a, b)
    else:
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("batch", [1, 3, 1000, 40_000])
@pytest.mark.parametrize(("game_id", "rules"), VARIANTS)
def test_batches_agree(game_id, rules, batch):
    """Choice, step, goal, lead and observation along random games of all lengths."""
    game = games.make(game_id, **rules)

    def run():
        rng = np.random.default_rng(batch)
        state, record = game.init(batch), []
        for ply in range(70 if batch < 10_000 else 8):
            actions = game.sample(state, rng)
            state = game.step(state, actions)
            if ply % 7 == 0:
                goals, leads = game.goal(state), game.score_margin(state)
                record.append((actions, state, goals, leads, game.observe(state)))
        return tuple(record)

    assert_same(*with_each_backend(run))


@pytest.mark.parametrize(("game_id", "rules"), VARIANTS)
def test_one_board_agrees(game_id, rules):
    """The same ints, whichever bits are set."""
    game = games.make(game_id, **rules)

    def run():
        rng, record = np.random.default_rng(8), []
        for _ in range(8):
            position = game.start()
            while not position.terminated and position.ply < 120:
                position = position.step(int(rng.choice(position.legal_actions())))
                planes = position.planes()
                record.append((position, position.result(), planes))
        return record

    first, second = with_each_backend(run)
    assert first == second
    assert any(position.own >> 63 for position, _, _ in first) or game_id == "wolf_and_sheep"
    assert all(type(x) is int for x in (*second[0][0][:2], *second[0][0].legal_bits))


def test_numba_batch_equals_its_own_single_boards():
    boardenvs.kernel.set_backend("numba")
    game, rng = games.make("lines_of_action"), np.random.default_rng(0)
    state = game.init(50)
    for _ in range(50):
        actions = game.sample(state, rng)
        after = game.step(state, actions)
        for before, action, expected in zip(
            game.positions(state), actions.tolist(), game.positions(after), strict=True
        ):
            if not before.terminated:
                assert before.step(action) == expected
        state = after


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


PLAY = (
    "import sys, numpy as np, boardenvs; game = boardenvs.games.make('othello'); "
    "state = game.init(5); rng = np.random.default_rng(0)\n"
    "for _ in range(20): state = game.step(state, game.sample(state, rng))\n"
    "print(boardenvs.kernel.get_backend(), 'numba' in sys.modules, state.own.tolist(), "
    "game.start().step(20).own)"
)


def test_environment_variable_chooses_and_cache_serves_other_processes(tmp_path):
    """The second process finds what the first one compiled."""
    first = run_python(PLAY, BOARDENVS_BACKEND="numba", BOARDENVS_CACHE=str(tmp_path))
    assert first.returncode == 0, first.stderr
    made = {p.name: p.stat().st_mtime_ns for p in tmp_path.rglob("*.machine_code")}
    assert made
    second = run_python(PLAY, BOARDENVS_BACKEND="numba", BOARDENVS_CACHE=str(tmp_path))
    assert second.returncode == 0, second.stderr
    assert {p.name: p.stat().st_mtime_ns for p in tmp_path.rglob("*.machine_code")} == made
    plain = run_python(PLAY, BOARDENVS_BACKEND="numpy", BOARDENVS_CACHE=str(tmp_path))
    assert plain.stdout.startswith("numpy False")
    assert first.stdout == second.stdout == plain.stdout.replace("numpy False", "numba True")


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    result = run_python(PLAY, BOARDENVS_BACKEND="numba", BOARDENVS_CACHE=str(blocked / "sub"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("numba True")


def test_unknown_backends_are_named():
    with pytest.raises(ValueError, match=r"unknown backend 'numbra'\. Did you mean 'numba'"):
        boardenvs.kernel.set_backend("numbra")
    result = run_python(PLAY, BOARDENVS_BACKEND="numpi")
    assert "unknown BOARDENVS_BACKEND 'numpi'. Did you mean 'numpy'" in result.stderr


def test_missing_numba_is_named(monkeypatch):
    monkeypatch.setattr("boardenvs.kernel.backend.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"boardenvs\[fast\]"):
        boardenvs.kernel.set_backend("numba")
    boardenvs.kernel.set_backend(None)
    monkeypatch.delenv("BOARDENVS_BACKEND", raising=False)
    assert boardenvs.kernel.get_backend() == "numpy"
