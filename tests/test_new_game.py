"""What `boardenvs new-game` writes can be played and passes its own tests."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run
from variants import random_line

from boardenvs import games
from boardenvs.utils.files import write_atomically


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_its_tests_pass() -> None:
    said = run("new-game", "reach_the_edge", "--rows", "3", "--columns", "4")
    folder = Path("boardenvs-reach-the-edge")
    assert str(folder) in said
    environment = {**os.environ, "PYTHONPATH": str(folder.resolve())}
    environment["NUMBA_OPT"] = "0"
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout
    assert (
        'reach_the_edge = "boardenvs_reach_the_edge:ReachTheEdge"'
        in (folder / "pyproject.toml").read_text()
    )


def test_what_is_written_is_a_game_also_after_a_disk_was_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["new-game", "reach_it", "--rows", "3", "--columns", "4", "--folder", "mine"]
    left = iter(range(3))

    def full(path: Path, content: bytes) -> None:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "full")
        write_atomically(path, content)

    with monkeypatch.context() as patch:
        patch.setattr("boardenvs.cli.games.write_atomically", full)
        assert "full" in run(*words, code=2)
    assert not [path for path in Path("mine").rglob("*") if path.is_file()]
    run(*words)
    monkeypatch.syspath_prepend("mine")
    game = games.make("boardenvs_reach_it:ReachIt")
    del sys.modules["boardenvs_reach_it"]
    assert (game.title, *game.board) == ("Reach it", 3, 4)
    positions, _ = random_line(game, 0, 99)
    assert positions[-1].is_over()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("othello", "there is a game 'othello' already"),
        ("Reach the edge", "is not a name of a game: small letters and digits"),
        ("taken", "boardenvs-taken is there already and not empty"),
    ],
)
def test_nothing_is_overwritten(name: str, message: str) -> None:
    Path("boardenvs-taken").mkdir()
    Path("boardenvs-taken/notes.txt").write_text("mine")
    assert message in " ".join(run("new-game", name, code=2).split())
    assert [path.name for path in Path().rglob("*.*")] == ["notes.txt"]
