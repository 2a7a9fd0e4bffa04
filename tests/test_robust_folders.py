"""Folders of runs and tournaments: no dead ends, and nothing of others is removed."""

from __future__ import annotations

import errno
import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th
from same import same

from boardenvs.arena import make_settings, run_tournament, tournament, write_results
from boardenvs.utils.files import written
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


def play(path: Path, overwrite: bool = False) -> None:
    write_results(run_tournament(TOURNAMENT, path, overwrite=overwrite, workers=0), path)


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
    put(path / "config.yaml.123.456.tmp")  # of a kill
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
    paths = [save_checkpoint(tmp_path, steps, to_tensors(content)) for steps in (1, 20, 300)]
    assert sorted(tmp_path.iterdir()) == paths[1:]
    assert same(to_arrays(load_newest(tmp_path)[1]), content)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[:-10],
    "flip": lambda data: data[:-30] + bytes([data[-30] ^ 1]) + data[-29:],
    "empty": lambda data: b"",
    "foreign": lambda data: b"PK" + data,
    "list": lambda data: with_digest(saved([1, 2])),
    "code": lambda data: with_digest(saved(Path("x"))),
    "no torch": lambda data: with_digest(b"no torch file"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(
    tmp_path: Path, damage: str
) -> None:
    older, newer = (save_checkpoint(tmp_path, steps, {"steps": steps}) for steps in (1, 2))
    newer.write_bytes(DAMAGES[damage](newer.read_bytes()))
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
    run, restored = tmp_path / "run", list[int]()

    def restore(content: dict[str, Any]) -> list[str]:
        restored.append(content["steps"])
        return ["restored with a warning"]

    make_folder(run, CONFIG, overwrite=False)
    config = CONFIG.model_dump(mode="json")
    older = save_checkpoint(run / "checkpoints", 1, {"config": config, "steps": 1})
    newer = save_checkpoint(run / "checkpoints", 2, {"config": config})
    stale = put(run / "checkpoints" / "000000000003.ckpt.123.456.tmp")  # of a kill
    theirs = put(run / "checkpoints" / "notes.1.2.tmp")
    found, warnings = find_checkpoint(run, CONFIG, restore)
    assert found
    assert restored == [1]
    assert (stale.exists(), theirs.exists()) == (False, True)
    assert str(newer) in warnings[0]
    assert "KeyError: 'steps'" in warnings[0]
    assert warnings[1:] == ["restored with a warning"]
    for path in (older, newer):
        path.write_bytes(with_digest(saved({"config": "none"})))
    with pytest.raises(CheckpointError, match="no checkpoint can be used"):
        find_checkpoint(run, CONFIG, restore)


# ---- tournaments ---------------------------------------------------------------------------------


def test_a_tournament_removes_what_it_wrote_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk where it begins, or begins anew, is no dead end."""
    path = tmp_path / "arena"
    on_a_full_disk(monkeypatch, tournament, lambda: play(path))
    stale = put(path / "journal.jsonl.123.456.tmp")  # of a kill
    play(path)
    assert not stale.exists()
    ours = {p for p in path.rglob("*") if p.is_file()}
    assert ours == set(written(path, tournament.WRITTEN))
    theirs = {put(path / name) for name in ("thesis.tex", "reversi/photo.png", "notes.1.2.tmp")}
    for name in ("journal.jsonl", "report.md", "reversi/ratings.svg"):
        put(path / f"{name}.123.456.tmp")
    run_tournament(TOURNAMENT, path, resume=True, workers=0)
    assert {p for p in path.rglob("*") if p.is_file()} == ours | theirs
    put(path / "othello" / "heatmap.svg")
    on_a_full_disk(monkeypatch, tournament, lambda: play(path, overwrite=True))
    play(path, overwrite=True)  # it is still known to be a tournament
    assert {p for p in path.rglob("*") if p.is_file()} == ours | theirs
    assert all(p.read_text() == "mine" for p in theirs)


@pytest.mark.parametrize(
    "content",
    ["my diary\n", "name: x\n", "{}\n", "[1, 2]", "", '{"format": 1}\n', "\0", "[" * 100_000],
)
def test_what_others_keep_under_our_names_is_not_replaced(tmp_path: Path, content: str) -> None:
    run, arena = tmp_path / "run", tmp_path / "arena"
    kept = [
        *(put(run / "config.yaml", content), put(run / "result.json")),
        *(put(arena / "journal.jsonl", content), put(arena / "results.json")),
    ]
    before = [path.read_bytes() for path in kept]
    with pytest.raises(RunError, match=r"its config\.yaml has no settings of a run"):
        make_folder(run, CONFIG, overwrite=True)
    with pytest.raises(ValueError, match=r"its journal\.jsonl is of no tournament"):
        play(arena, overwrite=True)
    assert [path.read_bytes() for path in kept] == before
