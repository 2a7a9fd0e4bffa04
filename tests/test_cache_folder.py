"""The cache folder: whose it must be, and what is taken where it cannot be had."""

from __future__ import annotations

import os
import stat
from pathlib import Path

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
