"""`python soak.py` in the tests folder: kills commands, for half an hour.

Each command, interrupted at any moment and started again, must come to the result of an undisturbed
run. The exit code is 1 if one did not; what was wrong is printed when it happens.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = """
game: reversi
steps: 6000
checkpoint_every: 1000
self_play: {boards: 32, opponents: {greedy: 0.25}}
network: {hidden: [16]}
ppo: {steps_per_update: 32, batch_size: 256}
evaluation: {every: 2000, pairs: 2}
report: {pairs: 2, opponents: [random]}
"""
SEARCH = """
game: reversi
steps: 6000
checkpoint_every: 1000
self_play: {boards: 32, opponents: {greedy: 0.25}}
search: {simulations: 4, considered: 2, workers: 2}
network: {hidden: [16]}
learning: {replay: 2048, batch_size: 256}
evaluation: {every: 2000, pairs: 2}
report: {pairs: 2, opponents: [random]}
"""
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
_ENDS = (0, 130, *(-number for number in SIGNALS))
Result = dict[str, list[bytes]]
_CPU = re.compile(rb'"cpu_seconds": [\d.e-]+')


@dataclass(frozen=True)
class Work:
    """A command, run in a folder of its own."""

    first: str  # arguments of Python
    again: str  # how to go on, once `begun` is there
    begun: str
    made: tuple[str, ...]  # patterns of the files of the result

    def run(self, folder: Path, seconds: float = 300.0, number: int = signal.SIGKILL) -> str:
        """Begin or go on, and send this signal after some seconds; returns what was wrong."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tiny.yaml").write_text(SETTINGS)
        (folder / "search.yaml").write_text(SEARCH)
        words = self.again if (folder / self.begun).exists() else self.first
        process = subprocess.Popen(
            [sys.executable, "-m", *words.split()],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), "BOARDENVS_BACKEND": "numpy"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        output = process.communicate(timeout=300)[0]
        # Python itself prints a traceback if Ctrl-C comes before the command begins or after it;
        # in the middle of an import of NumPy's it is an ImportError.
        known = number == signal.SIGINT and re.search("KeyboardInterrupt|ImportError", output)
        if known or (process.returncode in _ENDS and "Traceback" not in output):
            return ""
        return f"exit code {process.returncode}: {output[-1500:]}"

    def result(self, folder: Path) -> Result:
        """The lines of its files in any order, as workers end in any order; without CPU times."""
        paths = [path for pattern in self.made for path in sorted(folder.glob(pattern))]
        return {
            str(path.relative_to(folder)): sorted(_CPU.sub(b"", path.read_bytes()).splitlines())
            for path in paths
        }


ARENA = "boardenvs arena --workers 2 --out out"
MATCH = "boardenvs match reversi random greedy --pairs 100 --record games.jsonl"
WORKS = {
    "records": Work(MATCH, f"{MATCH} --overwrite", "games.jsonl", ("games.jsonl",)),
    "arena": Work(
        f"{ARENA} random greedy alphabeta:depth=1 --game reversi --pairs 8",
        f"{ARENA} --resume", "out/tournament.json", ("out/games.jsonl",)),
    "training": Work(
        "training.ppo tiny.yaml", "training.ppo tiny.yaml --resume", "runs/tiny/config.yaml",
        ("runs/tiny/policy.npz",)),
    "search": Work(
        "training.gumbel search.yaml", "training.gumbel search.yaml --resume",
        "runs/search/config.yaml", ("runs/search/policy.npz",)),
}  # fmt: skip


def finish(work: Work, folder: Path, expected: Result) -> str:
    """Go on to the end, and compare."""
    return work.run(folder) or ("" if work.result(folder) == expected else "another result")


def kill(work: Work, folder: Path, expected: Result, seconds: float, rng: random.Random) -> str:
    """Interrupt the work a few times, which takes these seconds undisturbed."""
    for _ in range(rng.randint(1, 4)):
        if problem := work.run(folder, rng.uniform(0, seconds), rng.choice(SIGNALS)):
            return problem
    return finish(work, folder, expected)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0, help="approximately")
    parser.add_argument("--short", action="store_true", help="records alone, once")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, faults, rounds = random.Random(options.seed), 0, 0
    end = time.monotonic() + 60 * options.minutes * (not options.short)
    with tempfile.TemporaryDirectory() as name:
        while rounds == 0 or time.monotonic() < end:
            rounds += 1
            for kind, work in list(WORKS.items())[: 1 if options.short else None]:
                whole, killed = (Path(name) / f"{kind}{rounds}{x}" for x in "ab")
                begun = time.monotonic()
                problems = [work.run(whole)]
                expected, seconds = work.result(whole), time.monotonic() - begun
                problems.append(kill(work, killed, expected, seconds, rng))
                for problem in filter(None, problems):
                    print(f"{kind}: {problem}", file=sys.stderr, flush=True)
                    faults += 1
    print(f"{rounds} rounds, {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
