"""Processes that work for another one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading


def serve_parent() -> None:
    """What a process that works for its parent does first: leave Ctrl-C, and a terminal that
    closes, to the parent, which ends it; and end with the parent, whatever it is at then.
    """
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
