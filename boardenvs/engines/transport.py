"""What carries bytes to an engine and back: a process, or in tests a script."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

_GUARD = Path(__file__).with_name("guard.py")
_CHUNK = 1 << 16  # bytes read or written at once
_KEPT = 2000  # bytes of what it said beside its answers
_LEAVING = 1.0  # seconds that an engine has to end by itself


class Transport(ABC):
    """An engine that runs. Nothing here waits for longer than it is told to."""

    @abstractmethod
    def write(self, data: bytes) -> None:
        """Send this, as soon as the engine takes it: while `read` waits."""

    @abstractmethod
    def read(self, seconds: float) -> bytes | None:
        """What came from it; nothing, b"", after its end, and None where none came in time."""

    @abstractmethod
    def now(self) -> float:
        """Seconds by the clock, since any moment."""

    @abstractmethod
    def cpu(self) -> float:
        """Seconds of CPU that it took so far; 0 where the system does not say."""

    @abstractmethod
    def complaints(self) -> bytes:
        """The end of what it wrote to standard error."""

    @abstractmethod
    def close(self, farewell: bytes = b"") -> None:
        """End it, with all that it started: at once or, after a farewell, in a second."""


class ProcessTransport(Transport):
    """A program and its standard streams. It ends with this process, however that ends, and with
    it all that it started, but for what leaves its process group.
    """

    def __init__(self, command: Sequence[str]) -> None:
        if os.name != "posix":
            raise OSError("engines are played on Linux and macOS: Windows has no such pipes")
        theirs, self._life = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_GUARD), str(theirs), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(theirs,),
                start_new_session=True,  # a group of its own; and Ctrl-C is for us
            )
        except BaseException:
            os.close(self._life)
            raise
        finally:
            os.close(theirs)
        streams = self._process.stdin, self._process.stdout, self._process.stderr
        self._in, self._out, self._err = (s.fileno() for s in streams if s is not None)
        self._selector = selectors.DefaultSelector()
        for stream in (self._in, self._out, self._err):
            os.set_blocking(stream, False)
        for stream in (self._out, self._err):
            self._selector.register(stream, selectors.EVENT_READ)
        self._waiting = b""  # to be written
        self._said = b""
        self._owner = os.getpid()  # after a fork it is not the other process's to end

    def write(self, data: bytes) -> None:
        if not self._waiting:
            self._selector.register(self._in, selectors.EVENT_WRITE)
        self._waiting += data

    def read(self, seconds: float) -> bytes | None:
        until = time.monotonic() + seconds
        while True:
            ready = [key.fd for key, _ in self._selector.select(max(0.0, until - self.now()))]
            if self._in in ready:
                self._send()
            came = _read(self._out) if self._out in ready else None
            if self._err in ready or came == b"":
                self._listen()
            if came is not None:
                return came
            if self.now() >= until:
                return None

    def _send(self) -> None:
        try:
            self._waiting = self._waiting[os.write(self._in, self._waiting[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # that it ended is seen when it is read from
            self._waiting = b""
        if not self._waiting:
            self._selector.unregister(self._in)

    def _listen(self) -> None:
        said = _read(self._err)
        self._said = (self._said + (said or b""))[-_KEPT:]
        if said == b"" and self._err in self._selector.get_map():
            self._selector.unregister(self._err)

    def now(self) -> float:
        return time.monotonic()

    def cpu(self) -> float:
        ticks = 0
        for status in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it has just ended
                fields = status.read_text(errors="replace").rpartition(")")[2].split()
                if int(fields[2]) == self._process.pid:  # its group
                    ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def complaints(self) -> bytes:
        return self._said

    def close(self, farewell: bytes = b"") -> None:
        if self._life < 0 or self._owner != os.getpid():
            return
        if farewell:
            self.write(farewell)
            until = self.now() + _LEAVING
            while self.now() < until and self.read(until - self.now()):
                pass
        # Before it is waited for: until then its number is no other group's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        os.close(self._life)
        self._life = -1
        self._process.wait()
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def _read(stream: int) -> bytes | None:
    """What is there to be read, b"" at its end, and None where nothing is."""
    try:
        return os.read(stream, _CHUNK)
    except BlockingIOError:
        return None
