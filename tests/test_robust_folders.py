"""Folders of runs and tournaments: no dead ends, and nothing of others is removed."""

from __future__ import annotations

import errno
import hashlib
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th
from same import same

from boardenvs.arena import journal, make_settings, run_tournament, tournament, write_results
from boardenvs.utils.files import check_folder, written
from training import folder
from training.checkpoint import (
    CheckpointError,
    load_newest,
    save_checkpoint,
    to_arrays,
    to_tensors,
)
from training.config import Config
from training.folder import RunError, find_checkpoint, make_folder

CONFIG = Config(name="tiny", game="reversi", steps=10)
TOURNAMENT = make_settings(["random", "greedy"], ["reversi"], pairs=1)


pytestmark = pytest.mark.usefixtures("in_python")


def play(path: Path, *, resume: bool = False, overwrite: bool = False) -> None:
    found = run_tournament(TOURNAMENT, path, resume=resume, overwrite=overwrite, workers=0)
    write_results(found, path)


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def put(path: Path, content: str = "mine") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


# ---- runs ----------------------------------------------------------------------------------------


def test_a_full_disk_at_the_start_of_a_run_is_no_dead_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [tmp_path / name for name in ("plain", "overwritten")]
    with monkeypatch.context() as patch:
        patch.setattr(folder, "write_atomically", full)
        for path in runs:
            with pytest.raises(OSError, match="No space left"):
                make_folder(path, CONFIG, overwrite=False)
            put(path / "config.yaml.123.456.tmp")  # of a kill
    for path, overwrite in zip(runs, (False, True), strict=True):
        make_folder(path, CONFIG, overwrite)
        assert [p.name for p in path.iterdir()] == ["config.yaml"]


