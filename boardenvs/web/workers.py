"""Processes that think for the pages, at one job each; `worker` is what runs in them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncGenerator
from typing import Any

from boardenvs.web.messages import Job

MAX_ANSWER = 64 << 20  # bytes of a part of an answer
_KEPT = 2  # processes that stay, ready for the next job


class AgentProcessError(Exception):
    """A process ended before its job did; the message is for users."""


class Workers:
    """At most `most` processes; a job whose reader leaves is stopped by ending its process."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._idle: list[asyncio.subprocess.Process] = []
        self._at_work: set[asyncio.subprocess.Process] = set()

    async def run(self, job: Job) -> AsyncGenerator[dict[str, Any], None]:
        """The parts of the answer to a job, as they come.

        ValueError with what was wrong, AgentProcessError where the process died.
        """
        async with self._free:
            process, at_end = await self._process(), False
            self._at_work.add(process)
            reader, writer = process.stdout, process.stdin
            assert reader is not None
            assert writer is not None
            try:
                writer.write(job.model_dump_json().encode() + b"\n")
                while not at_end:
                    line = await reader.readline()
                    if not line:
                        raise AgentProcessError(
                            "the process that was thinking ended, perhaps for want of memory"
                        )
                    part = json.loads(line)
                    at_end = bool(part.get("end"))
                    if "error" in part:
                        raise ValueError(part["error"])
                    if not at_end:
                        yield part
            finally:
                self._at_work.discard(process)
                if at_end and len(self._idle) < _KEPT:
                    self._idle.append(process)
                else:
                    _kill(process)

    async def warm(self) -> None:
        """Have a process ready: it imports what it needs before its first job."""
        self._idle.append(await self._process())

    def close(self) -> None:
        """End all processes at once."""
        for process in [*self._at_work, *self._idle]:
            _kill(process)
        self._idle.clear()

    async def _process(self) -> asyncio.subprocess.Process:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "boardenvs.web.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=MAX_ANSWER,
            start_new_session=True,  # Ctrl-C is for the server, which ends them
        )


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
