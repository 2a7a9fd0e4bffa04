"""The server of the page: Starlette's application, and uvicorn that runs it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from boardenvs.kernel import set_backend
from boardenvs.web.connection import Connection, Server
from boardenvs.web.files import open_records, save_record
from boardenvs.web.messages import MAX_MESSAGE
from boardenvs.web.permissions import Permissions
from boardenvs.web.runs import Runs
from boardenvs.web.security import FILE_POLICY, LOOPBACK, Guard, make_token
from boardenvs.web.workers import Workers

PAGE = Path(__file__).parent / "page"
MOST_PAGES = 100  # connected at a time


@dataclass(frozen=True)
class Options:
    """What the server is started with.

    folder: where trainings and tournaments are listed from. agents, games: texts that the page may
    name besides those that are safe to name. token: what pages must have been opened with, if any.
    """

    folder: Path = Path("runs")
    allow_python: bool = False
    allow_files: bool = False
    agents: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    token: str | None = None
    workers: int = field(default_factory=lambda: max(4, 2 * (os.cpu_count() or 1)))


def make_app(options: Options) -> ASGIApp:
    """The application."""
    runs = Runs(options.folder)
    permissions = Permissions(
        options.allow_python, options.allow_files, options.agents, options.games, runs.policies
    )
    server = Server(Workers(options.workers), permissions, runs)
    pages: set[Connection] = set()

    async def connect(websocket: WebSocket) -> None:
        if len(pages) >= MOST_PAGES:
            await websocket.close(1013, "too many pages are open")
            return
        connection = Connection(websocket, server)
        pages.add(connection)
        try:
            await connection.serve()
        finally:
            pages.discard(connection)

    async def post_records(request: Request) -> Response:
        return await open_records(request, server)

    async def post_save(request: Request) -> Response:
        return await save_record(request, server)

    async def get_file(request: Request) -> Response:
        path = runs.file(request.path_params["name"], request.path_params["file"])
        if path is None:
            return PlainTextResponse("there is none\n", 404)
        return FileResponse(path, headers={"Content-Security-Policy": FILE_POLICY})

    app = Starlette(
        routes=[
            WebSocketRoute("/connect", connect),
            Route("/records", post_records, methods=["POST"]),
            Route("/save", post_save, methods=["POST"]),
            Route("/runs/{name}/{file}", get_file),
            Mount("/", StaticFiles(directory=PAGE, html=True)),
        ],
        lifespan=lambda app: _with_workers(server.workers),
    )
    return Guard(app, options.token)


@contextlib.asynccontextmanager
async def _with_workers(workers: Workers) -> AsyncIterator[None]:
    """The time that the application runs: one process is ready, and all end with it."""
    # The server itself plays single moves; agents think in processes of their own.
    set_backend("numpy")
    tasks = [asyncio.create_task(work()) for work in (workers.warm, workers.tidy)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        workers.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; OSError that says where it cannot."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.create_server((host, port), family=family, backlog=128)
        # Made anew from its number it knows that it is TCP; asyncio asks that before it turns off
        # Nagle's algorithm, which would hold back every answer for 40 ms.
        return socket.socket(fileno=made.detach())
    except OSError as error:
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        advice = "--port 0 takes any free port" if taken else "--host must be one of this machine"
        raise OSError(
            error.errno, f"{error.strerror or error}: {advice}", f"{host}:{port}"
        ) from None


def serve(
    options: Options, listening: socket.socket, ready: Callable[[], object] = lambda: None
) -> None:
    """Serve until a signal ends it; `ready` is called when it can be reached."""
    config = uvicorn.Config(
        make_app(options),
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


def address(listening: socket.socket, token: str | None) -> str:
    """Where a browser finds what listens there."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    if ":" in host:
        host = f"[{host}]"
    return f"http://{host}:{port}/" + (f"?token={token}" if token else "")


def open_browser(url: str) -> None:
    """Have the browser open the address; some browsers of terminals end only with the user."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def token_for(host: str) -> str | None:
    """A new token where others than this machine can reach the host, else None."""
    return None if host in LOOPBACK else make_token()
