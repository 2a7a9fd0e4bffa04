"""A process that thinks for the page: agents run here, where they can be stopped by ending it.

It reads a job a line from its standard input, and writes parts of the answer, a line of JSON each,
the last of which has "end". What code of agents prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from boardenvs import games, records
from boardenvs.agents import analyse, analyse_steadily
from boardenvs.agents.base import Agent, check_game
from boardenvs.agents.spec import make_agent
from boardenvs.game.contract import Game, Position
from boardenvs.game.errors import IllegalActionError
from boardenvs.kernel.backend import no_compiling
from boardenvs.play import reply
from boardenvs.records.record import Record, names
from boardenvs.web.boards import describe_position, read_line
from boardenvs.web.messages import MAX_GAMES, MAX_PLIES, Line
from boardenvs.web.workers import MAX_ANSWER

_MEMORY = 4 << 30  # bytes that an agent may take
_SHOWN_EVERY = 0.1  # seconds between two explanations

Job = dict[str, Any]


def main() -> None:
    """Answer jobs until standard input ends, which it does with the server."""
    _bound_memory()
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(jobs,), daemon=True).start()
    answers = os.dup(1)
    os.dup2(2, 1)
    try:
        while True:
            for part in _answer(json.loads(jobs.get())):
                _write(answers, _line(part))
    except BrokenPipeError:
        return  # the server has ended


def _line(part: dict[str, Any]) -> bytes:
    """A part of an answer as it is sent; where that is too long, what is wrong."""
    line = json.dumps(part, ensure_ascii=False).encode() + b"\n"
    if len(line) < MAX_ANSWER:
        return line
    most = f"{MAX_ANSWER >> 20} MiB"
    return json.dumps({"end": True, "error": f"that is more than {most}"}).encode() + b"\n"


def _write(file: int, content: bytes) -> None:
    while content:
        content = content[os.write(file, content) :]


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


def _answer(job: Job) -> Iterator[dict[str, Any]]:
    """The parts of a job's answer; whatever goes wrong is the last of them."""
    try:
        yield from _JOBS[job["do"]](job)
    except Exception as error:
        known = isinstance(error, ValueError | OSError)
        text = str(error) if known else f"{type(error).__name__}: {error}"
        yield {"end": True, "error": text}
    else:
        yield {"end": True}


def _warm(job: Job) -> Iterator[dict[str, Any]]:
    """Nothing: the process has started."""
    return iter(())


def _move(job: Job) -> Iterator[dict[str, Any]]:
    record, position = _position(job)
    game, agent = record.game, _agent(job["agent"])
    check_game(agent, game)
    try:
        action = reply(agent, game, position, job["seed"])
    except IllegalActionError as error:
        raise ValueError(f"{job['agent']}: {error}") from None
    yield {"position": describe_position(game, position.step(action), action, position)}


def _explain(job: Job) -> Iterator[dict[str, Any]]:
    (_, position), agent = _position(job), _agent(job["agent"])
    until = time.monotonic() + job["seconds"]
    shown, last = 0.0, None
    for found in analyse_steadily(position, agent, lambda: time.monotonic() > until):
        last = found
        if time.monotonic() - shown >= _SHOWN_EVERY:
            yield {"explanation": found.to_json()}
            shown, last = time.monotonic(), None
    if last is not None:
        yield {"explanation": last.to_json()}


def _review(job: Job) -> Iterator[dict[str, Any]]:
    record, agent = _record(job), _agent(job["agent"])
    for ply, position in enumerate(records.replay(record)):
        if not position.is_over():
            found = analyse(position, agent)
            yield {"ply": ply, "explanation": found.to_json()}


def _load(job: Job) -> Iterator[dict[str, Any]]:
    """The games of a file, checked by the rules."""
    game = _game(job["game"])
    with no_compiling():
        found = records.load(Path(job["path"]), game=game)
    if len(found) > MAX_GAMES:
        raise ValueError(f"there are {len(found):,} games: at most {MAX_GAMES:,} are shown")
    with no_compiling():
        verdicts = records.check(found)
    yield {
        "games": [
            {
                **describe_record(record),
                "goals": record.goal or verdict.goal,
                "error": verdict.error,
            }
            for record, verdict in zip(found, verdicts, strict=True)
        ]
    }


_JOBS: dict[str, Callable[[Job], Iterator[dict[str, Any]]]] = {
    "warm": _warm,
    "move": _move,
    "explain": _explain,
    "review": _review,
    "load": _load,
}


def describe_record(record: Record) -> dict[str, Any]:
    """A record as the page lists it; a move that is no move stays as it is written."""
    start = record.start
    if len(record.actions) > MAX_PLIES:
        plies = f"{len(record.actions):,}"
        raise ValueError(f"a game has {plies} plies: at most {MAX_PLIES:,} are shown")
    return {
        "game": _text_of(record.game),
        "start": None if start is None else start.fen(),
        "moves": " ".join(names(record)),
        "players": record.players,
        "info": dict(record.info),
    }


def _record(job: Job) -> Record:
    line = Line.model_validate(job["line"])
    return read_line(_game(line.game), line)


def _position(job: Job) -> tuple[Record, Position]:
    record = _record(job)
    last = records.replay(record)[-1]
    if last.is_over():
        raise ValueError("the game is over in this position")
    return record, last


@lru_cache(maxsize=8)
def _agent(text: str) -> Agent:
    return make_agent(text)


@lru_cache(maxsize=32)
def _text_of(game: Game) -> str:
    return games.spec_of(game)


@lru_cache(maxsize=32)
def _game(text: str) -> Game:
    return games.parse(text)


if __name__ == "__main__":
    main()
