"""What is disturbed: commands that keep something, how they go on, and what they come to."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
TINY = {
    "game": "reversi",
    "steps": 6000,
    "checkpoint_every": 1000,
    "self_play": {"boards": 32, "opponents": {"greedy": 0.25}},
    "ppo": {"hidden": [16], "steps_per_update": 32, "batch_size": 256},
    "evaluation": {"every": 2000, "pairs": 2},
    "report": {"pairs": 2, "opponents": ["random"]},
}


_CPU = re.compile(rb'"cpu_seconds": [\d.e-]+')


@dataclass
class Row:
    """A line of the table: what was tried, what was seen, how often, and how often it was wrong."""

    name: str
    seen: str = ""
    tried: int = 0
    faults: int = 0

    def fault(self, text: str) -> None:
        """Count it and say it, while others are still tried."""
        self.faults += 1
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Work:
    """A command, run in a folder of its own, whose result does not depend on interruptions."""

    name: str
    first: tuple[str, ...]  # arguments of Python
    made: tuple[str, ...]  # the files of the result, as patterns
    again: tuple[str, ...] = ()  # how to go on, once `begun` is there; if nothing: as `first`
    begun: str = ""
    backend: str = "numpy"

    def start(self, folder: Path) -> subprocess.Popen[str]:
        """Begin or go on, in a group of processes of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY))
        go_on = self.again and (folder / self.begun).exists()
        return subprocess.Popen(
            [sys.executable, *(self.again if go_on else self.first)],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "BOARDENVS_BACKEND": self.backend,
                "BOARDENVS_CACHE": str(folder / "cache"),
                "OMP_NUM_THREADS": "1",
                "COLUMNS": "200",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=_listen,
        )

    def finish(self, folder: Path) -> str:
        """Go on to the end; what was wrong with it."""
        process = self.start(folder)
        output, problem = end_of(process)
        if process.returncode:
            return f"did not go on ({process.returncode}): {output[-800:]}"
        left = [str(path) for path in folder.rglob("*.tmp")]
        return problem or (f"left {left}" if left else "")

    def result(self, folder: Path) -> dict[str, list[bytes]]:
        """The lines of its files, in any order, as workers end in any; without CPU times."""
        paths = [path for pattern in self.made for path in sorted(folder.glob(pattern))]
        return {
            str(path.relative_to(folder)): sorted(_CPU.sub(b"", path.read_bytes()).splitlines())
            for path in paths
        }

    def undisturbed(self, folder: Path) -> tuple[dict[str, list[bytes]], float]:
        """Its result, and how many seconds it took."""
        begun = time.monotonic()
        problem = self.finish(folder)
        result = self.result(folder)
        assert result, problem
        return result, time.monotonic() - begun


def _listen() -> None:
    """Hear the signals that who started us may have been told to ignore."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def end_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process has printed when it ends; and what was wrong, where it does not."""
    try:
        return process.communicate(timeout=300)[0], ""
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0], "no end within 300 s"


_COMMAND = ("-m", "boardenvs")
_PLAYERS = ("random", "greedy", "alphabeta:depth=1", "--game", "reversi", "--pairs", "8")
_ARENA, _TRAINING = (*_COMMAND, "arena", "--workers", "2", "--out", "out"), ("-m", "training.ppo")

WORKS = [
    Work("training", (*_TRAINING, "tiny.yaml"), ("runs/tiny/policy.npz", "runs/tiny/ratings.svg"),
         (*_TRAINING, "tiny.yaml", "--resume"), "runs/tiny/config.yaml"),
    Work("arena", (*_ARENA, *_PLAYERS),
         ("out/games/*", "out/reversi/ratings.svg", "out/reversi/heatmap.svg"),
         (*_ARENA, "--resume"), "out/journal.jsonl"),
    Work("records", (*_COMMAND, "match", "reversi", "random", "greedy", "--pairs", "100",
                     "--record", "games.jsonl"), ("games.jsonl",)),
    Work("tablebase", (*_COMMAND, "analyse", "wolf_and_sheep"), ("cache/*.tablebase*",)),
    Work("machine code", (*_COMMAND, "match", "wolf_and_sheep", "random", "greedy", "--pairs",
                          "20", "--record", "games.jsonl"), ("games.jsonl",), backend="numba"),
]  # fmt: skip
