"""Runs the examples of other libraries, each by the command at its top; `make examples`. Those that
need nothing but what .venv has run there: tests/test_examples_long.py.

The environments that the commands make stay in .venv-examples/, so the next run is faster. Names of
examples as arguments run these alone. The exit code is 1 where one failed or did not learn.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ("mctx_search",)
EXAMPLES = sorted(
    file for file in (ROOT / "training" / "examples").glob("*.py") if file.stem not in HERE
)

_COMMAND = re.compile(r"^# (uv venv .*(?:\n#     .*)*)$", re.MULTILINE)
_SECONDS = 900  # an example, its environment included


def command_of(example: Path) -> str:
    """The command at the top of an example; ValueError where there is none."""
    found = _COMMAND.search(example.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{example.name} has no comment that begins with 'uv venv'")
    return found[1].replace("\n# ", "\n")


def ends_well(command: str) -> bool:
    """Whether a command of the shell ends in time, and without an error."""
    process = subprocess.Popen(["bash", "-c", command], cwd=ROOT, start_new_session=True)
    try:
        return process.wait(_SECONDS) == 0
    except BaseException as error:  # Ctrl-C and SIGTERM too
        os.killpg(process.pid, signal.SIGKILL)  # what it started goes with it
        if isinstance(error, subprocess.TimeoutExpired):
            print(f"still at work after {_SECONDS} s")
            return False
        raise


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    names = sys.argv[1:] or [example.stem for example in EXAMPLES]
    failed = []
    for name in names:
        command = command_of(ROOT / "training" / "examples" / f"{name}.py")
        print(f"== {name}\n{command}", flush=True)
        began = time.monotonic()
        passed = ends_well(command)
        word = "passed" if passed else "failed"
        print(f"{name} {word} after {time.monotonic() - began:.0f} s", flush=True)
        if not passed:
            failed.append(name)
    count = len(names) - len(failed)
    print(f"{count} of {len(names)} passed; failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
