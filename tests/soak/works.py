"""What is disturbed: commands that keep something, how they go on, and what they come to."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from boardenvs import records

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Row:
    """A line of the table: what was tried, how often, what was seen and what was wrong."""

    name: str
    tried: int = 0
    seen: str = ""
    slowest: float = 0.0  # seconds from a signal to the end
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Work:
    """A command, run in a folder of its own, whose result does not depend on interruptions."""

    name: str
    first: tuple[str, ...]  # arguments of Python
    result: Callable[[Path], Any]  # of the folder, when it is over
    again: tuple[str, ...] = ()  # how to go on, once `begun` is there; if nothing: as `first`
    begun: str = ""
    environment: tuple[tuple[str, str], ...] = (("BOARDENVS_BACKEND", "numpy"),)

    def start(self, folder: Path, more: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Begin or go on, in a group of processes of its own."""
        go_on = self.again and (folder / self.begun).exists()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([(more or {}).pop("PATH_BEFORE", ""), str(ROOT)]),
            "BOARDENVS_CACHE": str(folder / "cache"),
            "OMP_NUM_THREADS": "1",
            "COLUMNS": "200",
            **dict(self.environment),
            **(more or {}),
        }
        return subprocess.Popen(
            [sys.executable, *(self.again if go_on else self.first)],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=_listen,
        )

    def finish(self, folder: Path) -> str:
        """Go on to the end; what was wrong with it."""
        process = self.start(folder)
        output = process.communicate(timeout=600)[0]
        if process.returncode:
            return f"{self.name} did not go on ({process.returncode}): {output[-800:]}"
        left = [str(p.relative_to(folder)) for p in folder.rglob("*.tmp")]
        return f"{self.name} left {left}" if left else ""

    def undisturbed(self, folder: Path) -> tuple[Any, float]:
        """Its result, and how many seconds it took."""
        prepare(folder)
        begun = time.monotonic()
        problem = self.finish(folder)
        assert not problem, problem
        return self.result(folder), time.monotonic() - begun


def _listen() -> None:
    """Hear the signals that who started us may have been told to ignore."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def prepare(folder: Path) -> None:
    """What the commands need in their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY))


TINY = {
    "game": "reversi",
    "steps": 6000,
    "checkpoint_every": 1000,
    "self_play": {"boards": 32, "opponents": {"greedy": 0.25}},
    "ppo": {"hidden": [16], "steps_per_update": 32, "batch_size": 256},
    "evaluation": {"every": 2000, "pairs": 2},
    "report": {"pairs": 2, "opponents": ["random"]},
}


def _training(folder: Path) -> Any:
    run = folder / "runs" / "tiny"
    result = json.loads((run / "result.json").read_text())
    scores = [(e["steps"], e["scores"]) for e in result["evaluations"]]
    return _digest(run / "policy.npz"), result["steps"], str(scores), str(result["report"])


def _arena(folder: Path) -> Any:
    values = json.loads((folder / "out" / "results.json").read_text())
    del values["timings"]
    return json.dumps(values)


def _games(folder: Path) -> Any:
    return _digest(folder / "games.jsonl")


def _table(folder: Path) -> Any:
    return sorted(_digest(path) for path in (folder / "cache").glob("*.tablebase*"))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


_COMMAND = ("-m", "boardenvs")
_PLAYERS = ("random", "greedy", "alphabeta:depth=1", "--game", "reversi", "--pairs", "8")

WORKS = [
    Work("training", ("-m", "training.ppo", "tiny.yaml"), _training,
         ("-m", "training.ppo", "tiny.yaml", "--resume"), "runs/tiny/config.yaml"),
    Work("arena", (*_COMMAND, "arena", *_PLAYERS, "--workers", "2", "--out", "out"), _arena,
         (*_COMMAND, "arena", "--resume", "--workers", "2", "--out", "out"), "out/journal.jsonl"),
    Work("records", (*_COMMAND, "match", "reversi", "random", "greedy", "--pairs", "100",
                     "--record", "games.jsonl"), _games),
    Work("tablebase", (*_COMMAND, "solve", "wolf_and_sheep"), _table),
    Work("machine code", (*_COMMAND, "match", "wolf_and_sheep", "random", "greedy", "--pairs",
                          "20", "--record", "games.jsonl"), _games,
         environment=(("BOARDENVS_BACKEND", "numba"),)),
]  # fmt: skip


def whole_so_far(work: Work, folder: Path) -> str:
    """What is wrong with what an interrupted command left: records are whole or not there."""
    path = folder / "games.jsonl"
    if path.exists():
        try:
            wrong = [v for v in records.check(records.load(path)) if v.error]
        except ValueError as error:
            return f"{work.name}: {error}"
        return f"{work.name}: {wrong[0]}" if wrong else ""
    return ""
