"""Runs the examples of other libraries, each by the command at its top; `make examples`.

The environments that the commands make stay in .venv-examples/, so the next run is faster. Names of
examples as arguments run these alone. The exit code is 1 where one failed or did not learn.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "training" / "examples").glob("*.py"))

_COMMAND = re.compile(r"^# (python3 -m venv .*(?:\n#     .*)*)$", re.MULTILINE)
_SECONDS = 600  # an example, its environment included


def command_of(example: Path) -> str:
    """The command at the top of an example; ValueError where there is none."""
    found = _COMMAND.search(example.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{example.name} has no comment that begins with 'python3 -m venv'")
    return found[1].replace("\n# ", "\n")


def main() -> int:
    names = sys.argv[1:] or [example.stem for example in EXAMPLES]
    failed = []
    for name in names:
        command = command_of(ROOT / "training" / "examples" / f"{name}.py")
        print(f"== {name}\n{command}", flush=True)
        began = time.monotonic()
        ended = subprocess.run(["bash", "-c", command], cwd=ROOT, timeout=_SECONDS, check=False)
        word = "failed" if ended.returncode else "passed"
        print(f"{name} {word} after {time.monotonic() - began:.0f} s", flush=True)
        if ended.returncode:
            failed.append(name)
    passed = len(names) - len(failed)
    print(f"{passed} of {len(names)} passed; failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
