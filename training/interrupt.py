"""Ctrl-C as a request: the update in progress is finished first, so that it can be saved."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class InterruptRequest:
    """Within this context the first SIGINT or SIGTERM sets `requested`; the next one interrupts."""

    def __init__(self) -> None:
        self.requested = False

    def __enter__(self) -> InterruptRequest:
        self._before = [signal.signal(s, self._handle) for s in _SIGNALS]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in zip(_SIGNALS, self._before, strict=True):
            signal.signal(number, handler)
