"""The cache folder: whose it must be, and what is taken where it cannot be had."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from boardenvs.utils.cache import cache_folder, is_trusted, private_folder


def test_it_is_made_for_this_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = tmp_path / "deep" / "cache"
    monkeypatch.setenv("BOARDENVS_CACHE", str(wanted))
    assert cache_folder() == wanted
    assert stat.S_IMODE(wanted.stat().st_mode) == 0o700


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
