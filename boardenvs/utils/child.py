"""Child processes: how they are started, killed, and end together with this process.

`ChildFunction` runs a Python function, `TimedCalls` calls several, `ChildProgram` runs any command.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from boardenvs.utils.ending import message_of

# Works everywhere, whether there are threads or not; shared memory for children comes from it too.
CONTEXT = multiprocessing.get_context("spawn")

_SECRET = re.compile(r"[A-Z0-9_]*(KEY|TOKEN|SECRET|PASSWORD)[A-Z0-9_]*", re.IGNORECASE)
_GUARD = Path(__file__).with_name("child_guard.py")
_FROM_TERMINAL = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)
)


class ChildFunction:
    """A Python function in a process of its own.

    function: called there as `function(pipe, *arguments)`, where `pipe` is the other end of
    `self.pipe`. It must be importable, and everything is pickled.

    The child ignores Ctrl-C and a closing terminal, which this process handles, and ends when this
    process ends. It computes with as many threads as its environment variables say.
    """

    def __init__(self, function: Callable[..., None], *arguments: Any) -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=_run, args=(function, theirs, *arguments))
        self._start()
        theirs.close()  # so that the pipe ends with the child

    def _start(self) -> None:
        """Start it, so that signals of the terminal wait until the child ignores them."""
        if not hasattr(signal, "pthread_sigmask"):  # Windows
            self._process.start()
            return
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # Python 3.11 unblocks the signals when it starts this
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _FROM_TERMINAL)  # inherited
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.is_alive()

    def kill(self) -> None:
        """Kill it at once; any thread may call this, and a thread that reads then reads the end."""
        self._process.kill()

    def close(self) -> None:
        """Kill it and release what belongs to it; no thread may be reading."""
        self._process.kill()
        self._process.join()
        self.pipe.close()

    def how_it_ended(self) -> str:
        """Say how it ended, after waiting for the end for some seconds: "with exit code 1"."""
        self._process.join(30.0)
        return describe_end(self._process.exitcode)


class TimedCalls:
    """Calls functions in another process, which is killed if they take too long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._child: ChildFunction | None = None
        self.begin()

    def begin(self) -> None:
        """Count the seconds from now on."""
        self._until = time.monotonic() + self._seconds

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what the function returns; ValueError if it fails, or is not done in time."""
        if self._child is None or not self._child.is_alive:
            self._child = ChildFunction(answer_calls, _print_aside)
        pipe, is_done = self._child.pipe, False
        try:
            pipe.send((_result_or_reason, (function, arguments)))
            if not pipe.poll(max(0.0, self._until - time.monotonic())):
                raise ValueError(f"a call may take {self._seconds:g} seconds, and this took longer")
            result, reason = pipe.recv()
            is_done = True
        except (EOFError, OSError):
            raise ValueError(f"the process ended {self._child.how_it_ended()}") from None
        finally:
            if not is_done:
                self._child.close()
                self._child = None
        if reason is not None:
            raise ValueError(reason)
        return result


def answer_calls(pipe: Connection, begin: Callable[..., None], *arguments: Any) -> None:
    """Call `begin` once, then the functions that come through the pipe, for `ChildFunction`.

    It ends when the other end closes. The functions must not raise.
    """
    begin(*arguments)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            function, values = pipe.recv()
            pipe.send(function(*values))


def _print_aside() -> None:
    os.dup2(2, 1)  # standard output may belong to a protocol


def _result_or_reason(
    function: Callable[..., Any], arguments: Sequence[Any]
) -> tuple[Any, str | None]:
    try:
        return function(*arguments), None
    except BaseException as error:  # it may be anybody's code
        return None, message_of(error)


class ChildProgram:
    """A command with pipes for its standard streams, in a process group of its own; POSIX only.

    It ends with this process, however that ends, together with everything that it started and that
    has not left its process group. Of the environment it gets no variable that `is_secret`. OSError
    if no process can be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        theirs, self._life = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_GUARD), str(theirs), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={name: value for name, value in os.environ.items() if not is_secret(name)},
                pass_fds=(theirs,),
                start_new_session=True,  # a group of its own, which Ctrl-C does not reach
            )
        except BaseException:
            os.close(self._life)
            raise
        finally:
            os.close(theirs)
        self._streams = [
            s for s in (self._process.stdin, self._process.stdout, self._process.stderr) if s
        ]
        self.stdin, self.stdout, self.stderr = (stream.fileno() for stream in self._streams)
        self._owner = os.getpid()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or belongs to another process since a fork."""
        return self._life < 0 or self._owner != os.getpid()

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of it and its children so far; 0 on systems without /proc."""
        ticks, left = 0, [str(self._process.pid)]
        while left:
            process = Path("/proc") / left.pop()
            with contextlib.suppress(OSError):  # it has just ended
                fields = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
                left += (process / "task" / process.name / "children").read_text().split()
        return ticks / os.sysconf("SC_CLK_TCK")

    def how_it_ended(self) -> str:
        """Say how it ended, after waiting for the end for some seconds, or that it still runs."""
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return "its output, but still runs"
        # The guard ends as the program did, as shells say it: 128 + 9 for signal 9.
        return describe_end(128 - code if code > 128 else code)

    def close(self) -> None:
        """Kill it with its process group, and close its streams."""
        if self.is_closed:
            return
        # Before waiting for it: until then no other group can have its number.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        os.close(self._life)
        self._life = -1
        self._process.wait()
        for stream in self._streams:
            stream.close()


def is_secret(variable: str) -> bool:
    """Return whether a variable holds a key or password by its name, as OPENAI_API_KEY."""
    return _SECRET.fullmatch(variable) is not None


def describe_end(code: int | None) -> str:
    """Say what an exit code means: "with exit code 1", "by signal 9 (SIGKILL)"."""
    if code is None:
        return "without an exit code"
    if code >= 0:
        return f"with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:  # one of those between SIGRTMIN and SIGRTMAX
        name = "a real-time signal"
    return f"by signal {-code} ({name})"


def _run(function: Callable[..., None], pipe: Connection, *arguments: Any) -> None:
    for number in _FROM_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _FROM_TERMINAL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    function(pipe, *arguments)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)
