"""Which backend is chosen, and what its cache of machine code does for other processes."""

import os
import subprocess
import sys

import pytest

import boardenvs

pytest.importorskip("numba", reason="the extra fast is not installed")


@pytest.fixture(autouse=True)
def _restore_backend():
    before = boardenvs.kernel.get_backend()
    yield
    boardenvs.kernel.set_backend(before)


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
