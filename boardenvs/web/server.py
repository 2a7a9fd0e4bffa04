"""The server of the page: Starlette's application, and uvicorn that runs it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import io
import os
import socket
import tempfile
import threading
import webbrowser
import zlib
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
from boardenvs.records.jsonl import GZIP
from boardenvs.utils.files import file_name
from boardenvs.web.boards import write_game
from boardenvs.web.connection import Connection, Options
from boardenvs.web.guard import HOST, REPORT_POLICY, Guard
from boardenvs.web.messages import MAX_MESSAGE, LoadJob, parse_save
from boardenvs.web.runs import report_of
from boardenvs.web.worker import AgentProcessError, Workers

PAGE = Path(__file__).parent / "page"
MOST_PROCESSES = max(4, 2 * (os.cpu_count() or 1))
MOST_PAGES = 100  # connected at a time
MOST_SOCKETS = 256  # that have not asked for a page
MOST_UPLOADS = 4  # at a time
MAX_FILE = 32 << 20  # bytes, unpacked
ASKING_SECONDS = 10.0  # in which a new connection must have asked for something
UPLOAD_SECONDS = 60.0


class App:
    """What the paths of the server answer."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._workers = Workers(MOST_PROCESSES)
        self._uploads = asyncio.Semaphore(MOST_UPLOADS)
        self._pages = 0
        self.app = Starlette(
            routes=[
                WebSocketRoute("/connect", self._connect),
                Route("/records", self._open_records, methods=["POST"]),
                Route("/save", self._save_game, methods=["POST"]),
                Route("/runs/{name}/report.html", self._report),
                Mount("/", StaticFiles(directory=PAGE, html=True)),
            ],
            exception_handlers=dict.fromkeys((ValueError, OSError, AgentProcessError), _say_wrong),
            lifespan=self._with_workers,
        )

    @contextlib.asynccontextmanager
    async def _with_workers(self, app: Starlette) -> AsyncIterator[None]:
        """The time that the server runs: one process is ready, and all end with it."""
        # The server itself plays single moves; agents think in processes of their own.
        set_backend("numpy")
        await self._workers.warm()
        try:
            yield
        finally:
            self._workers.close()

    async def _connect(self, websocket: WebSocket) -> None:
        if self._pages >= MOST_PAGES:
            await websocket.close(1013, "too many pages are open")
            return
        self._pages += 1
        try:
            await Connection(websocket, self._options, self._workers).serve()
        finally:
            self._pages -= 1

    async def _open_records(self, request: Request) -> Response:
        """The games of the file in the request's body; its name and the game of plain moves are
        parameters.
        """
        async with self._uploads:
            content = _unpacked(await self._body(request, MAX_FILE))
            name = file_name(Path(request.query_params.get("name") or "games").name)[-80:]
            game = self._options.game(request.query_params.get("game") or "othello")
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / name.removesuffix(".gz")
                await asyncio.to_thread(path.write_bytes, content)
                job = LoadJob(path=str(path), game=games.spec_of(game))
                try:
                    async with contextlib.aclosing(self._workers.run(job)) as parts:
                        (answer,) = [part async for part in parts]  # to its end: it stays
                        return JSONResponse(answer)
                except ValueError as error:
                    raise ValueError(str(error).replace(f"{folder}/", "")) from None

    async def _save_game(self, request: Request) -> Response:
        """A file of the game in the request's body."""
        async with self._uploads:
            wanted = parse_save((await self._body(request, MAX_MESSAGE)).decode())
            game = self._options.game(wanted.line.game)
            name, content = await asyncio.to_thread(write_game, game, wanted)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, 200, headers, "application/octet-stream")

    async def _body(self, request: Request, most: int) -> bytes:
        """The request's body; ValueError where it is longer than `most` bytes, which are all that
        is read, or takes too long.
        """
        found = bytearray()
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                async for chunk in request.stream():
                    found += chunk
                    if len(found) > most:
                        raise ValueError(f"that is more than {most >> 10:,} KiB")
        except TimeoutError:
            raise ValueError(f"it has not come in {UPLOAD_SECONDS:.0f} seconds") from None
        return bytes(found)

    async def _report(self, request: Request) -> Response:
        """The report of a training or tournament."""
        name = request.path_params["name"]
        path = await asyncio.to_thread(report_of, self._options.folder, name)
        if path is None:
            return PlainTextResponse("there is none\n", 404)
        return FileResponse(path, headers={"Content-Security-Policy": REPORT_POLICY})


async def _say_wrong(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400)


def _unpacked(content: bytes) -> bytes:
    """The content, unpacked where it is compressed; ValueError where that is too much."""
    if not content.startswith(GZIP):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            unpacked = file.read(MAX_FILE + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"the file is damaged: {error}") from None
    if len(unpacked) > MAX_FILE:
        raise ValueError(f"unpacked that is more than {MAX_FILE >> 20} MiB")
    return unpacked


class _Impatient(H11Protocol):
    """Closes connections that ask for nothing, and all beyond a number of them."""

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
    """The application, for pages that have the token."""
    return Guard(App(options).app, token)


def listen(port: int) -> socket.socket:
    """A socket that listens on this machine alone; OSError that says where it cannot."""
    try:
        made = socket.create_server((HOST, port), backlog=128)
        # Made anew from its number it knows that it is TCP; asyncio asks that before it turns off
        # Nagle's algorithm, which would hold back every answer for 40 ms.
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
    """Where a browser finds what listens there."""
    host, port = listening.getsockname()[:2]
    return f"http://{host}:{port}/?token={token}"


def open_browser(url: str) -> None:
    """Have the browser open the address; some browsers of terminals end only with the user."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
