"""A match where nothing is ours: as another user, in a tree that cannot be written to, without a
home, and with a cache that somebody else has filled.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
USER, OTHER = 12345, 23456  # nobody's numbers

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as another user"
)

# Python's own folder may be closed to other users: what is imported later is imported before, by
# the same command on another game, with nothing kept.
MATCH = """
import os, sys
from boardenvs.cli import app
words = ["random", "greedy", "--pairs", "2"]
app(["match", "othello_holes", *words], standalone_mode=False)
from boardenvs.utils import cache
cache._usable.cache_clear()
cache.private_folder.cache_clear()
for name in ("BOARDENVS_CACHE", "HOME", "XDG_CACHE_HOME"):
    os.environ.pop(name, None)
os.environ.update(word.split("=", 1) for word in sys.argv[2:])
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
print("--- as another user", flush=True)
app(["match", "othello", *words])
"""


class Planted:
    """Says who runs it, where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return exec, (f"open({str(self.mark)!r}, 'w').close()",)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The package as a container has it: for all to read, for nobody to write."""
    folder = tmp_path / "tree"
    shutil.copytree(
        ROOT / "boardenvs", folder / "boardenvs", ignore=shutil.ignore_patterns("__pycache__")
    )
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    for parent in tmp_path.parents[:3]:
        if parent != Path("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o011)  # to be walked through
    tmp_path.chmod(0o755)
    return folder


def match(tree: Path, backend: str, user: int, *environment: str) -> str:
    """What a match of Othello prints, where the cache is as the environment says."""
    warm = tree.parent / "warm"
    warm.mkdir(mode=0o700, exist_ok=True)
    process = subprocess.run(
        [sys.executable, "-B", "-c", MATCH, str(user), *environment],
        cwd=tree,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(tree),
            "BOARDENVS_BACKEND": backend,
            "BOARDENVS_CACHE": str(warm),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in process.stderr, process.stderr
    assert process.returncode == 0, process.stderr
    played = process.stdout.partition("--- as another user")[2]
    assert "greedy" in played
    return played


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.skipif(not find_spec("numba"), reason="numba is not installed")
def test_a_planted_cache_is_not_run(tree: Path, tmp_path: Path) -> None:
    ours, theirs, mark = tmp_path / "ours", tmp_path / "theirs", tmp_path / "mark"
    ours.mkdir(mode=0o700)
    expected = match(tree, "numba", 0, f"BOARDENVS_CACHE={ours}")
    assert list(ours.glob("*.machine_code"))
    payload = pickle.dumps(Planted(mark))
    theirs.mkdir()
    for name in os.listdir(ours):
        (theirs / name).write_bytes(hashlib.sha256(payload).digest() + payload)
        os.chown(theirs / name, OTHER, OTHER)
    os.chown(theirs, OTHER, OTHER)
    theirs.chmod(0o777)
    tmp_path.chmod(0o777)  # so that the mark could be made
    before = contents(theirs), contents(tree)
    assert match(tree, "numba", USER, f"BOARDENVS_CACHE={theirs}") == expected
    assert not mark.exists()
    assert (contents(theirs), contents(tree)) == before
    # It would have been run where the user had written it: the names are those looked for.
    theirs.chmod(0o700)
    for path in (theirs, *theirs.iterdir()):
        os.chown(path, USER, USER)
    assert match(tree, "numba", USER, f"BOARDENVS_CACHE={theirs}") == expected
    assert mark.exists()


def test_without_a_home_and_with_a_cache_that_cannot_be_written(tree: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    expected = match(tree, "numpy", 0)
    before = contents(tree)
    for environment in ((), ("HOME=/nowhere",), (f"BOARDENVS_CACHE={closed}",)):
        assert match(tree, "numpy", USER, *environment) == expected
    assert contents(tree) == before
    assert not list(closed.iterdir())
