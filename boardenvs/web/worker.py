"""Processes that think for the pages, at one job each, where they can be stopped by ending them.

A process, which runs this file, reads a job a line from its standard input, and writes parts of
the answer, a line of JSON each, the last of which has "end". What code of agents prints goes to
standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import re
import sys
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from boardenvs import games, records
from boardenvs.agents import Agent, agent_for, analyse, analyse_until
from boardenvs.agents.base import AnalysingUntil
from boardenvs.agents.spec import make_agent
from boardenvs.game.contract import Position
from boardenvs.game.errors import IllegalActionError
from boardenvs.kernel.backend import no_compiling
from boardenvs.play import reply
from boardenvs.records.record import names
from boardenvs.search.analysis import ranked
from boardenvs.web.boards import describe_position, parsed, read_line
from boardenvs.web.messages import (
    MAX_GAMES,
    MAX_PLIES,
    ExplainRequest,
    Job,
    Line,
    LoadJob,
    MoveRequest,
    ReviewRequest,
    parse_job,
)

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


_MEMORY = 4 << 30  # bytes that an agent may take
_SHOWN_EVERY = 0.1  # seconds between two explanations

_FILE = re.compile(r"[^:=,]+\.npz")  # in the text of an agent

_text_of = lru_cache(maxsize=32)(games.spec_of)


def main() -> None:
    """Answer jobs until standard input ends, which it does with the server."""
    _bound_memory()
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(jobs,), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        while True:
            for part in _answer(jobs.get()):
                answers.write(_line(part))
                answers.flush()
    except BrokenPipeError:
        os._exit(0)  # the server has ended


def _line(part: dict[str, Any]) -> bytes:
    """A part of an answer as it is sent; where that is too long, what is wrong."""
    line = json.dumps(part, ensure_ascii=False).encode() + b"\n"
    if len(line) < MAX_ANSWER:
        return line
    return _line({"end": True, "error": f"that is more than {MAX_ANSWER >> 20} MiB"})


def _read_jobs(jobs: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        jobs.put(line)
    os._exit(0)  # whatever an agent is at


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = _MEMORY if most == resource.RLIM_INFINITY else min(_MEMORY, most)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, most))


def _answer(text: str) -> Iterator[dict[str, Any]]:
    """The parts of a job's answer; whatever goes wrong is the last of them."""
    last: dict[str, Any] = {"end": True}
    try:
        yield from _parts(parse_job(text))
    except (ValueError, OSError) as error:
        last["error"] = str(error)
    except Exception as error:
        last["error"] = f"{type(error).__name__}: {error}"
    yield last


def _parts(job: Job) -> Iterator[dict[str, Any]]:
    match job:
        case LoadJob():
            yield {"games": _load(job)}
        case ReviewRequest():
            agent = _agent(job.agent)
            for ply, position in enumerate(_positions(job.line)):
                if not position.is_over():
                    yield {"ply": ply, "explanation": analyse(position, agent).to_json()}
        case _:
            position = _positions(job.line)[-1]
            if position.is_over():
                raise ValueError("the game is over in this position")
            yield from _move(job, position) if job.do == "move" else _explain(job, position)


def _agent(text: str) -> Agent:
    """The agent, anew where its file is another than before, as of a training that goes on."""
    found = [Path(name).stat() for name in _FILE.findall(text) if Path(name).is_file()]
    return _agent_of(text, tuple((file.st_mtime_ns, file.st_size) for file in found))


@lru_cache(maxsize=8)
def _agent_of(text: str, files: tuple[tuple[int, int], ...]) -> Agent:
    return make_agent(text)


def _positions(line: Line) -> list[Position]:
    return records.replay(read_line(parsed(line.game), line))


def _move(job: MoveRequest, position: Position) -> Iterator[dict[str, Any]]:
    game = position.game
    agent = agent_for(game, _agent(job.agent))
    try:
        if job.seconds is None or not isinstance(agent, AnalysingUntil):
            action = reply(agent, game, position, job.seed, read_line(game, job.line))
        else:
            action = _searched(agent, position, job.seed, job.seconds)
    except IllegalActionError as error:
        raise ValueError(f"{job.agent}: {error}") from None
    yield {"position": describe_position(game, position.step(action), action, position)}


def _searched(agent: AnalysingUntil, position: Position, seed: int, seconds: float) -> int:
    """What an agent that searches plays after so many seconds."""
    until, rng = time.monotonic() + seconds, np.random.default_rng([seed, position.ply])
    *_, found = agent.analyse_until(position, lambda: time.monotonic() > until, rng)
    return ranked(found).moves[0].action if found.choice is None else found.choice


def _explain(job: ExplainRequest, position: Position) -> Iterator[dict[str, Any]]:
    until = time.monotonic() + job.seconds
    shown, last = 0.0, None
    for found in analyse_until(position, _agent(job.agent), lambda: time.monotonic() > until):
        last = found
        if time.monotonic() - shown >= _SHOWN_EVERY:
            yield {"explanation": found.to_json()}
            shown, last = time.monotonic(), None
    if last is not None:
        yield {"explanation": last.to_json()}


@no_compiling()
def _load(job: LoadJob) -> list[dict[str, Any]]:
    """The games of a file, checked by the rules; a move that is no move stays as it is written."""
    found = records.load(Path(job.path), game=parsed(job.game))
    if len(found) > MAX_GAMES:
        raise ValueError(f"there are {len(found):,} games: at most {MAX_GAMES:,} are shown")
    longest = max((len(record.actions) for record in found), default=0)
    if longest > MAX_PLIES:
        raise ValueError(f"a game has {longest:,} plies: at most {MAX_PLIES:,} are shown")
    return [
        {
            "game": _text_of(record.game),
            "start": None if record.start is None else record.start.fen(),
            "moves": " ".join(names(record)),
            "players": record.players,
            "info": dict(record.info),
            "goals": record.goal or verdict.goal,
            "error": verdict.error,
        }
        for record, verdict in zip(found, records.check(found), strict=True)
    ]


if __name__ == "__main__":
    main()
