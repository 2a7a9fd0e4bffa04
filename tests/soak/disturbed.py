"""Kills, full disks and little memory: works go on to the result of an undisturbed run."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
from pathlib import Path

from boardenvs import records
from soak.works import Row, Work, end_of

SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
# Exit codes of the signals, of an interruption that was heard, and of an end before the signal.
_ENDS = (0, 130, *(-number for number in SIGNALS))


def kill(
    work: Work,
    folder: Path,
    expected: tuple[dict[str, list[bytes]], float],
    rng: random.Random,
    row: Row,
) -> None:
    """Interrupt the work up to six times, or until it is over; let it end, and compare.

    A signal goes to the process, or to its workers too, as that of a terminal does.
    """
    result, seconds = expected
    seen = list[str]()
    for _ in range(rng.randint(1, 6)):
        process = work.start(folder)
        # In a run that is over so soon there is nothing to interrupt, but on a shorter wait.
        wait = rng.uniform(0, seconds / (1 if seen else 2))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait)
            break
        number, send = rng.choice(SIGNALS), rng.choice([os.kill, os.killpg])
        with contextlib.suppress(ProcessLookupError):
            send(process.pid, number)
        seen.append(f"{send.__name__} {number.name} after {wait:.1f} s")
        output, problem = end_of(process)
        starting = _is_of_python(output)
        if "Traceback" in output and not starting:
            problem = f"a traceback: {output[-1500:]}"
        elif process.returncode not in _ENDS and not starting:
            problem = f"exit code {process.returncode}: {output[-800:]}"
        if problem := problem or _wrong_records(folder):
            row.fault(f"{work.name}, {seen}: {problem}")
            return
    row.tried += len(seen)
    _finish(work, folder, result, row, f"after {seen}")


def _finish(work: Work, folder: Path, result: dict[str, list[bytes]], row: Row, after: str) -> None:
    problem = work.finish(folder)
    if not problem and work.result(folder) != result:
        problem = f"came to another result, see {folder}"
    if problem:
        row.fault(f"{work.name} {after}: {problem}")


def _is_of_python(output: str) -> bool:
    """Whether this is what Python or click prints where Ctrl-C comes before the command begins, or
    after it has ended.
    """
    if output.strip() in ("", "Aborted!"):
        return True
    return "KeyboardInterrupt" in output and not any(
        f" in {x}" in output for x in ("invoke", "main")
    )


def _wrong_records(folder: Path) -> str:
    """What is wrong with what an interrupted command left: records are whole or not there."""
    path = folder / "games.jsonl"
    try:
        found = records.check(records.load(path)) if path.exists() else []
    except ValueError as error:
        return str(error)
    return next((verdict.error for verdict in found if verdict.error), "")


def full_disk(
    work: Work, folder: Path, result: dict[str, list[bytes]], kilobytes: int, row: Row
) -> None:
    """A disk with so much room, and then with enough; needs the right to mount one."""
    folder.mkdir(parents=True)
    options = ["-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs"]
    if subprocess.run(["mount", *options, folder], capture_output=True, check=False).returncode:
        row.seen = "not tried: no right to mount a disk"
        return
    try:
        output, problem = end_of(work.start(folder))
        row.tried += 1
        if "Traceback" in output or problem or (problem := _wrong_records(folder)):
            row.fault(f"{work.name}, {kilobytes} kB: {problem} {output[-1200:]}")
            return
        subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        _finish(work, folder, result, row, f"after a disk of {kilobytes} kB was full")
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


# Commands that ask for more than there is, and what is imported before the memory is limited.
HUNGRY = [
    ("match", "othello", "mcts:rollouts=200000", "random", "--pairs", "1"),
    ("match", "othello", "random", "greedy", "--pairs", "3000"),
    ("match", "lines_of_action", "alphabeta:depth=2", "random", "--pairs", "2"),
]
_LIMITED = """
import resource, sys
import numpy.random, boardenvs.cli, boardenvs.agents, boardenvs.arena, rich.table, rich.progress
import boardenvs.cli.match, boardenvs.cli.console
pages = int(open("/proc/self/statm").read().split()[0])
size = pages * resource.getpagesize() + (int(sys.argv[1]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (size, size))
sys.argv[:2] = ["boardenvs"]
boardenvs.cli.main()
"""


def little_memory(words: tuple[str, ...], megabytes: int, folder: Path, row: Row) -> None:
    """With so much more memory than it takes to start, it ends with a line that says so."""
    process = Work("memory", ("-c", _LIMITED, str(megabytes), *words), ()).start(folder)
    output, problem = end_of(process)
    row.tried += 1
    said = any(word in output for word in ("memory", "allocate", "thread"))
    if (
        problem
        or "Traceback" in output
        or process.returncode not in (0, 1, 2)
        or (process.returncode and not said)
    ):
        row.fault(
            f"{' '.join(words)} with {megabytes} MB more ({process.returncode}): "
            f"{problem} {output[-800:]}"
        )
