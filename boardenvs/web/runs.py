"""Lists trainings and tournaments in a folder for the page, without changing anything.

A training's folder has `config.yaml`, a tournament's `tournament.json`. Folders can come from other
people, so links are not followed, and only limited amounts are read.
"""

from __future__ import annotations

import contextlib
import csv
import math
import re
import time
from pathlib import Path
from typing import Any

from boardenvs.utils.checks import cut

_KINDS = {"training": "config.yaml", "tournament": "tournament.json"}
_REPORT, _EVALUATIONS = "report.html", "evaluations.csv"
_BEST, _POLICIES = "policy.npz", "policies"
_MOST_READ = 256 << 10  # bytes
_MOST_TABLES = 40


def list_runs(folder: Path) -> list[dict[str, Any]]:
    """Return the trainings and tournaments in the folder, the latest first.

    Each has `name`, `kind`, `age` in seconds and whether it has a `report`. A training also has the
    agents' texts of its `best` policy, of its `latest` one and of the one `before` that, its `game`
    and all `steps` that it will take (each may be None), and if it is one of the latest its
    `table`: the numbers of its evaluations by column (None: not finite).
    """
    runs = []
    for path in _folders(folder):
        for kind, file in _KINDS.items():
            if _is_file(path / file):
                with contextlib.suppress(OSError):  # it is being removed
                    runs.append(_describe(path, kind))
    runs.sort(key=lambda run: run["age"])
    for run in runs[:_MOST_TABLES]:
        run["table"] = _table(folder / run["name"] / _EVALUATIONS)
    return runs


def report_of(folder: Path, name: str) -> Path:
    """Return the path of a report; ValueError if there is none."""
    for path in _folders(folder):
        if path.name == name and _is_file(path / _REPORT):
            return path / _REPORT
    raise ValueError(f"{cut(name)!r} has no report")


def _folders(folder: Path) -> list[Path]:
    return sorted(p for p in folder.glob("*") if p.is_dir() and not p.is_symlink())


def _describe(path: Path, kind: str) -> dict[str, Any]:
    run = {
        "name": path.name,
        "kind": kind,
        "age": time.time() - max(p.lstat().st_mtime for p in [path, *path.glob("*")]),
        "report": _is_file(path / _REPORT),
    }
    if kind == "training":
        run |= _settings(path / _KINDS[kind])
        kept = path / _POLICIES
        policies = [] if kept.is_symlink() else sorted(kept.glob("*.npz"), reverse=True)
        files = [path / _BEST, *policies, path, path]
        for name, file in zip(("best", "latest", "before"), files, strict=False):
            run[name] = f"policy:{file}" if _is_file(file) else None
    return run


def _settings(path: Path) -> dict[str, Any]:
    """Return the text of the game and the steps in a training's settings."""
    settings: dict[str, str] = {}
    with contextlib.suppress(ValueError, OSError):  # nothing in it may hide the other folders
        settings = dict(re.findall(r"^(game|steps): (\w\S{,200})$", _read(path), re.MULTILINE))
    steps = settings.get("steps", "")
    return {
        "game": settings.get("game"),
        "steps": int(steps) if re.fullmatch("[0-9]{1,15}", steps) else None,
    }


def _table(path: Path) -> dict[str, list[float | None]]:
    """Return the columns of a file of evaluations; empty if it is missing or broken, or a column
    that charts need is missing.
    """
    try:
        names, *rows = csv.reader(_read(path).splitlines())
        numbers = [[x if math.isfinite(x) else None for x in map(float, row)] for row in rows]
        columns = {name: column for name, *column in zip(names, *numbers, strict=True)}
        needed = {"steps"} | {f"high/{name[4:]}" for name in columns if name.startswith("low/")}
        return columns if needed <= columns.keys() else {}
    except Exception:  # as above
        return {}


def _read(path: Path) -> str:
    """Return the text of a file; ValueError if it is a link, or too large."""
    if not _is_file(path) or path.stat().st_size > _MOST_READ:
        raise ValueError(f"{path} is not read")
    return path.read_text(encoding="utf-8")


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
