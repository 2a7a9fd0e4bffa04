"""Files that the page sends and gets: records to open, a game to save."""

from __future__ import annotations

import asyncio
import base64
import tempfile
import zlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from boardenvs import games
from boardenvs.records.jsonl import GZIP
from boardenvs.utils.files import file_name
from boardenvs.web.connection import Server
from boardenvs.web.messages import MAX_MESSAGE, parse_save
from boardenvs.web.workers import AgentProcessError

MAX_FILE = 32 << 20  # bytes, unpacked


async def open_records(request: Request, server: Server) -> Response:
    """The games of the file in the request's body; its name and the game of plain moves are
    parameters.
    """
    try:
        content = _unpacked(await _body(request, MAX_FILE))
        name = file_name(Path(request.query_params.get("name") or "games").name)[-80:]
        game = server.permissions.game(request.query_params.get("game") or "othello")
    except ValueError as error:
        return _wrong(error)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name.removesuffix(".gz")
        await asyncio.to_thread(path.write_bytes, content)
        job = {"do": "load", "path": str(path), "game": games.spec_of(game)}
        try:
            async for part in server.workers.run(request, job):
                return JSONResponse(part)
        except (ValueError, OSError, AgentProcessError) as error:
            return _wrong(ValueError(str(error).replace(f"{folder}/", "")))
    return _wrong(ValueError("there is nothing in it"))


async def save_record(request: Request, server: Server) -> Response:
    """A file of the game in the request's body."""
    try:
        wanted = parse_save((await _body(request, MAX_MESSAGE)).decode())
        server.permissions.game(wanted.line.game)
        job = {"do": "save", **wanted.model_dump(mode="json")}
        async for part in server.workers.run(request, job):
            headers = {"Content-Disposition": f'attachment; filename="{part["name"]}"'}
            return Response(
                base64.b64decode(part["content"]), 200, headers, "application/octet-stream"
            )
    except (ValueError, OSError, AgentProcessError) as error:
        return _wrong(error)
    return _wrong(ValueError("nothing was written"))


async def _body(request: Request, most: int) -> bytes:
    """The request's body; ValueError where it is longer than `most` bytes, which are all that is
    read.
    """
    found = bytearray()
    async for chunk in request.stream():
        found += chunk
        if len(found) > most:
            raise ValueError(f"that is more than {most >> 10:,} KiB")
    return bytes(found)


def _unpacked(content: bytes) -> bytes:
    """The content, unpacked where it is compressed; ValueError where that is too much."""
    if not content.startswith(GZIP):
        return content
    try:
        unpacked = zlib.decompressobj(wbits=31).decompress(content, MAX_FILE + 1)
    except zlib.error as error:
        raise ValueError(f"the file is damaged: {error}") from None
    if len(unpacked) > MAX_FILE:
        raise ValueError(f"unpacked that is more than {MAX_FILE >> 20} MiB")
    return unpacked


def _wrong(error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400)
