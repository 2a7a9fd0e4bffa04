"""The cache of machine code: what is kept, verified, mended, and never run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest
from variants import HERE

pytest.importorskip("numba")

from boardenvs.kernel import Kernel
from boardenvs.kernel.compile_cache import SUFFIX

# ---- processes -----------------------------------------------------------------------------------

# Says whether rules and linked loops are right, and what had to be compiled for them.
CODE = """
import sys, warnings
compiled = []
from numba.core import compiler
original = compiler.compile_extra
def counted(*arguments, **named):
    function = named.get("func") or arguments[2]
    compiled.append(f"{function.__module__}.{function.__qualname__}")
    return original(*arguments, **named)
compiler.compile_extra = counted
import numba.core.dispatcher
numba.core.dispatcher.compiler.compile_extra = counted
import boardenvs, loops_perft, numpy as np
from boardenvs.kernel.link import link
from boardenvs.search.compiler import position_words
game, none = boardenvs.games.make("tictactoe"), np.zeros(2, np.uint64)
a, b = np.full((2, 2), 9, np.uint64)
game.kernels.points.batch([np.array([7, 3], np.uint64), none, none], [a, b])
roots = position_words(game.init(1)).ravel()
links = {"step_words": game.kernels.step_words, "sample": game.kernels.sample}
sizes = {"WORD_COUNT": 2, "KNOWN_WORDS": 2, "ALTERNATES": True}
sizes |= {"LEGAL_WORDS": game.legal_words, "NOOP": game.noop}
perft = link(loops_perft, links, sizes).perft
print([*a, *b] == [1, 0, 0, 0] and perft(roots, 0, 4), *compiled)
"""


def run(folder: Path, code: str = CODE) -> tuple[str, str]:
    """What a fresh process prints, and what it says beside."""
    env = {**os.environ, "BOARDENVS_BACKEND": "numba", "BOARDENVS_CACHE": str(folder)}
    env["PYTHONPATH"] = os.pathsep.join(map(str, (HERE.parent, HERE)))
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
    assert [row.pop(0) for row in printed] == ["3024", "3024"]
    one, other = map(set, printed)
    assert one | other
    assert not one & other
    return folder


def test_processes_that_start_together_fill_it_once_and_for_this_user_alone(warm: Path) -> None:
    files = list(warm.glob("*.machine*"))
    assert {file.suffix for file in files} == {SUFFIX}
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    before = warm.stat().st_mtime_ns
    assert run(warm) == ("3024", "")
    assert warm.stat().st_mtime_ns == before  # not even a lock was made there


def test_a_warm_cache_of_root_that_cannot_be_written_to_is_used(warm: Path) -> None:
    """As in a container: made by root, used by somebody else, who has no home."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        folder = shutil.copytree(warm, Path(parent) / "cache")
        for each in (folder, *folder.iterdir()):
            each.chmod(0o755 if each.is_dir() else 0o644)
        # What Python itself needs is loaded before, as its files may be root's alone.
        become = (
            "import os, numba, loops_perft, boardenvs.kernel.compile_cache\n"
            "numba.njit(lambda x: x + 1)(1)\n"
            "os.environ.pop('HOME', None)\nos.setuid(12345)\n"
            "assert not os.access(os.environ['BOARDENVS_CACHE'], os.W_OK)\n"
        )
        code = CODE.replace("compiled = []", f"{become}compiled = []")
        assert run(folder, code) == ("3024", "")


# ---- files ---------------------------------------------------------------------------------------


@pytest.fixture
def folder(in_machine_code: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BOARDENVS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def plus(number: int) -> int:
    """This number and one, by a rule that adds it and that is compiled or loaded anew."""
    return Kernel(lambda word: word + number, 1, "plus").one(1)[0]


def test_what_is_damaged_or_others_may_write_is_compiled_anew(folder: Path) -> None:
    assert plus(5) == 6
    (file,) = folder.glob("*.machine*")
    content = file.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]
    for damaged in (flipped, content[:9], b"", content + b"x"):
        file.write_bytes(damaged)
        with pytest.warns(RuntimeWarning, match=r"it is damaged\): it is compiled anew"):
            assert plus(5) == 6
    file.chmod(0o666)
    with pytest.warns(RuntimeWarning, match="another user owns it or may write to it"):
        assert plus(5) == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plus(5) == 6
    assert list(folder.glob("*.machine*")) == [file]


def test_a_changed_rule_is_another_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the same one, optimized less far."""
    assert [plus(5), plus(6), plus(6)] == [6, 7, 7]
    assert len(list(folder.glob("*.machine*"))) == 2
    monkeypatch.setattr("numba.config.OPT", 1)
    assert plus(5) == 6
    assert len(list(folder.glob("*.machine*"))) == 3


def test_a_folder_that_cannot_be_made_does_no_harm(folder: Path) -> None:
    folder.write_text("")
    with pytest.warns(UserWarning, match="cache"):
        assert plus(7) == 8
