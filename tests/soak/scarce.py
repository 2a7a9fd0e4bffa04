"""Full disks, slow disks and little memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from soak.works import ROOT, Row, Work, prepare, whole_so_far

# A disk of which a flush takes long: what Python imports when it starts.
SLOW = """
import os, time
_fsync = os.fsync
def fsync(number):
    time.sleep(0.1)
    _fsync(number)
os.fsync = fsync
"""


def full_disk(work: Work, folder: Path, result: Any, kilobytes: int, row: Row) -> None:
    """A disk with so much room, and then with enough; needs the right to mount one."""
    folder.mkdir(parents=True, exist_ok=True)
    if not _mount(folder, kilobytes):
        row.seen = "not tried: no right to mount a disk"
        return
    try:
        prepare(folder)
        process = work.start(folder, {"BOARDENVS_CACHE": str(folder / "cache"), "TMPDIR": "/tmp"})
        output = process.communicate(timeout=300)[0]
        row.tried += 1
        if "Traceback" in output:
            row.faults.append(f"{work.name}, {kilobytes} kB: a traceback: {output[-1200:]}")
            return
        problem = whole_so_far(work, folder)
        subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
        problem = problem or work.finish(folder)
        if not problem and work.result(folder) != result:
            problem = f"{work.name} came to another result after a disk of {kilobytes} kB was full"
        if problem:
            row.faults.append(problem)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def _mount(folder: Path, kilobytes: int) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def slow_disk(work: Work, folder: Path, result: Any, row: Row) -> None:
    """A disk that takes long to write comes to the same."""
    prepare(folder)
    before = folder / "slow"
    before.mkdir()
    (before / "sitecustomize.py").write_text(SLOW)
    process = work.start(folder, {"PATH_BEFORE": str(before)})
    output = process.communicate(timeout=600)[0]
    row.tried += 1
    if process.returncode or work.result(folder) != result:
        row.faults.append(f"{work.name} on a slow disk ({process.returncode}): {output[-800:]}")


# Commands that ask for more than there is, and what is imported before the memory is limited.
HUNGRY = [
    ["match", "othello", "mcts:rollouts=200000", "random", "--pairs", "1"],
    ["match", "othello", "random", "greedy", "--pairs", "3000"],
    ["perft", "lines_of_action", "5"],
    ["match", "lines_of_action", "alphabeta:depth=2", "random", "--pairs", "2"],
]
LIMITED = """
import resource, sys
import numpy.random, boardenvs.cli, boardenvs.agents, boardenvs.arena, rich.table, rich.progress
import boardenvs.cli.match, boardenvs.cli.perft, boardenvs.cli.console, boardenvs.game.perft
from boardenvs.kernel import set_backend
set_backend("numpy")
pages = int(open("/proc/self/statm").read().split()[0])
size = pages * resource.getpagesize() + (int(sys.argv[1]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (size, size))
sys.argv[:2] = ["boardenvs"]
boardenvs.cli.main()
"""


def little_memory(words: list[str], megabytes: int, folder: Path, row: Row) -> None:
    """With so much more memory than it takes to start, it ends with a line that says so."""
    folder.mkdir(parents=True, exist_ok=True)
    row.tried += 1
    try:
        process = subprocess.run(
            [sys.executable, "-c", LIMITED, str(megabytes), *words],
            cwd=folder,
            env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin",
                 "BOARDENVS_CACHE": str(folder / "cache")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        row.faults.append(f"{' '.join(words)} with {megabytes} MB more: no end within 300 s")
        return
    output = process.stdout + process.stderr
    if "Traceback" in output or process.returncode not in (0, 1, 2):
        row.faults.append(
            f"{' '.join(words)} with {megabytes} MB more ({process.returncode}): {output[-800:]}"
        )
    elif process.returncode and not any(x in output for x in ("memory", "allocate", "thread")):
        row.faults.append(f"{' '.join(words)} with {megabytes} MB more: {output[-300:]}")
