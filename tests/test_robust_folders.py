"""Folders of runs: no dead ends, nothing of others is removed, and damage is found."""

from __future__ import annotations

import errno
import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch as th

from training import folder
from training.folder import (
    CheckpointError,
    RunError,
    load_newest,
    make_folder,
    save_checkpoint,
)
from training.run_settings import PPOConfig

CONFIG = PPOConfig(name="tiny", game="reversi", steps=10)


pytestmark = pytest.mark.usefixtures("in_python")


def on_a_full_disk(patch: pytest.MonkeyPatch, module: Any, work: Callable[[], None]) -> None:
    """Work of which nothing can be written."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with patch.context() as context:
        context.setattr(module, "write_atomically", full)
        with pytest.raises(OSError, match="No space left"):
            work()


def put(path: Path, content: str = "mine") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


# ---- runs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_run_removes_what_it_wrote_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overwrite: bool
) -> None:
    """A full disk where it begins, or begins anew, is no dead end."""
    path, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    on_a_full_disk(monkeypatch, folder, lambda: make_folder(path, CONFIG, overwrite=False))
    make_folder(path, CONFIG, overwrite)
    assert [p.name for p in path.iterdir()] == ["config.yaml"]
    ours = [
        put(path / name)
        for name in ("result.json", "checkpoints/000000000005.ckpt", "report.md.1.2.tmp",
                     "tensorboard/events.out.tfevents.1", "positions/000000002048.npz")
    ]  # fmt: skip
    theirs = [
        put(path / name)
        for name in ("thesis.tex", "checkpoints/notes.txt", "tensorboard/x", "x/y", "report.html/x")
    ]
    theirs.append(put(elsewhere / "000000002048.npz"))
    (path / "pool").symlink_to(elsewhere)
    with pytest.raises(RunError, match="--resume goes on with it, --overwrite replaces it"):
        make_folder(path, CONFIG, overwrite=False)
    on_a_full_disk(monkeypatch, folder, lambda: make_folder(path, CONFIG, overwrite=True))
    make_folder(path, CONFIG, overwrite=True)  # it is still known to be a run
    assert not any(p.exists() for p in ours)
    assert not (path / "positions").exists()  # in which nothing else was
    assert all(p.read_text() == "mine" for p in theirs)


# ---- checkpoints ---------------------------------------------------------------------------------


def with_digest(payload: bytes) -> bytes:
    """A checkpoint whose digest is right."""
    return b"boardenvs checkpoint 2\n" + hashlib.sha256(payload).digest() + payload


def saved(value: Any) -> bytes:
    buffer = io.BytesIO()
    th.save(value, buffer)
    return buffer.getvalue()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[:-10],
    "flip": lambda data: data[:-30] + bytes([data[-30] ^ 1]) + data[-29:],
    "code": lambda data: with_digest(saved(Path("x"))),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(
    tmp_path: Path, damage: str
) -> None:
    for steps in (1, 2):
        save_checkpoint(tmp_path, steps, {"steps": steps})
    older, newer = sorted(tmp_path.iterdir())
    newer.write_bytes(DAMAGES[damage](newer.read_bytes()))
    content, (problem,) = load_newest(tmp_path)
    assert content == {"steps": 1}
    assert str(newer) in problem
    assert str(older) in problem
    older.unlink()
    with pytest.raises(CheckpointError, match=newer.name):
        load_newest(tmp_path)
    newer.unlink()
    assert load_newest(tmp_path) == (None, [])
