"""A page that is connected: its requests are answered side by side, and end when it leaves.

The server keeps no game. A page sends its game along with each question, as a line of moves, so
that nothing is lost where the connection, the server or the page has to begin anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, assert_never

from starlette.websockets import WebSocket, WebSocketDisconnect

from boardenvs import games
from boardenvs.agents.levels import LEVELS
from boardenvs.agents.spec import AGENTS
from boardenvs.records.record import Record
from boardenvs.utils.version import __version__
from boardenvs.web import messages
from boardenvs.web.boards import describe_game, describe_line, read_line
from boardenvs.web.permissions import Permissions
from boardenvs.web.runs import Runs
from boardenvs.web.workers import AgentProcessError, Workers

_log = logging.getLogger(__name__)

MOST_REQUESTS = 32  # of a page, at a time
MOST_JOBS = 4  # that take a process, of a page, at a time
_JOB_SECONDS = 900.0
_LONG = 40  # plies
_NEED_MORE = ("policy", "python", "openspiel", "level")  # than their names to be agents


@dataclass(frozen=True)
class Server:
    """What all connections share."""

    workers: Workers
    permissions: Permissions
    runs: Runs


@dataclass(eq=False)
class Connection:
    """One page."""

    socket: WebSocket
    server: Server
    _tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _jobs: int = 0

    async def serve(self) -> None:
        """Answer until the page leaves, or sends what no page would."""
        await self.socket.accept()
        try:
            await self._send({"hello": self._hello()})
            while True:
                message = await self.socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                await self._take(message.get("text"))
        except WebSocketDisconnect:
            pass
        finally:
            for task in self._tasks.values():
                task.cancel()

    def _hello(self) -> dict[str, Any]:
        permissions = self.server.permissions
        return {
            "version": __version__,
            "games": {
                **{game_id: _variants(game_id) for game_id in games.GAMES},
                **{text: [] for text in permissions.games},
            },
            "agents": [
                *permissions.agents,
                *(name for name in AGENTS if name not in _NEED_MORE),
                *(f"level:{level}" for level in range(1, LEVELS + 1)),
            ],
            "formats": ["jsonl", "wthor", "moves"],
        }

    async def _take(self, text: str | None) -> None:
        """Begin to answer a message."""
        if text is None:
            await self._send({"id": None, "error": "a message is a text"})
            return
        try:
            request = messages.parse_request(text)
            if isinstance(request, messages.StopRequest):
                self._stop(request.job)
                await self._send({"id": request.id, "end": True})
                return
            if request.id in self._tasks:
                raise ValueError(f"id is {request.id}: a request with it is being answered")
            if len(self._tasks) >= MOST_REQUESTS:
                raise ValueError(f"{MOST_REQUESTS} requests are being answered: wait for one")
        except ValueError as error:
            await self._send({"id": messages.id_of(text), "error": str(error)})
            return
        self._tasks[request.id] = asyncio.create_task(self._answer(request))

    def _stop(self, job: int) -> None:
        if job in self._tasks:
            self._tasks[job].cancel()

    async def _answer(self, request: messages.Request) -> None:
        last: dict[str, Any] = {"id": request.id, "end": True}
        try:
            async for part in self._parts(request):
                await self._send({"id": request.id, **part})
        except asyncio.CancelledError:
            last["stopped"] = True
        except TimeoutError:
            last["error"] = f"stopped after {_JOB_SECONDS:.0f} seconds"
        except (ValueError, OSError, AgentProcessError) as error:
            last["error"] = str(error)
        except WebSocketDisconnect:
            return
        except Exception:
            _log.exception("a request could not be answered")
            last["error"] = "the server failed to answer: its terminal says why"
        finally:
            self._tasks.pop(request.id, None)
        with contextlib.suppress(WebSocketDisconnect):
            await self._send(last)

    async def _parts(self, request: messages.Request) -> AsyncIterator[dict[str, Any]]:
        permissions, runs = self.server.permissions, self.server.runs
        match request:
            case messages.GameRequest():
                yield {"game": describe_game(permissions.game(request.game))}
            case messages.LineRequest():
                record = read_line(permissions.game(request.line.game), request.line)
                positions, wrong = await _described(record, request.since)
                yield {"positions": positions, "wrong": wrong}
            case messages.AgentRequest():
                permissions.check_agent(request.agent, permissions.game(request.game))
                yield {}
            case messages.RunsRequest():
                yield {"runs": await asyncio.to_thread(runs.listing)}
            case messages.RunRequest():
                yield {"run": await asyncio.to_thread(runs.describe, request.name)}
            case messages.StopRequest():
                return
            case messages.CellRequest():
                game = permissions.game(request.game)
                path = runs.games_file(request.name, request.game)
                players = [request.first, request.second]
                text = games.spec_of(game)
                async for part in self._job(
                    {"do": "load", "path": str(path), "game": text, "players": players}
                ):
                    yield part
            case messages.MoveRequest() | messages.ExplainRequest() | messages.ReviewRequest():
                record = read_line(permissions.game(request.line.game), request.line)
                _, wrong = describe_line(record, len(record.actions))
                if wrong is not None:
                    raise ValueError(wrong)
                permissions.check_agent_name(request.agent)
                async for part in self._job(request.model_dump(mode="json")):
                    yield part
            case _:
                assert_never(request)

    async def _job(self, job: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        if self._jobs >= MOST_JOBS:
            raise ValueError(f"{MOST_JOBS} agents are thinking for this page: stop one")
        self._jobs += 1
        try:
            async with asyncio.timeout(_JOB_SECONDS):
                parts = self.server.workers.run(self, job)
                try:
                    async for part in parts:
                        yield part
                finally:
                    await parts.aclose()
        finally:
            self._jobs -= 1

    async def _send(self, message: dict[str, Any]) -> None:
        """Send a message; WebSocketDisconnect where the page has left."""
        try:
            await self.socket.send_text(json.dumps(message))
        except RuntimeError as error:  # Starlette's, once the connection is closed
            raise WebSocketDisconnect from error


async def _described(record: Record, since: int) -> tuple[list[dict[str, Any]], str | None]:
    """`describe_line`, which takes a second or two for very long games: not here, then."""
    if len(record.actions) - since < _LONG:
        return describe_line(record, since)
    return await asyncio.to_thread(describe_line, record, since)


def _variants(game_id: str) -> list[str]:
    """The texts that name a game under each of its rules; empty where there is one set of them."""
    try:
        game = games.make(game_id)
    except Exception:  # of a package that is broken: the others can be played
        return []
    return [game_id, *(f"{game_id}:rules={rules}" for rules in game.variants[1:])]
