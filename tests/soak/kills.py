"""Processes killed at random moments, which go on to the result of an undisturbed run."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

from soak.works import Row, Work, prepare, whole_so_far

SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
# Exit codes of the signals, of an interruption that was heard, and of an end before the signal.
_ENDS = (0, 130, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGINT)


def kill(
    work: Work, folder: Path, expected: tuple[Any, float], rng: random.Random, row: Row
) -> None:
    """Interrupt the work up to six times, or until it is over; let it end, and compare."""
    prepare(folder)
    result, seconds = expected
    seen = Counter[str]()
    for _ in range(rng.randint(3, 6)):
        process = work.start(folder)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0, 0.9 * seconds))
            break  # it was over before
        number = rng.choice(SIGNALS)
        workers = _children(process.pid) if rng.random() < 0.5 else []
        victim = rng.choice(workers) if workers else process.pid
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, number)
        seen[f"{number.name} of {'a worker' if workers else 'it'}"] += 1
        begun = time.monotonic()
        problem = _end(process, number, bool(workers)) or whole_so_far(work, folder)
        row.slowest = max(row.slowest, time.monotonic() - begun)
        if problem:
            row.faults.append(f"{work.name}, {number.name}: {problem}")
            return
    row.tried += seen.total()
    problem = work.finish(folder)
    if not problem and work.result(folder) != result:
        problem = f"{work.name} came to another result after {dict(seen)}, see {folder}"
    if problem:
        row.faults.append(problem)


def _end(process: subprocess.Popen[str], number: signal.Signals, of_worker: bool) -> str:
    """Wait for the end; what was wrong with it."""
    try:
        output = process.communicate(timeout=300)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return "it did not end within 300 s"
    starting = _is_of_python(output)
    if "Traceback" in output and not starting:
        return f"a traceback: {output[-1500:]}"
    if process.returncode not in _ENDS and not (of_worker or starting):
        return f"exit code {process.returncode}: {output[-800:]}"
    return ""


def _is_of_python(output: str) -> bool:
    """Whether this is what Python or click prints where Ctrl-C comes before the command begins, or
    after it has ended.
    """
    if output.strip() in ("", "Aborted!"):
        return True
    return "KeyboardInterrupt" in output and not any(
        f" in {x}" in output for x in ("invoke", "main")
    )


def _children(pid: int) -> list[int]:
    """The worker processes of a process; those of multiprocessing itself are left out."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                command = (path.parent / "cmdline").read_bytes()
                if b"resource_tracker" not in command and b"forkserver" not in command:
                    found.append(int(path.parent.name))
    return found
