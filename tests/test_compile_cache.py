"""The cache of machine code: what is kept, verified, mended, and never run."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest

pytest.importorskip("numba")

from boardenvs.kernel import compile_cache
from boardenvs.kernel.compile_cache import SUFFIX

CODE = """
import sys, warnings
compiled = []
from numba.core import compiler
original = compiler.compile_extra
def counted(*arguments, **named):
    compiled.append(named.get("func") or arguments[2])
    return original(*arguments, **named)
compiler.compile_extra = counted
import numba.core.dispatcher
numba.core.dispatcher.compiler.compile_extra = counted
import boardenvs
game = boardenvs.games.make("othello")
state = game.init(3)
a, b = state.own.copy(), state.opp.copy()
game.kernels.points.batch([state.own, state.opp, state.own], [a, b])
print(a.tolist() == [2, 2, 2] == b.tolist(), len(compiled))
"""


def run(folder: Path, code: str = CODE) -> tuple[str, str]:
    """What a fresh process prints, and what it says beside."""
    env = {k: v for k, v in os.environ.items() if k not in ("BOARDENVS_BACKEND",)}
    env["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path[:1]])
    env["BOARDENVS_CACHE"] = str(folder)
    shown = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    return shown.stdout.strip(), shown.stderr


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that two processes which started together have filled, each function once."""
    folder = tmp_path_factory.mktemp("warm")
    folder.chmod(0o700)
    with ThreadPool(2) as threads:
        printed = [shown.split() for shown, _ in threads.map(run, [folder] * 2)]
    assert [right for right, _ in printed] == ["True", "True"]
    assert sum(int(compiled) for _, compiled in printed) == len(list(folder.iterdir())) > 0
    return folder


def copy(warm: Path, folder: Path) -> Path:
    folder.mkdir(mode=0o700)
    for file in warm.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
        (folder / file.name).chmod(0o600)
    return folder


def test_processes_that_start_together_fill_it_once_and_for_this_user_alone(warm: Path) -> None:
    files = list(warm.iterdir())
    assert files
    assert {file.suffix for file in files} == {SUFFIX}
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    before = warm.stat().st_mtime_ns
    assert run(warm) == ("True 0", "")
    assert warm.stat().st_mtime_ns == before  # not even a lock was made there


def flip_a_bit(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]


def test_what_is_damaged_is_not_read(tmp_path: Path) -> None:
    content = hashlib.sha256(b"machine code").digest() + b"machine code"
    file = tmp_path / f"file{SUFFIX}"
    file.write_bytes(content)
    file.chmod(0o600)
    assert compile_cache._read(file) == b"machine code"
    for damaged in (flip_a_bit(content), content[:-9], content[:9], b"", b"x" * 99, content + b"x"):
        file.write_bytes(damaged)
        with pytest.warns(RuntimeWarning, match=r"it is damaged\): it is compiled anew"):
            assert compile_cache._read(file) is None


def test_what_is_damaged_or_others_may_write_is_not_run(warm: Path, tmp_path: Path) -> None:
    folder = copy(warm, tmp_path / "cache")
    damaged, *open_to_all = folder.iterdir()
    damaged.write_bytes(flip_a_bit(damaged.read_bytes()))
    assert open_to_all
    for file in open_to_all:
        file.chmod(0o666)
    printed, said = run(folder)
    assert printed == f"True {len(list(warm.iterdir()))}"
    assert "it is damaged): it is compiled anew" in said
    assert "another user owns it or may write to it): it is compiled anew" in said
    assert run(folder) == ("True 0", "")


def test_what_others_planted_is_not_run(warm: Path, tmp_path: Path) -> None:
    """Neither a file of theirs in a folder that they may write, nor anything else there."""
    folder = copy(warm, tmp_path / "cache")
    folder.chmod(0o777)
    printed, _ = run(folder)
    assert printed.startswith("True ")
    assert printed != "True 0"  # a folder of the process is used


def test_a_folder_that_cannot_be_made_does_no_harm(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    printed, _ = run(blocked / "sub")
    assert printed.startswith("True ")
    assert printed != "True 0"


def test_a_warm_cache_of_root_that_cannot_be_written_to_is_used(warm: Path) -> None:
    """As in a container: made by root, used by somebody else, who has no home."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        folder = copy(warm, Path(parent) / "cache")
        for each in (folder, *folder.iterdir()):
            each.chmod(0o755 if each.is_dir() else 0o644)
        # What Python itself needs is loaded before, as its files may be root's alone.
        become = (
            "import os, numba, boardenvs.kernel.compile_cache\n"
            "numba.njit(lambda x: x + 1)(1)\n"
            "os.environ.pop('HOME', None)\nos.setuid(12345)\n"
            "assert not os.access(os.environ['BOARDENVS_CACHE'], os.W_OK)\n"
        )
        assert run(folder, CODE.replace("compiled = []", f"{become}compiled = []")) == (
            "True 0",
            "",
        )


def test_a_changed_rule_is_another_file(warm: Path, tmp_path: Path) -> None:
    folder = copy(warm, tmp_path / "cache")
    before = set(folder.iterdir())
    code = CODE.replace(
        "game = ",
        "from boardenvs.games import othello\n"
        "othello.popcount = lambda x: boardenvs.kernel.popcount(x) + 1\ngame = ",
    ).replace("[2, 2, 2]", "[3, 3, 3]")
    printed, _ = run(folder, code)
    assert printed.startswith("True ")
    assert set(folder.iterdir()) > before


# A signal that comes while LLVM works is heard by the first Python code that LLVM calls.
INTERRUPTED = """
import sys
def trace(frame, event, argument):
    if "llvmlite" in frame.f_code.co_filename and "notify" in frame.f_code.co_name:
        raise KeyboardInterrupt
import boardenvs
game = boardenvs.games.make("othello")
sys.settrace(trace)
try:
    game.init(3)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interruption_ends_compiling(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    assert run(tmp_path, INTERRUPTED) == ("interrupted", "")
