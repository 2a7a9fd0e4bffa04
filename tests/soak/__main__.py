"""`python -m soak` in the tests folder: everything for half an hour, and a table of what was seen.

The exit code is 1 where something was wrong; what it was is printed below the table.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from boardenvs.utils.tables import make_table
from soak import growth, kills, plies, scarce
from soak.works import WORKS, Row, Work


def say(text: str) -> None:
    """How far it is, while it lasts."""
    print(text, file=sys.stderr, flush=True)


def expect(folder: Path, works: list[Work]) -> dict[str, tuple[Any, float]]:
    """What each work comes to where nothing disturbs it, and the seconds that takes."""
    return {work.name: work.undisturbed(folder / work.name) for work in works}


def disturb(folder: Path, works: list[Work], seconds: float, rng: random.Random) -> list[Row]:
    """Kills of each work in turn for so long, then full and slow disks once each."""
    expected = expect(folder / "whole", works)
    rows = {work.name: Row(f"kills: {work.name}") for work in works}
    begun, number = time.monotonic(), 0
    while number == 0 or time.monotonic() - begun < seconds:
        for work in works:
            place = folder / f"{work.name}{number}"
            row = rows[work.name]
            before = len(row.faults)
            kills.kill(work, place, expected[work.name], rng, row)
            for fault in row.faults[before:]:
                say(fault)
        number += 1
        tried = sum(row.tried for row in rows.values())
        say(f"{tried} kills, {sum(len(row.faults) for row in rows.values())} faults")
    for row in rows.values():
        row.seen = f"the same result; the slowest ended after {row.slowest:.0f} s"
    return [*rows.values(), *disks(folder, works, expected, short=seconds == 0)]


def disks(
    folder: Path, works: list[Work], expected: dict[str, tuple[Any, float]], short: bool
) -> list[Row]:
    full, slow = Row("full disk"), Row("slow disk")
    for work in works:
        for kilobytes in (40,) if short else (8, 20, 40, 100, 300, 1000):
            place = folder / f"full {work.name} {kilobytes}"
            scarce.full_disk(work, place, expected[work.name][0], kilobytes, full)
        say(f"{work.name}: {full.tried} full disks, {len(full.faults)} faults")
        if not short:
            scarce.slow_disk(work, folder / f"slow {work.name}", expected[work.name][0], slow)
    full.seen = full.seen or "no traceback, and the same result once there is room"
    slow.seen = "the same result"
    return [full] if short else [full, slow]


def memory(folder: Path, short: bool) -> Row:
    row = Row("little memory", seen="it ends well, or says that memory is short")
    for words in scarce.HUNGRY[:1] if short else scarce.HUNGRY:
        for megabytes in (40,) if short else (20, 40, 60, 80, 120, 160):
            scarce.little_memory(words, megabytes, folder / "memory", row)
    say(f"{row.tried} times little memory, {len(row.faults)} faults")
    return row


def show(console: Console, rows: list[Row]) -> None:
    cells = [
        {"what": row.name, "times": row.tried, "seen": row.seen, "faults": len(row.faults)}
        for row in rows
    ]
    console.print(make_table(cells, "soak"))
    for row in rows:
        for fault in row.faults:
            console.print(f"{row.name}: {fault}", markup=False, soft_wrap=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Kills, full disks, little memory, long runs.")
    parser.add_argument("--minutes", type=float, default=30.0, help="about so long")
    parser.add_argument("--short", action="store_true", help="each once: half a minute")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    seconds = 0.0 if options.short else 60 * options.minutes
    rng = random.Random(options.seed)
    # In the short form training is left to the tests, which kill it at each of its steps.
    works = WORKS[1:] if options.short else WORKS
    names = [name for name in growth.RUNS if not options.short or name != "trainings"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = disturb(folder, works, seconds / 2, rng)
        rows.append(memory(folder, options.short))
    for run in names:
        rows.append(growth.grow(run, max(1.0, seconds / 3 / len(names)), options.seed))
        say(f"{run}: {rows[-1].seen}")
    rows.append(plies.play(200_000 if options.short else 10**8, seconds / 360))
    show(Console(width=120), rows)
    return int(any(row.faults for row in rows))


if __name__ == "__main__":
    sys.exit(main())
