"""The cache folder: whose it must be, and what is taken where it cannot be had."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from boardenvs.utils.cache import cache_folder, is_trusted, keep, private_folder, read_kept


def test_it_is_made_for_this_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = tmp_path / "deep" / "cache"
    monkeypatch.setenv("BOARDENVS_CACHE", str(wanted))
    assert cache_folder() == wanted
    assert stat.S_IMODE(wanted.stat().st_mode) == 0o700


def test_it_lies_where_the_user_s_caches_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOARDENVS_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "boardenvs"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == tmp_path / ".cache" / "boardenvs"

    def nowhere(kind: type[Path]) -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", classmethod(nowhere))
    with pytest.warns(UserWarning, match="there is neither a home nor a folder for caches"):
        assert cache_folder() == private_folder()


def test_what_is_kept_is_this_user_s_alone(tmp_path: Path) -> None:
    path, other = tmp_path / "rules", tmp_path / "rules2.1.2.tmp"
    for left_over in (tmp_path / "rules.1.2.tmp", other):
        left_over.touch()
    keep(path, b"123")
    assert {*tmp_path.iterdir()} == {path, other}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_kept(path, most=3) == b"123"
    with pytest.raises(OSError, match="it has more than 2 bytes"):
        read_kept(path, most=2)
    for mode in (0o620, 0o602):
        path.chmod(mode)
        with pytest.raises(PermissionError, match="another user owns it or may write to it"):
            read_kept(path)


OTHER = 12345  # a user


@pytest.mark.parametrize(
    ("mode", "owner"), [(0o777, None), (0o770, None), (0o1777, None), (0o755, OTHER)]
)
def test_a_folder_that_others_own_or_may_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, owner: int | None
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    if owner is not None:
        if not hasattr(os, "geteuid") or os.geteuid() != 0:
            pytest.skip("only root can act as another user")
        os.chown(shared, owner, owner)
    assert not is_trusted(shared)
    monkeypatch.setenv("BOARDENVS_CACHE", str(shared))
    with pytest.warns(UserWarning, match="another user owns .*shared, or may write to it"):
        assert cache_folder() == private_folder() != shared
    assert stat.S_IMODE(private_folder().stat().st_mode) == 0o700


# ---- machine code in it; with compiling: `test_compile_cache.py` ---------------------------------


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The cache of machine code, in an empty folder."""
    monkeypatch.setenv("BOARDENVS_CACHE", str(tmp_path / "cache"))
    return pytest.importorskip("boardenvs.kernel.compile_cache")


def test_a_file_of_machine_code_is_named_by_all_that_it_depends_on(
    compiled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    numba = pytest.importorskip("numba")
    make: Any = namedtuple
    one, other = (make("Fields", names)(1, 2) for names in ("a b", "b a"))

    def named(source: str = "a", function: str = "f", kind: Any = 1, processor: str = "x") -> str:
        made_of = SimpleNamespace(__globals__={"SOURCE_DIGEST": source}, __name__=function)
        codegen = SimpleNamespace(magic_tuple=lambda: (processor,))
        signature = (numba.typeof(kind), numba.typeof(1))
        return str(compiled.MachineCode(made_of).path(signature, codegen))

    names = [named(), named("b"), named(function="g"), named(kind=1.0), named(processor="y")]
    names += [named(kind=one), named(kind=other)]
    for module, name, value in (
        (compiled, "FORMAT", 0),
        (numba, "__version__", "0"),
        (compiled.sys, "version_info", (0,)),
        (numba.config, "OPT", 9),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(module, name, value)
            names.append(named())
    assert len(set(names)) == len(names) == 11
    assert named() == names[0]


def test_machine_code_that_is_damaged_is_not_read(compiled: Any) -> None:
    path, content = cache_folder() / f"a{compiled.SUFFIX}", b"machine code"
    assert compiled._read(path) is None  # as there is none
    whole = hashlib.sha256(content).digest() + content
    keep(path, whole)
    assert compiled._read(path) == content
    for damaged in (whole[:-1], b"x" + whole[1:], whole[:7]):
        keep(path, damaged)
        with pytest.warns(RuntimeWarning, match="is not used .it is damaged.: it is compiled anew"):
            assert compiled._read(path) is None


def test_ctrl_c_ends_what_compiles_and_nothing_else_does(
    compiled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = list[Any]()
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    hook, other = sys.unraisablehook, SimpleNamespace(exc_type=KeyError)
    with compiled._interruptible():
        sys.unraisablehook(other)
    assert printed == [other]
    with pytest.raises(KeyboardInterrupt), compiled._interruptible():
        sys.unraisablehook(SimpleNamespace(exc_type=KeyboardInterrupt))
    assert (printed, sys.unraisablehook) == ([other], hook)


def test_compiling_is_announced_once(
    compiled: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compiled, "_announced", False)
    with caplog.at_level("INFO", "boardenvs"):
        compiled._announce()
        compiled._announce()
    assert caplog.text.count("compiling with Numba") == 1
    assert f"kept in {cache_folder()}" in caplog.text
