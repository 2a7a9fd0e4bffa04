"""Trainings and tournaments in a folder, as the page shows them; nothing in it is changed.

A training's folder has `config.yaml`; its metrics are in TensorBoard's files while it goes on and
in `metrics.csv` when it has ended. A tournament's folder has `journal.jsonl`.
"""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boardenvs.arena.tournament.job import Played
from boardenvs.utils.files import file_name
from boardenvs.utils.json_text import parse_json

JOURNAL, CONFIG, POLICY, METRICS = "journal.jsonl", "config.yaml", "policy.npz", "metrics.csv"
REPORT_PAGE = "report.html"
PICTURES = ("learning_curve.png", "ratings.png", "metrics.png")
_MOST_TEXT = 1 << 20  # bytes of a report or of settings
_MOST_RUNS = 500
_MOST_POINTS = 400  # of a curve

Curve = list[tuple[float, float]]


@dataclass
class Runs:
    """What is in the folder; files that do not change are read once."""

    folder: Path
    _metrics: dict[Path, _Metrics] = field(default_factory=dict)

    def listing(self) -> list[dict[str, Any]]:
        """Name, kind and age of each, the latest first."""
        found = [
            {"name": name, "kind": kind, "age": max(0.0, time.time() - _changed(path))}
            for name, (kind, path) in self._known().items()
        ]
        return sorted(found, key=lambda run: run["age"])

    def describe(self, name: str) -> dict[str, Any]:
        """All that there is to show of one; ValueError where there is none of this name."""
        kind, path = self._find(name)
        what: dict[str, Any] = {
            "name": name,
            "kind": kind,
            "report": _text(path / "report.md"),
            "report_page": (path / REPORT_PAGE).is_file(),
        }
        if kind == "tournament":
            return {**what, **_tournament(path)}
        metrics = self._metrics.setdefault(path, _Metrics(path))
        policy = path / POLICY
        return {
            **what,
            "settings": _text(path / CONFIG),
            "game": _game_of(_text(path / CONFIG)),
            "policy": f"policy:{policy}" if policy.is_file() else None,
            "pictures": [p for p in PICTURES if (path / p).is_file()],
            **metrics.read(),
        }

    def policies(self) -> list[str]:
        """The paths of the policies of all trainings."""
        return [str(path / POLICY) for kind, path in self._known().values() if kind == "training"]

    def file(self, name: str, file: str) -> Path | None:
        """A picture or the report's page of a training or tournament, None where there is none."""
        kind, path = self._known().get(name, ("", self.folder))
        found = path / file
        return found if kind and file in (*PICTURES, REPORT_PAGE) and found.is_file() else None

    def games_file(self, name: str, game: str) -> Path:
        """The file with a tournament's games of this game; ValueError where there is none."""
        _, path = self._find(name)
        found = path / "games" / f"{file_name(game)}.jsonl"
        if not found.is_file():
            raise ValueError(f"{name} has no recorded games of {game}: there is no {found}")
        return found

    def _find(self, name: str) -> tuple[str, Path]:
        known = self._known()
        if name not in known:
            raise ValueError(f"there is no training and no tournament {name[:80]!r}")
        return known[name]

    def _known(self) -> dict[str, tuple[str, Path]]:
        """Kind and folder by name: `name` alone is what the page can ask for."""
        try:
            folders = sorted(p for p in self.folder.iterdir() if p.is_dir())[:_MOST_RUNS]
        except OSError:
            return {}
        kinds = {p: k for p in folders for k, f in _KINDS.items() if (p / f).is_file()}
        return {path.name: (kind, path) for path, kind in kinds.items()}


_KINDS = {"training": CONFIG, "tournament": JOURNAL}


