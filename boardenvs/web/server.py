"""The page's server: a Starlette application, run by uvicorn."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import tempfile
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket
from uvicorn.protocols.http.h11_impl import H11Protocol

from boardenvs import games
from boardenvs.kernel import set_backend
from boardenvs.utils.files import file_name
from boardenvs.web.boards import write_game
from boardenvs.web.connection import Connection, Options
from boardenvs.web.guard import HOST, REPORT_POLICY, Guard
from boardenvs.web.messages import MAX_MESSAGE, LoadJob, parse_save
from boardenvs.web.runs import report_of
from boardenvs.web.worker import AgentProcessError, Workers

PAGE = Path(__file__).parent / "page"
MOST_PROCESSES = max(4, 2 * (os.cpu_count() or 1))
MOST_SOCKETS = 256  # open at a time
MAX_FILE = 32 << 20  # bytes
ASKING_SECONDS = 10.0  # until a new connection must have asked for something


class App:
    """The answers of the server, by path."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._workers = Workers(MOST_PROCESSES)
        self.app = Starlette(
            routes=[
                WebSocketRoute("/connect", self._connect),
                Route("/records", self._open_records, methods=["POST"]),
                Route("/save", self._save_game, methods=["POST"]),
                Route("/runs/{name}/report.html", self._report),
                Mount("/", StaticFiles(directory=PAGE, html=True)),
            ],
            exception_handlers=dict.fromkeys(
                (ValueError, OSError, AgentProcessError), _error_answer
            ),
            lifespan=self._lifespan,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Have one process ready from the start, and kill all at the end."""
        # The server itself only plays single moves.
        set_backend("numpy")
        await self._workers.warm()
        try:
            yield
        finally:
            self._workers.close()

    async def _connect(self, websocket: WebSocket) -> None:
        await Connection(websocket, self._options, self._workers).serve()

    async def _open_records(self, request: Request) -> Response:
        """Return the games of the file in the request's body.

        Parameters are the file's name, and the game for plain moves.
        """
        content = await self._body(request, MAX_FILE)
        name = file_name(Path(request.query_params.get("name") or "games").name)[-80:]
        game = self._options.game(request.query_params.get("game") or "othello")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            await asyncio.to_thread(path.write_bytes, content)
            job = LoadJob(path=str(path), game=games.spec_of(game))
            try:
                async with contextlib.aclosing(self._workers.run(job)) as parts:
                    (answer,) = [part async for part in parts]  # all, so that the process stays
                    return JSONResponse(answer)
            except ValueError as error:
                raise ValueError(str(error).replace(f"{folder}/", "")) from None

    async def _save_game(self, request: Request) -> Response:
        """Return a file of the game in the request's body."""
        wanted = parse_save((await self._body(request, MAX_MESSAGE)).decode())
        game = self._options.game(wanted.line.game)
        name, content = await asyncio.to_thread(write_game, game, wanted)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, 200, headers, "application/octet-stream")

    async def _body(self, request: Request, most: int) -> bytes:
        """Return the request's body; ValueError if it has more than `most` bytes."""
        found = bytearray()
        async for chunk in request.stream():
            found += chunk
            if len(found) > most:
                raise ValueError(f"that is more than {most >> 10:,} KiB")
        return bytes(found)

    async def _report(self, request: Request) -> Response:
        """Return the report of a training or tournament."""
        name = request.path_params["name"]
        path = await asyncio.to_thread(report_of, self._options.folder, name)
        if path is None:
            return PlainTextResponse("there is no such report\n", 404)
        return FileResponse(path, headers={"Content-Security-Policy": REPORT_POLICY})


async def _error_answer(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400)


class _Impatient(H11Protocol):
    """Closes connections that ask for nothing, and connections beyond a limit."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_SOCKETS:
            transport.abort()
            return
        self.loop.call_later(ASKING_SECONDS, self._close_unless_asked)

    def _close_unless_asked(self) -> None:
        asked: object = self.cycle
        if asked is None and self in self.connections:
            self.transport.close()


def make_app(options: Options, token: str) -> ASGIApp:
    """Return the application for pages that have the token."""
    return Guard(App(options).app, token)


def listen(port: int) -> socket.socket:
    """Return a socket that listens on this machine only; OSError if the port cannot be used."""
    try:
        made = socket.create_server((HOST, port), backlog=128)
        # A socket made from its number knows that it is TCP. asyncio needs that to turn off Nagle's
        # algorithm, which would delay every answer by 40 ms.
        return socket.socket(fileno=made.detach())
    except OSError as error:
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        advice = ": --port 0 takes any free port" if taken else ""
        reason = f"{error.strerror or error}{advice}"
        raise OSError(error.errno, reason, f"{HOST}:{port}") from None


def serve(
    options: Options,
    token: str,
    listening: socket.socket,
    ready: Callable[[], object] = lambda: None,
) -> None:
    """Serve until a signal ends it; `ready` is called when it can be reached."""
    config = uvicorn.Config(
        make_app(options, token),
        http=_Impatient,
        log_level="warning",
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE,
        ws_ping_interval=20,
        ws_ping_timeout=20,
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    server = uvicorn.Server(config)
    ready()
    server.run(sockets=[listening])


def address(listening: socket.socket, token: str) -> str:
    """Return the address for a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://{host}:{port}/?token={token}"


def open_browser(url: str) -> None:
    """Open the address in the browser, in a thread because browsers in terminals block."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
