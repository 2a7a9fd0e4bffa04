"""Folders of runs: no dead ends, nothing of others is removed, and damage is found."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch as th

from training.folder import (
    CheckpointError,
    RunError,
    begin,
    load_newest,
    run_folder,
    save_checkpoint,
)
from training.run_settings import PPOConfig

CONFIG = PPOConfig(name="tiny", game="reversi", steps=10)


def make_folder(path, **ways):
    with run_folder(path, CONFIG, **ways):
        begin(path, CONFIG, "resume" in ways)


def put(path, content="mine"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


# ---- runs ----------------------------------------------------------------------------------------


def test_a_run_removes_what_it_wrote_and_nothing_else(tmp_path):
    path = tmp_path / "run"
    make_folder(path)
    ours = [
        put(path / name)
        for name in ("result.json", "checkpoints/000000000005.ckpt", "report.md.1.2.tmp")
    ]
    theirs = [put(path / name) for name in ("thesis.tex", "checkpoints/notes.txt", "x/y")]
    with pytest.raises(RunError, match="--resume goes on with it, --overwrite replaces it"):
        make_folder(path)
    make_folder(path, overwrite=True)
    assert not any(p.exists() for p in ours)
    assert all(p.read_text() == "mine" for p in theirs)


def test_a_run_that_failed_before_its_first_step_begins_again(tmp_path):
    """Settings that somebody put there are not replaced."""
    make_folder(tmp_path)
    make_folder(tmp_path)
    theirs = put(tmp_path / "mine" / "config.yaml", (tmp_path / "config.yaml").read_text() + "# 1")
    with pytest.raises(RunError, match="--overwrite replaces it"):
        make_folder(theirs.parent)
    assert theirs.read_text().endswith("# 1")
    put(tmp_path / "config.yaml", "steps: 5")
    with pytest.raises(RunError, match=r"no config\.yaml of a run; give another by --set"):
        make_folder(tmp_path)


@pytest.mark.parametrize("name", ["report.md", "pool", "checkpoints/000000000001.ckpt"])
def test_a_folder_of_others_with_links_is_not_used(tmp_path, name):
    make_folder(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).symlink_to(tmp_path.parent / "wherever")
    for what in ("a link", "no file"):
        for way in ("resume", "overwrite"):
            with pytest.raises(RunError, match=f"{name}: it is {what}"):
                make_folder(tmp_path, **{way: True})
        (tmp_path / name).unlink(missing_ok=True)
        os.mkfifo(tmp_path / name)


HOLDING = """
import sys; from pathlib import Path; from boardenvs.utils.files import working_alone
with working_alone(Path(sys.argv[1]), ()): print("mine", flush=True); sys.stdin.read()
"""


def test_a_folder_in_which_another_process_writes_is_not_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("runs/tiny")
    make_folder(path)
    before = sorted(path.iterdir())
    command = [sys.executable, "-c", HOLDING, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        for way in ("resume", "overwrite"):
            with pytest.raises(RunError, match="runs/tiny: another process is writing into it"):
                make_folder(path, **{way: True})
        other.communicate(b"")
    make_folder(path, resume=True)
    assert sorted(path.iterdir()) == before


# ---- checkpoints ---------------------------------------------------------------------------------


def with_digest(payload):
    """A checkpoint whose digest is right."""
    return b"boardenvs checkpoint 3\n" + hashlib.sha256(payload).digest() + payload


def saved(value):
    buffer = io.BytesIO()
    th.save(value, buffer)
    return buffer.getvalue()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[:-10],
    "flip": lambda data: data[:-30] + bytes([data[-30] ^ 1]) + data[-29:],
    "digest": lambda data: data[:23] + bytes(32) + data[55:],  # all else is right
    "code": lambda data: with_digest(saved(Path("x"))),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(tmp_path, damage):
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