def test_a_full_disk_while_a_run_is_overwritten_is_no_dead_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its settings are the last of it that goes, so that it is still known to be a run."""
    path = tmp_path / "run"
    make_folder(path, CONFIG, overwrite=False)
    put(path / "result.json")
    theirs = put(path / "thesis.tex")
    with monkeypatch.context() as patch:
        patch.setattr(folder, "write_atomically", full)
        with pytest.raises(OSError, match="No space left"):
            make_folder(path, CONFIG, overwrite=True)
    make_folder(path, CONFIG, overwrite=True)
    assert {p.name for p in path.iterdir()} == {"config.yaml", "thesis.tex"}
    assert theirs.read_text() == "mine"


def test_overwriting_a_run_removes_what_it_wrote_and_nothing_else(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    make_folder(path, CONFIG, overwrite=False)
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
    make_folder(path, CONFIG, overwrite=True)
    assert not any(p.exists() for p in ours)
    assert not (path / "positions").exists()  # in which nothing else was
    assert all(p.read_text() == "mine" for p in theirs)


@pytest.mark.parametrize("content", ["my diary", "name: x\n", "[1, 2]", "\0", "[" * 10_000])
def test_a_configuration_of_others_is_not_replaced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "run"
    kept = [put(path / "config.yaml", content), put(path / "result.json")]
    before = [p.read_bytes() for p in kept]
    with pytest.raises(RunError, match=r"its config\.yaml has no settings of a run"):
        make_folder(path, CONFIG, overwrite=True)
    assert [p.read_bytes() for p in kept] == before


# ---- checkpoints ---------------------------------------------------------------------------------


def with_digest(payload: bytes) -> bytes:
    """A checkpoint whose digest is right."""
    return b"boardenvs checkpoint 1\n" + hashlib.sha256(payload).digest() + payload


def saved(value: Any) -> bytes:
    buffer = io.BytesIO()
    th.save(value, buffer)
    return buffer.getvalue()


def test_the_last_two_checkpoints_are_kept_with_arrays_of_every_type(tmp_path: Path) -> None:
    content = {
        "words": np.array([1, 2**64 - 1], np.uint64),
        "nested": ({"flags": np.array([True])}, [np.array([1], np.int8), 3, "x", None, 2**100]),
    }
    for steps in (1, 20, 300):
        save_checkpoint(tmp_path, steps, to_tensors(content))
    assert [p.name for p in sorted(tmp_path.iterdir())] == [
        "000000000020.ckpt",
        "000000000300.ckpt",
    ]
    assert same(to_arrays(load_newest(tmp_path)[1]), content)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "foreign", "list", "code", "no torch"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(
    tmp_path: Path, damage: str
) -> None:
    older = save_checkpoint(tmp_path, 1, {"steps": 1})
    newer = save_checkpoint(tmp_path, 2, {"steps": 2})
    data = newer.read_bytes()
    flipped = data[:-30] + bytes([data[-30] ^ 1]) + data[-29:]
    newer.write_bytes(
        {
            "cut": data[:-10], "flip": flipped, "empty": b"", "foreign": b"PK" + data,
            "list": with_digest(saved([1, 2])), "code": with_digest(saved(Path("x"))),
            "no torch": with_digest(b"no torch file"),
        }[damage]
    )  # fmt: skip
    path, content, (problem,) = load_newest(tmp_path)
    assert (path, content) == (older, {"steps": 1})
    assert str(newer) in problem
    assert "weights_only" not in problem
    assert "\n" not in problem
    older.unlink()
    with pytest.raises(CheckpointError, match=newer.name):
        load_newest(tmp_path)
    newer.unlink()
    with pytest.raises(CheckpointError, match="no checkpoint in"):
        load_newest(tmp_path)


def test_a_checkpoint_of_something_else_is_passed_over(tmp_path: Path) -> None:
    make_folder(tmp_path / "run", CONFIG, overwrite=False)
    config = CONFIG.model_dump(mode="json")
    checkpoints = tmp_path / "run" / "checkpoints"
    save_checkpoint(checkpoints, 1, {"config": config, "steps": 1})
    newer = save_checkpoint(checkpoints, 2, {"config": config})
    restored = []

    def restore(content: dict[str, Any]) -> list[str]:
        restored.append(content["steps"])
        return ["restored with a warning"]

    stale = put(checkpoints / "000000000003.ckpt.123.456.tmp")  # of a kill
    theirs = put(checkpoints / "notes.1.2.tmp")
    found, warnings = find_checkpoint(tmp_path / "run", CONFIG, restore)
    assert found
    assert restored == [1]
    assert not stale.exists()
    assert theirs.exists()
    assert str(newer) in warnings[0]
    assert "KeyError: 'steps'" in warnings[0]
    assert warnings[1:] == ["restored with a warning"]
    for path in checkpoints.glob("*.ckpt"):
        path.write_bytes(with_digest(saved({"config": "none"})))
    with pytest.raises(CheckpointError, match="no checkpoint can be used"):
        find_checkpoint(tmp_path / "run", CONFIG, restore)


# ---- tournaments ---------------------------------------------------------------------------------


def test_a_full_disk_at_the_start_of_a_tournament_is_no_dead_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "arena"
    with monkeypatch.context() as patch:
        patch.setattr(journal, "write_atomically", full)
        with pytest.raises(OSError, match="No space left"):
            play(path)
    put(path / "journal.jsonl.123.456.tmp")
    play(path)
    assert (path / "results.json").exists()
    assert not list(path.glob("*.tmp"))


def test_what_kills_left_goes_when_work_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "arena"
    play(path)
    theirs = put(path / "notes.1.2.tmp")
    for name in ("journal.jsonl", "report.md", "reversi/ratings.png"):
        put(path / f"{name}.123.456.tmp")
    play(path, resume=True)
    assert list(path.rglob("*.tmp")) == [theirs]


def test_overwriting_a_tournament_removes_what_it_wrote_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "arena"
    play(path)
    ours = [p for p in path.rglob("*") if p.is_file()]
    assert set(ours) == set(written(path, tournament.WRITTEN))
    theirs = [put(path / "thesis.tex"), put(path / "reversi" / "photo.png")]
    stale = put(path / "othello" / "heatmap.png")
    with monkeypatch.context() as patch:
        patch.setattr(journal, "write_atomically", full)
        with pytest.raises(OSError, match="No space left"):
            play(path, overwrite=True)
    play(path, overwrite=True)  # it is still known to be a tournament
    assert all(p.read_text() == "mine" for p in theirs)
    assert not stale.exists()
    assert all(p.exists() for p in ours)


@pytest.mark.parametrize("content", ["my diary\n", "{}\n", "", '{"format": 1}\n', "[" * 100_000])
def test_a_journal_of_others_is_not_replaced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "arena"
    kept = [put(path / "journal.jsonl", content), put(path / "results.json")]
    with pytest.raises(ValueError, match=r"its journal\.jsonl is of no tournament"):
        play(path, overwrite=True)
    assert [p.read_text() for p in kept] == [content, "mine"]


def test_folders_that_cannot_be_made_are_named(tmp_path: Path) -> None:
    check_folder(tmp_path / "a" / "b")
    file = put(tmp_path / "file")
    with pytest.raises(NotADirectoryError) as caught:
        check_folder(file / "a")
    assert str(file / "a") in str(caught.value)
    assert not (tmp_path / "a").exists()
