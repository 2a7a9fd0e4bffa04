"""What a call with any input may do: return, or raise an error that its documentation names.

It may not raise anything else, take long or much memory, echo a long input whole, write outside a
folder, start a process, open a connection, or import or unpickle what the input names.
"""

from __future__ import annotations

import linecache
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

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


class Outcome(NamedTuple):
    """What a call came to: a value, or one of the errors that it may raise."""

    value: Any
    error: BaseException | None


def attempt(
    call: Callable[[], Any], *errors: type[BaseException], folder: Path | None = None
) -> Outcome:
    """Make the call; AssertionError where it does what no input may make it do.

    It may raise these `errors`, from a `raise` of ours, and write into `folder`.
    """
    memory, cpu = _start_memory(), time.process_time()
    with _watching(folder) as faults, _limited():
        try:
            outcome = Outcome(call(), None)
        except errors as error:
            problem = _problem(error)
            outcome = Outcome(None, error)
        except (Exception, SystemExit) as error:
            problem = f"{type(error).__name__} is none of {errors}"
            outcome = Outcome(None, error)
        else:
            problem = ""
    # Not from within `except`: a report of this error would write out the other one too, which may
    # be as long as the input is nested.
    if outcome.error is not None and problem:
        where = "".join(traceback.format_tb(outcome.error.__traceback__)[1:])
        raise AssertionError(f"{problem}\n{where}{str(outcome.error)[:500]}")
    assert not faults, faults
    assert time.process_time() - cpu < SECONDS, f"{time.process_time() - cpu:.1f} s"
    grown = _peak_memory() - memory
    assert grown < MEGABYTES << 20, f"{grown >> 20} MB"
    return outcome


def _problem(error: BaseException) -> str:
    """What is wrong with an error: its message must be ours, and short enough to be read."""
    if len(str(error)) > MESSAGE:
        return f"a message of {len(str(error))} characters"
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or isinstance(error, OSError):  # the system's words
        return ""
    name, number = trace.tb_frame.f_code.co_filename, trace.tb_lineno
    line = linecache.getline(name, number).strip()
    if name.startswith(_OURS) and not line.startswith("raise "):
        return f"{name}, line {number}, did not mean to raise {type(error).__name__}"
    return ""


# ---- what a call does besides --------------------------------------------------------------------

_faults: list[str] | None = None  # None while no call is watched
_folder = ""


@contextmanager
def _watching(folder: Path | None) -> Iterator[list[str]]:
    global _faults, _folder
    found: list[str] = []
    _faults, _folder = found, "" if folder is None else os.path.realpath(folder)
    try:
        yield found
    finally:
        _faults = None


def _look(event: str, arguments: tuple[Any, ...]) -> None:
    if _faults is None:
        return
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, str | bytes) and flags & _WRITING and not _is_allowed(path):
            _faults.append(f"wrote {path!r}")
    elif event in _CHANGES:
        paths = [x for x in arguments if isinstance(x, str | bytes | os.PathLike)]
        _faults.extend(f"{event} {path!r}" for path in paths if not _is_allowed(path))
    elif event in _FORBIDDEN:
        _faults.append(f"{event} {arguments!r}"[:500])


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


# ---- limits --------------------------------------------------------------------------------------


@contextmanager
def _limited() -> Iterator[None]:
    """Stop a call that goes on and on, where it runs Python."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"still at work after {3 * SECONDS} s")

    if not hasattr(signal, "SIGPROF"):
        yield
        return
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, 3 * SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _start_memory() -> int:
    """Bytes in memory now, from where `_peak_memory` counts the most; 0 where nobody tells."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return 0
    return _status("VmRSS")


def _peak_memory() -> int:
    try:
        return _status("VmHWM")
    except OSError:
        return 0


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    return 0
