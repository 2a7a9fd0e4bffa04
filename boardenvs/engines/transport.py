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


class ProcessTransport(ChildProgram):
    """A running engine and its standard streams. No method waits longer than its arguments say."""

    _unsent = b""
    complaints = b""  # the last bytes of its standard error

    def __init__(self, command: Sequence[str]) -> None:
        if os.name != "posix":
            raise OSError("engines can be played on Linux and macOS only")
        super().__init__(command)
        self._selector = selectors.DefaultSelector()
        for stream in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(stream, False)
        for stream in (self.stdout, self.stderr):
            self._selector.register(stream, selectors.EVENT_READ)

    def write(self, data: bytes) -> None:
        """Send data as soon as the engine takes it, while `read` waits."""
        if data and not self._unsent:
            self._selector.register(self.stdin, selectors.EVENT_WRITE)
        self._unsent += data

    def read(self, seconds: float) -> bytes | None:
        """Return bytes that came; b"" after its end, None if nothing came in time."""
        until = self.now() + seconds
        while True:
            ready = [key.fd for key, _ in self._selector.select(max(0.0, until - self.now()))]
            if self.stdin in ready:
                self._send()
            came = _read(self.stdout) if self.stdout in ready else None
            if self.stderr in ready or came == b"":
                self._read_complaints()
            if came is not None:
                return came
            if self.now() >= until:
                return None

    def _send(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self.stdin, self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # `read` will find that it has ended
            self._unsent = b""
        if not self._unsent:
            self._selector.unregister(self.stdin)

    def _read_complaints(self) -> None:
        came = _read(self.stderr)
        self.complaints = (self.complaints + (came or b""))[-_KEPT:]
        if came == b"" and self.stderr in self._selector.get_map():
            self._selector.unregister(self.stderr)

    def now(self) -> float:
        """Return the seconds of a clock that only runs forwards."""
        return time.monotonic()

    def close(self, farewell: bytes = b"") -> None:
        """End it with everything that it started: at once, or a second after a farewell."""
        if self.is_closed:
            return
        if farewell:
            self.write(farewell)
            until = self.now() + _LEAVING
            while self.now() < until and self.read(until - self.now()):
                pass
        self._selector.close()
        super().close()


def _read(stream: int) -> bytes | None:
    """Return the bytes that are there; b"" at the end, None if there are none yet."""
    try:
        return os.read(stream, _CHUNK)
    except BlockingIOError:
        return None