@dataclass
class _Metrics:
    """The curves of a training, by name: pairs of steps and value."""

    folder: Path
    _curves: dict[str, dict[float, float]] = field(default_factory=dict)
    _loaders: dict[Path, Any] = field(default_factory=dict)
    _read: tuple[float, int] | None = None  # when `metrics.csv` was changed, and how long it was

    def read(self) -> dict[str, Any]:
        note = None
        path = self.folder / METRICS
        if path.is_file():
            status = path.stat()
            if self._read != (status.st_mtime, status.st_size):
                self._read = (status.st_mtime, status.st_size)
                self._curves = _from_csv(path)
        else:
            note = self._follow()
        curves = {name: _thinned(sorted(points.items())) for name, points in self._curves.items()}
        return {"curves": curves, "note": note}

    def _follow(self) -> str | None:
        """Read what was added to TensorBoard's files; a note where that is not possible."""
        try:
            from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
        except ImportError:
            return "The curves of a running training need tensorboard: pip install tensorboard"
        for path in sorted(self.folder.glob("tensorboard/events.out.tfevents.*")):
            if path not in self._loaders:
                self._loaders[path] = EventFileLoader(str(path))
            for event in self._loaders[path].Load():
                self._add(event)
        return None

    def _add(self, event: Any) -> None:
        if event.HasField("session_log") and event.step:  # it went on from an earlier state
            for points in self._curves.values():
                for step in [s for s in points if s >= event.step]:
                    del points[step]
        for value in event.summary.value:
            number = value.tensor.float_val[0] if value.tensor.float_val else value.simple_value
            if math.isfinite(number):
                self._curves.setdefault(value.tag, {})[float(event.step)] = number


def _from_csv(path: Path) -> dict[str, dict[float, float]]:
    """The metrics of a training that has ended: a row for each update."""
    curves: dict[str, dict[float, float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            try:
                step = float(row.pop("steps"))
                numbers = {name: float(text) for name, text in row.items() if text}
            except (KeyError, TypeError, ValueError):
                continue  # a row that is being written
            for name, number in numbers.items():
                if math.isfinite(number):
                    curves.setdefault(name, {})[step] = number
    return curves


def _thinned(points: Curve) -> Curve:
    """At most `_MOST_POINTS` points: means of as many as come together."""
    width = math.ceil(len(points) / _MOST_POINTS)
    if width <= 1:
        return points
    groups = (points[i : i + width] for i in range(0, len(points), width))
    return [(g[-1][0], sum(value for _, value in g) / len(g)) for g in groups]


def _tournament(folder: Path) -> dict[str, Any]:
    """The crosstable of each game, of the pairings that have been played."""
    tables: dict[str, dict[str, Any]] = {}
    for played in _played(folder / JOURNAL):
        table = tables.setdefault(played.game, {"entrants": {}, "cells": []})
        match = played.match
        if match is None:
            continue
        counts = [match.wins, match.draws, match.losses]
        for one, other, seen in (
            (played.first, played.second, counts),
            (played.second, played.first, counts[::-1]),
        ):
            total = table["entrants"].setdefault(one, [0, 0, 0])
            total[:] = [x + y for x, y in zip(total, seen, strict=True)]
            table["cells"].append([one, other, *seen])
    for table in tables.values():
        table["entrants"] = sorted(table["entrants"].items(), key=lambda e: -_score(e[1]))
    recorded = sorted(p.stem for p in folder.glob("games/*.jsonl"))
    return {"tables": tables, "recorded": [g for g in tables if file_name(g) in recorded]}


def _score(counts: list[int]) -> float:
    won, drawn, lost = counts
    return (won + drawn / 2) / max(1, won + drawn + lost)


def _played(journal: Path) -> Iterator[Played]:
    """The results in a journal, but for what is torn or of another version."""
    with journal.open(encoding="utf-8", errors="replace") as lines:
        next(lines, None)  # the settings
        for line in lines:
            try:
                yield Played.from_json(parse_json(line))
            except (KeyError, TypeError, ValueError):
                continue


def _game_of(settings: str | None) -> str | None:
    """The game in a training's settings, as a text."""
    if settings is None:
        return None
    from boardenvs.utils.spec import write_spec
    from boardenvs.utils.yaml_text import parse_yaml

    try:
        values = parse_yaml(settings)
        return write_spec(values["game"], values.get("rules") or {})
    except (ImportError, TypeError, KeyError, ValueError, AttributeError):
        return None


def _text(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_TEXT).decode("utf-8", "replace")
    except OSError:
        return None


def _changed(folder: Path) -> float:
    """When something in the folder was last written."""
    times = [folder.stat().st_mtime]
    for pattern in ("*", "tensorboard/*"):
        for path in folder.glob(pattern):
            try:
                times.append(path.stat().st_mtime)
            except OSError:
                continue
    return max(times)
