"""Carries bytes to an engine and back."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Sequence

from boardenvs.utils.child import ChildProgram

_CHUNK = 1 << 16  # bytes read or written at once
_KEPT = 2000  # bytes of its standard error
_LEAVING = 1.0  # seconds that an engine has to end by itself


class ProcessTransport:
    """A running engine: a program and its standard streams, see `ChildProgram`. No method waits for
    longer than its arguments say.
    """

    def __init__(self, command: Sequence[str]) -> None:
        if os.name != "posix":
            raise OSError("engines can be played on Linux and macOS only")
        self._program = ChildProgram(command)
        self._selector = selectors.DefaultSelector()
        streams = self._program.stdin, self._program.stdout, self._program.stderr
        for stream in streams:
            os.set_blocking(stream, False)
        for stream in streams[1:]:
            self._selector.register(stream, selectors.EVENT_READ)
        self._unsent = b""
        self._complaints = b""

    def write(self, data: bytes) -> None:
        """Send data as soon as the engine takes it, while `read` waits."""
        if data and not self._unsent:
            self._selector.register(self._program.stdin, selectors.EVENT_WRITE)
        self._unsent += data

    def read(self, seconds: float) -> bytes | None:
        """Return bytes that came; b"" after its end, None if nothing came in time."""
        until = self.now() + seconds
        while True:
            ready = [key.fd for key, _ in self._selector.select(max(0.0, until - self.now()))]
            if self._program.stdin in ready:
                self._send()
            came = _read(self._program.stdout) if self._program.stdout in ready else None
            if self._program.stderr in ready or came == b"":
                self._read_complaints()
            if came is not None:
                return came
            if self.now() >= until:
                return None

    def _send(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._program.stdin, self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # `read` will find that it has ended
            self._unsent = b""
        if not self._unsent:
            self._selector.unregister(self._program.stdin)

    def _read_complaints(self) -> None:
        came = _read(self._program.stderr)
        self._complaints = (self._complaints + (came or b""))[-_KEPT:]
        if came == b"" and self._program.stderr in self._selector.get_map():
            self._selector.unregister(self._program.stderr)

    def now(self) -> float:
        """Seconds by a clock that only runs forwards."""
        return time.monotonic()

    def cpu(self) -> float:
        """CPU seconds that it took so far; 0 if the system does not say."""
        return self._program.cpu_seconds()

    def how_it_ended(self) -> str:
        """After its output has ended: "with exit code 1", or that it still runs."""
        return self._program.how_it_ended(_LEAVING)

    def complaints(self) -> bytes:
        """Return the last bytes of its standard error."""
        return self._complaints

    def close(self, farewell: bytes = b"") -> None:
        """End it with everything that it started: at once, or a second after a farewell."""
        if self._program.is_closed:
            return
        if farewell:
            self.write(farewell)
            until = self.now() + _LEAVING
            while self.now() < until and self.read(until - self.now()):
                pass
        self._selector.close()
        self._program.close()


def _read(stream: int) -> bytes | None:
    """Return the bytes that are there; b"" at the end, None if there are none yet."""
    try:
        return os.read(stream, _CHUNK)
    except BlockingIOError:
        return None
