"""The cache folder: whose it must be, and what is taken where it cannot be had."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from boardenvs.utils.cache import cache_folder, is_trusted, private_folder

needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as another user"
)


def test_it_is_made_for_this_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = tmp_path / "deep" / "cache"
    monkeypatch.setenv("BOARDENVS_CACHE", str(wanted))
    assert cache_folder() == wanted
    assert stat.S_IMODE(wanted.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_may_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    monkeypatch.setenv("BOARDENVS_CACHE", str(shared))
    with pytest.warns(UserWarning, match="another user owns .*shared, or may write to it"):
        assert cache_folder() == private_folder() != shared
    assert stat.S_IMODE(private_folder().stat().st_mode) == 0o700


@needs_root
def test_a_folder_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o755)
    os.chown(theirs, 12345, 12345)
    monkeypatch.setenv("BOARDENVS_CACHE", str(theirs))
    with pytest.warns(UserWarning, match="another user owns .*theirs"):
        assert cache_folder() == private_folder()
    file = tmp_path / "file"
    file.write_text("planted")
    assert is_trusted(file)
    os.chown(file, 12345, 12345)
    assert not is_trusted(file)


def test_without_a_home_there_is_a_folder_of_the_process() -> None:
    code = (
        "import pathlib\n"
        "def home():\n    raise RuntimeError('Could not determine home directory.')\n"
        "pathlib.Path.home = home\n"
        "from boardenvs.utils.cache import cache_folder\n"
        "print(cache_folder(), cache_folder().is_dir())"
    )
    drop = ("BOARDENVS_CACHE", "XDG_CACHE_HOME", "HOME")
    env = {k: v for k, v in os.environ.items() if k not in drop}
    shown = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert "there is neither a home nor a folder for caches" in shown.stderr
    folder, there = shown.stdout.split()
    assert there == "True"
    assert not Path(folder).exists()  # it went with its process
