"""`python -m soak` in the tests folder: everything for half an hour, and a table of what was seen.

The exit code is 1 where something was wrong; what it was is said when it is seen.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from boardenvs.report import ReportTable
from soak import disturbed, growth
from soak.works import WORKS, Row


def disturb(folder: Path, seconds: float, rng: random.Random) -> list[Row]:
    """Kills of each work in turn for so long, then full disks and little memory."""
    short = seconds == 0
    # In the short form training is left to the tests, which kill it at each of its steps.
    works = WORKS[1:] if short else WORKS
    expected = {work.name: work.undisturbed(folder / "whole" / work.name) for work in works}
    killed = [Row(f"kills: {work.name}", "the same result") for work in works]
    begun, number = time.monotonic(), 0
    while number == 0 or time.monotonic() - begun < seconds:
        for work, row in zip(works, killed, strict=True):
            disturbed.kill(work, folder / f"{work.name}{number}", expected[work.name], rng, row)
        number += 1
    full = Row("full disk", "no traceback, and the same result once there is room")
    for work in works[:1] if short else works:
        for kilobytes in (40,) if short else (8, 20, 40, 100, 300, 1000):
            place = folder / f"full {work.name} {kilobytes}"
            disturbed.full_disk(work, place, expected[work.name][0], kilobytes, full)
    memory = Row("little memory", "it ends well, or says that memory is short")
    for words in disturbed.HUNGRY[:1] if short else disturbed.HUNGRY:
        for megabytes in (40,) if short else (20, 40, 60, 80, 120, 160):
            disturbed.little_memory(words, megabytes, folder / "memory", memory)
    return [*killed, full, memory]


def main() -> int:
    parser = argparse.ArgumentParser(description="Kills, full disks, little memory, long runs.")
    parser.add_argument("--minutes", type=float, default=30.0, help="about so long")
    parser.add_argument("--short", action="store_true", help="each once: half a minute")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    seconds = 0.0 if options.short else 60 * options.minutes
    with tempfile.TemporaryDirectory() as name:
        rows = disturb(Path(name), seconds / 2, random.Random(options.seed))
    # Rules and trainings are what tests check, too.
    for run in growth.RUNS[:-2] if options.short else growth.RUNS:
        rows.append(growth.grow(run, max(1.0, seconds / 2 / len(growth.RUNS)), options.seed))
    cells = [
        {"what": row.name, "times": row.tried, "seen": row.seen, "faults": row.faults}
        for row in rows
    ]
    Console(width=120).print(ReportTable(cells, "soak"))
    return int(any(row.faults for row in rows))


if __name__ == "__main__":
    sys.exit(main())
