"""Lines to an engine and back, within limits of time and size."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from boardenvs.engines.transport import ProcessTransport
from boardenvs.game.errors import NoMoveError
from boardenvs.utils.checks import cut, printable

MAX_LINE = 1 << 16  # bytes
MAX_ANSWER = 1 << 22  # bytes between two questions
_PER_LINE = 100  # bytes that each line counts in addition to its own
_SHOWN = 200  # characters of a line in messages


class EngineError(NoMoveError):
    """An engine's fault. It must be started again before the next question."""


class EngineLateError(EngineError):
    """An engine did not answer in time."""


class Channel:
    """An engine's lines. `begin` starts the clock for the next question."""

    def __init__(self, transport: ProcessTransport) -> None:
        self.transport = transport
        self._came = bytearray()
        self._last = deque[str](maxlen=5)
        self.begin(0.0)

    def begin(self, limit: float) -> None:
        """Count time and bytes from now on, up to this limit in seconds."""
        self._limit, self._until = limit, self.transport.now() + limit
        self._bytes = 0

    def check_time(self) -> float:
        """Return the seconds that are left; EngineLateError beyond the limit."""
        left = self._until - self.transport.now()
        if left < 0:
            raise EngineLateError(f"it was not done in {self._limit:g} seconds")
        return left

    def send(self, lines: Iterable[str]) -> None:
        """Send lines, given without their line ends."""
        self.transport.write("".join(f"{line}\n" for line in lines).encode())

    def line(self) -> str:
        """Return the engine's next line, stripped; EngineError if none comes."""
        while (end := self._came.find(b"\n")) < 0 and len(self._came) <= MAX_LINE:
            self._fetch()
        if not 0 <= end <= MAX_LINE:
            raise EngineError(f"it wrote a line of more than {MAX_LINE} bytes")
        line = self._came[:end].decode("utf-8", "backslashreplace").strip()
        del self._came[: end + 1]
        self._bytes += end + _PER_LINE
        if line:
            self._last.append(line)
        if self._bytes > MAX_ANSWER:
            raise EngineError("it wrote more than 4 MiB in place of an answer")
        self.check_time()
        return line

    def _fetch(self) -> None:
        came = self.transport.read(self.check_time())
        if came == b"":
            raise EngineError(f"it ended {self.transport.how_it_ended()}")
        self._came += came or b""

    def last_lines(self) -> str:
        """Return the engine's last lines and complaints for a message, in one line."""
        complaints = self.transport.complaints.decode("utf-8", "backslashreplace")
        parts = []
        for where, lines in {
            "its last lines": [*self._last],
            "on standard error": complaints.split("\n"),
        }.items():
            if said := [shown(line) for line in lines if line.strip()][-3:]:
                parts.append(f"{where}: {' | '.join(said)}")
        return "; ".join(parts)


def shown(text: str) -> str:
    """Return an engine's words in one line for a message, shortened."""
    return cut(printable(" ".join(text.split())), _SHOWN)
