"""Processes that think for the pages, and who of those that wait gets the next one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from typing import Any

_MOST_LINE = 64 << 20  # bytes of a part of an answer
_IDLE = 300.0  # seconds after which a process that has nothing to do ends
_KEPT = 1  # processes that stay, ready for the next job


class AgentProcessError(Exception):
    """A process ended before its job did; the message is for users."""


class Workers:
    """At most `most` processes, each at one job; a job whose reader leaves is stopped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._idle: list[tuple[float, asyncio.subprocess.Process]] = []
        self._at_work: set[asyncio.subprocess.Process] = set()
        self._jobs: Counter[object] = Counter()  # running, by owner
        self._waiting: list[tuple[object, asyncio.Future[None]]] = []

    async def run(
        self, owner: object, job: Mapping[str, Any]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The parts of the answer to a job, as they come.

        ValueError with what was wrong, AgentProcessError where the process died. Where processes
        are short, owners with fewer jobs come first.
        """
        await self._turn(owner)
        process, at_end = None, False
        try:
            process = await self._process()
            self._at_work.add(process)
            reader, writer = process.stdout, process.stdin
            assert reader is not None
            assert writer is not None
            writer.write(json.dumps(job).encode() + b"\n")
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
            if process is not None:
                self._at_work.discard(process)
                if at_end:
                    self._idle.append((time.monotonic(), process))
                else:
                    _kill(process)
            self._jobs[owner] -= 1
            self._jobs += Counter()  # owners without a job are forgotten
            self._wake()

    async def warm(self) -> None:
        """Have a process ready."""
        with contextlib.suppress(AgentProcessError):
            async for _ in self.run(self, {"do": "warm"}):
                pass

    async def tidy(self) -> None:
        """End processes that have nothing to do; runs until it is cancelled."""
        while True:
            await asyncio.sleep(_IDLE / 10)
            while len(self._idle) > _KEPT and time.monotonic() - self._idle[0][0] > _IDLE:
                _kill(self._idle.pop(0)[1])

    def close(self) -> None:
        """End all processes at once."""
        for process in [*self._at_work, *(process for _, process in self._idle)]:
            _kill(process)
        self._idle.clear()

    async def _turn(self, owner: object) -> None:
        if sum(self._jobs.values()) >= self._most:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append((owner, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if (owner, turn) in self._waiting:
                    self._waiting.remove((owner, turn))
                else:  # it was given just now
                    self._jobs[owner] -= 1
                    self._wake()
                raise
        else:
            self._jobs[owner] += 1

    def _wake(self) -> None:
        while self._waiting and sum(self._jobs.values()) < self._most:
            chosen = min(self._waiting, key=lambda waiting: self._jobs[waiting[0]])
            self._waiting.remove(chosen)
            owner, turn = chosen
            self._jobs[owner] += 1
            turn.set_result(None)

    async def _process(self) -> asyncio.subprocess.Process:
        while self._idle:
            _, process = self._idle.pop()
            if process.returncode is None:
                return process
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "boardenvs.web.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_MOST_LINE,
            start_new_session=True,  # Ctrl-C is for the server, which ends them
        )


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
