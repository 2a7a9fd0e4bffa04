"""Lists trainings and tournaments in a folder for the page, without changing anything.

A training's folder has `config.yaml`, a tournament's `journal.jsonl`. Folders can come from other
people, so links are not followed, and only limited amounts are read.
"""

from __future__ import annotations

import contextlib
import csv
import math
import time
from pathlib import Path
from typing import Any

from boardenvs.utils.checks import cut
from boardenvs.utils.decoding import parse_yaml
from boardenvs.utils.spec import write_spec

CONFIG, JOURNAL, POLICY, REPORT = "config.yaml", "journal.jsonl", "policy.npz", "report.html"
EVALUATIONS = "evaluations.csv"
_KINDS = {"training": CONFIG, "tournament": JOURNAL}
_MOST_SETTINGS, _MOST_EVALUATED = 16 << 10, 256 << 10  # bytes
_MOST_CURVES, _MOST_OPPONENTS = 40, 6
_SCORE, _WORST = "evaluation/", "evaluation/worst"  # names of metrics


def list_runs(folder: Path) -> list[dict[str, Any]]:
    """Return the trainings and tournaments in the folder, the latest first.

    Each has `name`, `kind`, `age` in seconds and whether it has a `report`. A training also has its
    `game`, the agent's text of its `policy` (both may be None), and if it is one of the latest its
    `curve`: (steps, score) of each evaluation, by opponent.
    """
    found = []
    for path in _folders(folder):
        for kind, file in _KINDS.items():
            if _is_file(path / file):
                with contextlib.suppress(OSError):  # it is being removed
                    found.append(_describe(path, kind))
    found.sort(key=lambda run: run["age"])
    for run in found[:_MOST_CURVES]:
        run["curve"] = _curve(folder / run["name"] / EVALUATIONS)
    return found


def report_of(folder: Path, name: str) -> Path:
    """Return the path of a report; ValueError if there is none."""
    path = folder / name / REPORT
    known = any(run.name == name for run in _folders(folder))
    if not (known and _is_file(path)):
        raise ValueError(f"{cut(name)!r} has no report")
    return path


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink())
    except OSError:
        return []


def _describe(path: Path, kind: str) -> dict[str, Any]:
    times = [path.stat().st_mtime]
    for folder in (path, path / "tensorboard"):
        if not folder.is_symlink():
            times += [p.lstat().st_mtime for p in folder.glob("*")]
    policy = path / POLICY
    return {
        "name": path.name,
        "kind": kind,
        "age": max(0.0, time.time() - max(times)),
        "report": _is_file(path / REPORT),
        "game": _game_of(path / CONFIG) if kind == "training" else None,
        "policy": f"policy:{policy}" if kind == "training" and _is_file(policy) else None,
    }


def _game_of(settings: Path) -> str | None:
    """Return the text of the game in a training's settings."""
    try:
        with settings.open("rb") as file:
            text = file.read(_MOST_SETTINGS).decode("utf-8", "replace")
        values = parse_yaml(text)
        game = values["game"]
        return write_spec(game, values.get("rules") or {}) if isinstance(game, str) else None
    except Exception:  # others wrote the file: nothing in it may hide the other folders
        return None


def _curve(path: Path) -> dict[str, list[tuple[float, float]]]:
    """Return the scores against each opponent; empty if the file is missing or broken."""
    curve: dict[str, list[tuple[float, float]]] = {}
    try:
        if not _is_file(path) or path.stat().st_size > _MOST_EVALUATED:
            return {}
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        names = [name for name in rows[0] if name.startswith(_SCORE) and name != _WORST]
        for row in rows:
            for name in names[:_MOST_OPPONENTS]:
                steps, score = float(row["steps"]), float(row[name])
                if math.isfinite(steps) and 0 <= score <= 1:
                    curve.setdefault(name.removeprefix(_SCORE), []).append((steps, score))
    except Exception:  # as above
        return {}
    return curve


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
