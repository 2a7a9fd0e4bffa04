"""Ctrl-C as a request: the update in progress is finished first, so that it can be saved.

SIGTERM, and SIGHUP where a terminal closes, are the same request.
"""

from __future__ import annotations

import signal
from contextlib import ExitStack
from types import TracebackType

from boardenvs.utils.signals import ENDING, handling


class InterruptRequest:
    """Within this context the first such signal sets `requested`; the next one interrupts."""

    def __init__(self) -> None:
        self.requested = False

    def __enter__(self) -> InterruptRequest:
        self._stack = ExitStack()
        self._stack.enter_context(handling((signal.SIGINT, *ENDING), self._request))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _request(self, number: int) -> None:
        self.requested = True
