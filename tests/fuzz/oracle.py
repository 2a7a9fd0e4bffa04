"""What a call with any input may do: return, or raise an error that its documentation names.

It may not raise anything else, take long or much memory, echo a long input whole, write outside a
folder, start a process, open a connection, or import or unpickle what the input names.
"""

from __future__ import annotations

import linecache
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

# Of CPU. On an idle machine 2 are enough, which `make fuzz` asks for; a busy one takes longer.
SECONDS = float(os.environ.get("FUZZ_SECONDS", "20"))
MEGABYTES = 200
MESSAGE = 2500  # characters
CANARY = "fuzz_canary"  # the module that inputs name: importing it is a fault

ROOT = Path(__file__).resolve().parents[2]
_OURS = (str(ROOT / "boardenvs"), str(ROOT / "training"))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink",
            "os.truncate", "os.chmod", "os.chown")  # fmt: skip
_FORBIDDEN = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
              "socket.connect", "socket.bind", "pickle.find_class")  # fmt: skip


def attempt(
    call: Callable[[], Any], *errors: type[BaseException], folder: Path | None = None
) -> tuple[Any, BaseException | None]:
    """Make the call: its value, or its error; AssertionError where it does what no input may make
    it do.

    It may raise these `errors`, from a `raise` of ours, and write into `folder`.
    """
    value, raised = None, None
    memory = _memory("VmRSS")
    with _watching(folder) as faults:
        try:
            value = call()
        except (Exception, SystemExit) as error:
            raised = error
    # Not from within `except`: a report of this error would write out the other one too, which may
    # be as long as the input is nested.
    if raised is not None and (problem := _problem(raised, errors)):
        where = "".join(traceback.format_tb(raised.__traceback__)[1:])
        faults.append(f"{problem}\n{where}{str(raised)[:500]}")
    grown = _memory("VmHWM") - memory
    if grown > MEGABYTES << 20:
        faults.append(f"{grown >> 20} MB")
    assert not faults, "\n".join(faults)
    return value, raised


def _problem(error: BaseException, errors: tuple[type[BaseException], ...]) -> str:
    """What is wrong with an error: its message must be ours, and short enough to be read."""
    if not isinstance(error, errors):
        return f"{type(error).__name__} is none of {errors}"
    if len(str(error)) > MESSAGE:
        return f"a message of {len(str(error))} characters"
    *_, (frame, number) = traceback.walk_tb(error.__traceback__)
    name = frame.f_code.co_filename
    ours = name.startswith(_OURS) and not isinstance(error, OSError)  # which has the system's words
    if ours and not linecache.getline(name, number).strip().startswith("raise "):
        return f"{name}, line {number}, did not mean to raise {type(error).__name__}"
    return ""


def _memory(which: str) -> int:
    """Bytes that are taken now, from where the most is counted, or the most since; 0 where nobody
    tells.
    """
    with suppress(OSError):
        if which == "VmRSS":
            Path("/proc/self/clear_refs").write_text("5")
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{which}:"):
                return int(line.split()[1]) << 10
    return 0


# ---- what a call does besides --------------------------------------------------------------------

_faults: list[str] | None = None  # None while no call is watched
_folder = ""


@contextmanager
def _watching(folder: Path | None) -> Iterator[list[str]]:
    """What the call does that it may not; one that goes on and on is stopped."""
    global _faults, _folder

    def stop(number: int, frame: FrameType | None) -> None:
        found.append(f"still at work after {SECONDS} s")
        raise AssertionError

    found: list[str] = []
    _faults, _folder = found, "" if folder is None else os.path.realpath(folder)
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield found
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        _faults = None


def _look(event: str, arguments: tuple[Any, ...]) -> None:
    if _faults is None:
        return
    if event in _FORBIDDEN:
        _faults.append(f"{event} {arguments!r}"[:500])
    elif event in _CHANGES or (event == "open" and arguments[2] & _WRITING):
        for path in arguments[:1] if event == "open" else arguments:
            if isinstance(path, str | bytes | os.PathLike) and not _is_allowed(path):
                _faults.append(f"wrote {path!r}: {event}")


def _is_allowed(path: Any) -> bool:
    text = os.path.realpath(os.fsdecode(path))
    inside = bool(_folder) and (text == _folder or text.startswith(_folder + os.sep))
    return inside or text == os.devnull or "__pycache__" in text


class _Finder:
    """Sees what modules are looked for, and has none."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if _faults is not None and CANARY in name:
            _faults.append(f"import {name}")


# Both stay for the process, and do nothing between the calls.
sys.addaudithook(_look)
sys.meta_path.insert(0, _Finder)
