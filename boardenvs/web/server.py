"""The page's server: a Starlette application, run by uvicorn."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import tempfile
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket
from uvicorn.protocols.http.h11_impl import H11Protocol

from boardenvs import games
from boardenvs.game.game import Game
from boardenvs.kernel import set_backend
from boardenvs.utils.files import safe_name, write_atomically
from boardenvs.web.connection import Connection, ServerOptions
from boardenvs.web.guard import REPORT_POLICY, Door, Guard
from boardenvs.web.messages import MAX_MESSAGE, LoadJob
from boardenvs.web.runs import report_of
from boardenvs.web.worker import Workers

PAGE = Path(__file__).parent / "page"
MOST_PROCESSES = max(4, 2 * (os.cpu_count() or 1))
MAX_FILE = 32 << 20  # bytes


def make_app(options: ServerOptions, door: Door) -> Starlette:
    """Return the application: its answers by path."""
    workers = Workers(MOST_PROCESSES)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        set_backend("numpy")  # the server itself only plays single moves
        await workers.warm()  # so that one process is ready from the start
        try:
            yield
        finally:
            workers.close()

    def name_in(request: Request, kind: str) -> str:
        """Return the name in an address that has the page's proof; ValueError if it has none."""
        name: str = request.path_params["name"]
        if not door.admit(request.client, f"{kind} {name}", request.path_params["proof"]):
            raise ValueError("this address has no proof: open it from the page")
        return name

    async def connect(socket: WebSocket) -> None:
        await Connection(socket, options, workers, door).serve()

    async def report(request: Request) -> Response:
        path = report_of(options.folder, name_in(request, "report"))
        return FileResponse(path, headers={"Content-Security-Policy": REPORT_POLICY})

    async def records(request: Request) -> Response:
        name = safe_name(name_in(request, "records"))[-80:]
        game = options.game(request.query_params.get("game") or "othello")
        return JSONResponse(await _load(workers, game, name, request))

    routes = [
        WebSocketRoute("/connect", connect),
        Route("/report/{proof}/{name}", report),
        Route("/records/{proof}/{name}", records, methods=["POST"]),
        Mount("/", StaticFiles(directory=PAGE, html=True)),
    ]
    return Starlette(
        routes=[Mount(door.path, routes=routes)],
        exception_handlers={ValueError: _error_answer, OSError: _error_answer},
        lifespan=lifespan,
    )


async def _load(workers: Workers, game: Game, name: str, request: Request) -> dict[str, Any]:
    """Return the games of the file in the request's body; `game` is that of plain moves."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_FILE:
            raise ValueError(f"that is more than {MAX_FILE >> 10:,} KiB")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        await asyncio.to_thread(write_atomically, path, bytes(content))
        try:
            async with contextlib.aclosing(
                workers.run(LoadJob(path, games.spec_of(game)))
            ) as parts:
                (answer,) = [part async for part in parts]  # all, so that the process stays
                return answer
        except ValueError as error:
            raise ValueError(str(error).replace(f"{folder}/", "")) from None


async def _error_answer(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400)


def listen(port: int, shared: bool = False) -> list[socket.socket]:
    """Return sockets that listen on one port of this machine's own addresses, or of all if shared.

    Browsers look up names that end in localhost in IPv6 first, so nobody else may have that port
    there. OSError if the port cannot be used.
    """
    if shared:
        return [_listen("0.0.0.0", port)]
    first = _listen("127.0.0.1", port)
    try:
        return [first, _listen("::1", first.getsockname()[1])]
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):  # there is no IPv6
            return [first]
        first.close()
        raise


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=128)
        # A socket made from its number knows that it is TCP. asyncio needs that to turn off Nagle's
        # algorithm, which would delay every answer by 40 ms.
        return socket.socket(fileno=made.detach())
    except OSError as error:
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        advice = ": --port 0 takes any free port" if taken else ""
        raise OSError(error.errno, f"{error.strerror or error}{advice}", f"{host}:{port}") from None


def serve(
    options: ServerOptions,
    door: Door,
    listening: list[socket.socket],
    shared: bool,
    ready: Callable[[], object] = lambda: None,
) -> None:
    """Serve until a signal ends it; `ready` is called when it can be reached."""

    class Watched(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            door.watch(transport)

        def send_400_response(self, msg: str) -> None:
            if self.cycle:  # the application may be about to answer too
                self.cycle.disconnected = True
            super().send_400_response(msg)

    # That a text is not UTF-8: a client that has proved nothing can cause it.
    logging.getLogger("uvicorn.error").addFilter(lambda record: "UTF-8" not in record.getMessage())
    config = uvicorn.Config(
        Guard(make_app(options, door), shared),
        http=Watched,
        log_level="error",  # not what any client can make it warn of
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE,
        ws_ping_interval=20,
        ws_ping_timeout=20,
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    server = uvicorn.Server(config)
    ready()
    server.run(sockets=listening)


def open_browser(url: str) -> None:
    """Open the address in the browser, in a thread because browsers in terminals block."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
