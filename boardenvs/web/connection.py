"""A connected page: its requests are answered side by side, and end when it disconnects.

The server keeps no games. A page sends its game with each request as a line of moves, so nothing is
lost when the connection, the server or the page starts again.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_never

from starlette.websockets import WebSocket, WebSocketDisconnect

from boardenvs import games
from boardenvs.agents.base import AnalysingUntil
from boardenvs.agents.levels import LEVELS, read_levels
from boardenvs.agents.spec import AGENTS, agent_for, runs_code
from boardenvs.game.game import Game
from boardenvs.utils.checks import cut
from boardenvs.web import messages
from boardenvs.web.boards import describe_game, describe_line, parsed, read_line, write_game
from boardenvs.web.guard import Door, receive_text
from boardenvs.web.runs import list_runs
from boardenvs.web.worker import Workers

_log = logging.getLogger(__name__)

MOST_JOBS = 4  # of a page at a time, each in a process
_JOB_SECONDS = 900.0
# Agents that need more than their name.
_NEED_MORE = ("policy", "python", "level", "engine", "llm")

_LEVELS = [f"level:{level}" for level in range(1, LEVELS + 1)]
# Roughly from the weakest to the strongest.
_OPPONENTS = (
    "random",
    "greedy",
    "positional",
    "mcts:rollouts=400",
    "trained:shield=true",
    "mcts:simulations=200,policy=trained",
    "alphabeta:depth=4",
    "alphabeta:nodes=20000,evaluation=trained",
    "perfect",
)


@dataclass(frozen=True)
class ServerOptions:
    """The options of the server.

    folder: has the trainings and tournaments that are listed. Texts of agents and games can come
    from other people's files and links. So code, as in `python:MODULE:NAME` or the game
    `MODULE:NAME`, is imported only if the text is in `agents` or `games`.
    """

    folder: Path = Path("runs")
    agents: tuple[str, ...] = ()
    games: tuple[str, ...] = ()

    def game(self, text: str) -> Game:
        """Return the game of a text from the page; ValueError if it is wrong or not allowed."""
        self._check_code("game", text, games.imports_code(text), self.games)
        return parsed(text)

    def check_agent(self, text: str) -> None:
        """Raise ValueError if a text from the page may not become an agent."""
        self._check_code("agent", text, runs_code(text), self.agents)

    def _check_code(self, kind: str, text: str, is_code: bool, named: tuple[str, ...]) -> None:
        if is_code and text not in named:
            raise ValueError(
                f"{kind} {cut(text)!r} is code, which this page may not name: start boardenvs web "
                f"with --{kind} and this text"
            )


@dataclass(eq=False)
class Connection:
    """One page."""

    socket: WebSocket
    options: ServerOptions
    workers: Workers
    door: Door
    _tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _jobs: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_JOBS))

    async def serve(self) -> None:
        """Answer requests until the page disconnects, if it proves that it knows the token."""
        await self.socket.accept()
        try:
            if not await self.door.verify(self.socket):
                await self.socket.close(reason="wrong token")
                return
            await self._send({"hello": self._hello()})
            while True:
                await self._take(await receive_text(self.socket))
        except WebSocketDisconnect:
            pass
        finally:
            for task in self._tasks.values():
                task.cancel()

    def _hello(self) -> dict[str, Any]:
        offered = {text: parsed(text) for text in (*games.importable(), *self.options.games)}
        return {
            "host": self.door.shared_host,  # for links
            "titles": {text: game.title for text, game in offered.items()},
            "games": {  # the texts of the built-in games under each of their rules
                text: [text, *(f"{text}:rules={rules}" for rules in game.variants[1:])]
                if text == game.id
                else []
                for text, game in offered.items()
            },
            "agents": [
                *self.options.agents,
                *(name for name in AGENTS if name not in _NEED_MORE),
                *_LEVELS,
            ],
        }

    async def _take(self, text: str) -> None:
        """Start to answer a message."""
        try:
            request = messages.parse_request(text)
            if request.id in self._tasks:
                raise ValueError(f"id is {request.id}: a request with it is being answered")
        except ValueError as error:
            await self._send({"id": messages.id_of(text), "error": str(error)})
            return
        if request.do == "stop":
            if request.job in self._tasks:
                self._tasks[request.job].cancel()
        else:
            self._tasks[request.id] = asyncio.create_task(self._answer(request))
            await asyncio.sleep(0)  # a task that is cancelled before it starts would not answer

    async def _answer(self, request: messages.Question) -> None:
        last: dict[str, Any] = {"id": request.id, "end": True}
        try:
            async for part in self._parts(request):
                await self._send({"id": request.id, **part})
        except asyncio.CancelledError:
            last["stopped"] = True
        except TimeoutError:
            last["error"] = f"stopped after {_JOB_SECONDS:.0f} seconds"
        except (ValueError, OSError) as error:
            last["error"] = str(error)
        except WebSocketDisconnect:
            return
        except Exception:
            _log.exception("a request could not be answered")
            last["error"] = "the server failed: its terminal shows the reason"
        finally:
            self._tasks.pop(request.id, None)
        with contextlib.suppress(WebSocketDisconnect):
            await self._send(last)

    async def _parts(self, request: messages.Question) -> AsyncIterator[dict[str, Any]]:
        options = self.options
        match request:
            case messages.GameRequest():
                game = options.game(request.game)
                if request.do == "game":
                    yield {"game": describe_game(game)}
                else:
                    opponents = await asyncio.to_thread(list_opponents, game, options.agents)
                    yield {"opponents": opponents}
            case messages.LineRequest():
                record = read_line(options.game(request.line.game), request.line)
                # Very long games take a second or two.
                positions, wrong = await asyncio.to_thread(describe_line, record, request.since)
                yield {"positions": positions, "wrong": wrong}
            case messages.AgentRequest():
                options.check_agent(request.agent)
                game = options.game(request.game)
                await asyncio.to_thread(agent_for, game, request.agent)  # it may start an engine
                yield {}
            case messages.SaveRequest():
                game = options.game(request.line.game)
                name, content = await asyncio.to_thread(write_game, game, request)
                yield {"name": name, "content": base64.b64encode(content).decode()}
            case messages.RunsRequest():
                yield {"runs": await asyncio.to_thread(list_runs, options.folder)}
            case messages.MoveRequest() | messages.ExplainRequest() | messages.ReviewRequest():
                if request.agent:
                    options.check_agent(request.agent)
                options.game(request.line.game)
                async for part in self._think(request):
                    yield part
            case _:
                assert_never(request)

    async def _think(self, job: messages.Thought) -> AsyncIterator[dict[str, Any]]:
        if self._jobs.locked():
            raise ValueError(f"{MOST_JOBS} agents are thinking for this page: stop one")
        async with (
            self._jobs,
            asyncio.timeout(_JOB_SECONDS),
            contextlib.aclosing(self.workers.run(job)) as parts,
        ):
            async for part in parts:
                yield part

    async def _send(self, message: dict[str, Any]) -> None:
        """Send a message; WebSocketDisconnect if the page has disconnected."""
        try:
            await self.socket.send_text(json.dumps(message))
        except RuntimeError as error:  # Starlette's, once the connection is closed
            raise WebSocketDisconnect from error


def list_opponents(game: Game, named: Sequence[str]) -> list[dict[str, Any]]:
    """Return levels, agents and the `named` ones as `agent`, `level` (see `read_levels`),
    `searches` (whether its thinking time can be set) and `problem` (why it cannot play this game,
    or None).
    """
    measured = {}
    with contextlib.suppress(ValueError):  # a problem of each level
        measured = dict(zip(_LEVELS, read_levels(game), strict=True))
    return [
        {"agent": text, "level": measured.get(text), **_describe(game, text)}
        for text in (*_LEVELS, *_OPPONENTS, *named)
    ]


def _describe(game: Game, text: str) -> dict[str, Any]:
    try:
        return {"problem": None, "searches": isinstance(agent_for(game, text), AnalysingUntil)}
    except (ValueError, TypeError) as error:
        return {"problem": str(error), "searches": False}
