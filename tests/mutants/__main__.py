"""`make mutants`: plant one error at a time in a copy of the tree, and check that tests see it.

`mutants.txt` lists the errors: a file, a text that it contains once, the text in its place, and the
test files, or tests of theirs, that must fail. The exit code is 1 if tests pass with an error. With
`--draw` a few are drawn, every day others.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORDS = {True: "seen", False: "NOT SEEN", None: "skipped"}
SECONDS = 120  # for the tests of an error; an error that makes them hang counts as seen


class Mutant(NamedTuple):
    """An error to plant."""

    path: str
    old: str
    new: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}: {self.old!r} -> {self.new!r}"


def mutants() -> list[Mutant]:
    """The list: blocks of `file`, `- old`, `+ new` and `tests`, separated by empty lines."""
    text = (Path(__file__).parent / "mutants.txt").read_text(encoding="utf-8")
    blocks = [block.splitlines() for block in text.split("\n\n") if not block.startswith("#")]
    found = []
    for path, *lines, tests in blocks:
        old, new = ("\n".join(line[2:] for line in lines if line.startswith(sign)) for sign in "-+")
        found.append(Mutant(path, old, new, tuple(tests.split())))
    return found


def is_seen(mutant: Mutant, cache: Path) -> bool | None:
    """Whether its tests fail; None if they are all skipped, as those of JAX where it is missing.

    Errors share a cache of machine code, except those in the compiler: its cached files are named
    by its inputs alone.
    """
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "tree"
        shared = ROOT.parent / "shared"  # data that some tests read
        if shared.exists():
            (Path(name) / "shared").symlink_to(shared)
        ignored = shutil.ignore_patterns(".*", "runs", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=ignored)
        path = copy / mutant.path
        path.write_text(path.read_text(encoding="utf-8").replace(mutant.old, mutant.new), "utf-8")
        if mutant.path.startswith("boardenvs/kernel/"):
            cache = copy / "cache"
        tests = [f"tests/{test}" for test in mutant.tests]
        try:
            process = subprocess.run(
                [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *tests],
                cwd=copy,
                env={**os.environ, "PYTHONPATH": str(copy), "BOARDENVS_CACHE": str(cache)},
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return True
    if process.returncode == pytest.ExitCode.NO_TESTS_COLLECTED:
        return None
    return process.returncode == pytest.ExitCode.TESTS_FAILED


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "words", nargs="*", help="only errors in files whose path contains one of these"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--draw", type=int, metavar="N", help="only this number of them")
    today = int(time.strftime("%Y%m%d", time.gmtime()))
    parser.add_argument("--seed", type=int, default=today, help="of the draw; default: the date")
    options = parser.parse_args()
    chosen = [m for m in mutants() if any(word in m.path for word in options.words or [""])]
    if options.draw:
        chosen = random.Random(options.seed).sample(chosen, min(options.draw, len(chosen)))
        print(f"{len(chosen)} errors, drawn by --seed {options.seed}", flush=True)
    green = 0
    with ThreadPoolExecutor(options.jobs) as pool, tempfile.TemporaryDirectory() as cache:
        found = pool.map(is_seen, chosen, [Path(cache)] * len(chosen))
        for mutant, seen in zip(chosen, found, strict=True):
            print(f"{WORDS[seen]}  {mutant}", flush=True)
            green += seen is False
    print(f"{green} of {len(chosen)} errors not seen")
    return int(green > 0)


if __name__ == "__main__":
    sys.exit(main())
