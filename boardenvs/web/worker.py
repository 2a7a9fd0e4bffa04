"""Processes in which agents think for the pages, so that they can be stopped by killing them.

A process does one job at a time, and answers with parts in JSON; the last one has "end". Parts
with "preparing" say that a game is being compiled, which is done once. Output of agents goes to
standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import time
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from multiprocessing import active_children
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from boardenvs import games, records
from boardenvs.agents import Agent, agent_for
from boardenvs.agents.analyse import AnalysisClock, analyse, analyse_until
from boardenvs.agents.base import AnalysingUntil
from boardenvs.agents.spec import make_agent
from boardenvs.game.errors import IllegalActionError, StopPlayError
from boardenvs.game.position import Position
from boardenvs.game.session import GameSession
from boardenvs.kernel.backend import get_backend, no_compiling
from boardenvs.play import choose_action
from boardenvs.play.review import analyse_line
from boardenvs.records.record import names, played
from boardenvs.utils.child import ChildFunction
from boardenvs.web.boards import describe_position, parsed, read_line
from boardenvs.web.messages import (
    MAX_GAMES,
    MAX_PLIES,
    ExplainRequest,
    Job,
    LoadJob,
    MoveRequest,
)

_IDLE = 2  # processes that are kept for the next job
_SECONDS_BETWEEN = 0.1  # explanations


class Workers:
    """At most `most` processes; a job is stopped by killing its process."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._threads = ThreadPoolExecutor(most, "web-worker")  # each waits for a process
        self._idle: list[ChildFunction] = []

    async def run(self, job: Job) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the parts of the answer to a job, as they come; ValueError if it failed."""
        async with self._free:
            child = await self._child()
            reading, at_end = self._threads.submit(_ask, child, job), False
            part: dict[str, Any] = {}
            try:
                while not at_end:
                    answer = await asyncio.wrap_future(reading)
                    part = json.loads(answer)
                    at_end = bool(part.get("end"))
                    if "error" in part:
                        raise ValueError(part["error"])
                    if not at_end:
                        yield part
                        reading = self._threads.submit(_receive, child)
            finally:
                if "preparing" in part:  # machine code is kept, so this is never lost
                    self._threads.submit(self._let_prepare, child, reading)
                elif at_end and len(self._idle) < _IDLE:
                    self._idle.append(child)
                else:
                    child.kill()
                    reading.add_done_callback(lambda _: child.close())

    def _let_prepare(self, child: ChildFunction, reading: Future[bytes]) -> None:
        """Close a process whose job was stopped once it does not compile any more."""
        with contextlib.suppress(ValueError):
            answer = reading.result()
            while "preparing" in json.loads(answer):
                answer = _receive(child)
        child.close()

    async def warm(self) -> None:
        """Start a process, so that its imports are done before its first job."""
        self._idle.append(await self._child())

    def close(self) -> None:
        """Kill all processes."""
        for process in active_children():
            process.kill()
        self._threads.shutdown(wait=False)

    async def _child(self) -> ChildFunction:
        while self._idle:
            child = self._idle.pop()
            if child.is_alive:
                return child
            child.close()
        return await asyncio.wrap_future(self._threads.submit(ChildFunction, work))


def _ask(child: ChildFunction, job: Job) -> bytes:
    """Send a job, and return the first part of the answer."""
    with contextlib.suppress(OSError):  # it has ended, which `_receive` reports
        child.pipe.send(job)
    return _receive(child)


def _receive(child: ChildFunction) -> bytes:
    try:
        return child.pipe.recv_bytes()
    except (EOFError, OSError) as error:
        raise ValueError(
            "the process that was thinking ended, perhaps because there was too little memory"
        ) from error


# ---- in the process ------------------------------------------------------------------------------


def work(pipe: Connection) -> None:
    """Answer jobs until the server ends or kills this process."""
    os.dup2(2, 1)
    if get_backend() == "numba":  # else nothing is compiled
        from boardenvs.kernel.compile_cache import when_compiling

        step = itertools.count(1)
        when_compiling.append(lambda: pipe.send_bytes(b'{"preparing": %d}' % next(step)))
    with contextlib.suppress(EOFError, BrokenPipeError):  # the server has ended
        while True:
            for part in _answer(pipe.recv()):
                pipe.send_bytes(json.dumps(part).encode())


def _answer(job: Job) -> Iterator[dict[str, Any]]:
    """Yield the parts of a job's answer; an error is the last part."""
    last: dict[str, Any] = {"end": True}
    try:
        yield from _parts(job)
    except (ValueError, OSError, StopPlayError) as error:
        last["error"] = str(error)
    except Exception as error:
        last["error"] = f"{type(error).__name__}: {error}"
    yield last


def _parts(job: Job) -> Iterator[dict[str, Any]]:
    if isinstance(job, LoadJob):
        yield {"games": _load(job)}
        return
    session = played(read_line(parsed(job.line.game), job.line))
    if job.do == "review":
        agent = None if job.agent is None else _agent(job.agent)
        for ply, analysis, rough in analyse_line(session, agent):
            yield {"ply": ply, "explanation": analysis.to_json(), "rough": rough}
    elif session.is_over:
        raise ValueError("the game is over in this position")
    else:
        yield from _move(job, session) if job.do == "move" else _explain(job, session.position)


_kept = lru_cache(maxsize=8)(make_agent)


def _agent(text: str) -> Agent:
    """Return the agent of a text; files, such as a running training's, are read each time."""
    return make_agent(text) if ".npz" in text else _kept(text)


def _move(job: MoveRequest, session: GameSession) -> Iterator[dict[str, Any]]:
    position, agent = session.position, agent_for(session.game, _agent(job.agent))
    try:
        if job.seconds is None or not isinstance(agent, AnalysingUntil):
            action = choose_action(session, agent, job.seed)
        else:
            rng = np.random.default_rng([job.seed, position.ply])
            chosen = analyse(position, agent, time=job.seconds, rng=rng).choice
            assert chosen is not None
            action = chosen
    except IllegalActionError as error:
        raise ValueError(f"{job.agent}: {error}") from None
    yield {"position": describe_position(position.step(action), action, position)}


def _explain(job: ExplainRequest, position: Position) -> Iterator[dict[str, Any]]:
    clock, shown, last = AnalysisClock(job.seconds), 0.0, None
    for analysis in analyse_until(position, _agent(job.agent), clock.is_over):
        last = clock.start(analysis)
        if time.monotonic() - shown >= _SECONDS_BETWEEN:
            yield {"explanation": analysis.to_json()}
            shown, last = time.monotonic(), None
    if last:
        yield {"explanation": last.to_json()}


@no_compiling()
def _load(job: LoadJob) -> list[dict[str, Any]]:
    """Return the games of a file, checked by the rules; unknown moves are kept as written."""
    loaded = records.load(job.path, game=parsed(job.game))
    if len(loaded) > MAX_GAMES:
        raise ValueError(f"there are {len(loaded):,} games: at most {MAX_GAMES:,} are shown")
    longest = max((len(record.actions) for record in loaded), default=0)
    if longest > MAX_PLIES:
        raise ValueError(f"a game has {longest:,} plies: at most {MAX_PLIES:,} are shown")
    text_of = lru_cache(maxsize=32)(games.spec_of)
    return [
        {
            "game": text_of(record.game),
            "start": None if record.start is None else record.start.fen(),
            "moves": " ".join(names(record)),
            "players": record.players,
            "info": dict(record.info),
            "goals": record.goal or verdict.goal,
            "error": verdict.error,
        }
        for record, verdict in zip(loaded, records.check(loaded), strict=True)
    ]
