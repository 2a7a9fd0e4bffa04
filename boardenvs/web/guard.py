"""Decides who is answered: pages that know the token of this start of the server, and nobody else.

All users of this machine can reach the server, and every site that its user visits can send
requests to it, by DNS rebinding even under the site's own name. So `Host` must be a name of this
machine, and `Origin` must equal it. The page's HTML, scripts and styles are public; all else needs
the token, which is in the fragment of the address and never sent. Server and page prove to each
other that they know it, so that a program that listens here after the server has ended learns
nothing; requests for reports and files have a proof each.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import socket
from dataclasses import dataclass

from starlette.datastructures import Address, Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from boardenvs.utils.cache import private_folder
from boardenvs.utils.files import write_atomically

MOST_STRANGERS = 64  # connections that have not proved the token: the oldest are closed
STRANGER_SECONDS = 10.0
# Names that no other site can have, as browsers write them.
_LOOPBACK = re.compile(r"(127\.0\.0\.1|\[::1\]|([\w-]+\.)?localhost)(:\d+)?")
_NUMBERS = re.compile(r"([\d.]+|\[[\da-f:.]+\])(:\d+)?")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# For reports, whose own scripts can reach nothing outside their page.
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


class Door:
    """The secrets of one start of the server, and the connections that have not proved the token.

    The address has a random name, because what an earlier server on this port left in the browser
    (cached scripts, service workers) stays with that server's name. If `shared`, the name is a
    folder of the address, so that other machines can use it.
    """

    def __init__(self, shared: bool = False) -> None:
        self.token, name = secrets.token_urlsafe(24), secrets.token_hex(8)
        self.host = _own_address() if shared else f"{name}.localhost"
        self.path = f"/{name}" if shared else ""
        self.shared_host = self.host if shared else None  # as others on the network know it
        self._strangers: dict[tuple[str, int], asyncio.Transport] = {}

    def address(self, port: int) -> str:
        """Return the address for a browser."""
        return f"http://{self.host}:{port}{self.path}/#token={self.token}"

    async def verify(self, page: WebSocket) -> bool:
        """Prove the token to a page, and return whether the page proves it too.

        The page sends a nonce, the server a nonce and its proof, the page its own proof.
        """
        theirs, ours = await receive_text(page), secrets.token_hex(16)
        await page.send_text(f"{ours} {self._proof(f'server {theirs} {ours}')}")
        return self.admit(page.client, f"page {theirs} {ours}", await receive_text(page))

    def _proof(self, message: str) -> str:
        content = message.encode("utf-8", "replace")
        return hmac.new(self.token.encode(), content, "sha256").hexdigest()

    def watch(self, transport: asyncio.Transport) -> None:
        """Close a new connection after a while, or when many others come, unless admitted."""
        client = transport.get_extra_info("peername")[:2]
        self._strangers[client] = transport
        if len(self._strangers) > MOST_STRANGERS:
            self._strangers.pop(next(iter(self._strangers))).abort()
        asyncio.get_running_loop().call_later(STRANGER_SECONDS, self._close, client, transport)

    def admit(self, client: Address | None, message: str, proof: str) -> bool:
        """Keep the connection of a client, and return whether it proves the token by a message."""
        right = self._proof(message).encode()
        is_right = secrets.compare_digest(proof.encode("utf-8", "replace"), right)
        if is_right and client:
            self._strangers.pop((client.host, client.port), None)
        return is_right

    def _close(self, client: tuple[str, int], transport: asyncio.Transport) -> None:
        if self._strangers.get(client) is transport:
            self._strangers.pop(client).close()


@dataclass(frozen=True)
class Guard:
    """Passes a request on to the application, or answers 403 with the reason."""

    app: ASGIApp
    shared: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        why = self._refusal(scope) if scope["type"] in ("http", "websocket") else None

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for key, value in _HEADERS.items():
                    headers.setdefault(key, value)
            await send(message)

        if why is None:
            await self.app(scope, receive, send_with_headers)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close"})  # which the server answers by 403
        else:
            await PlainTextResponse(f"refused: {why}\n", 403)(scope, receive, send)

    def _refusal(self, scope: Scope) -> str | None:
        """Return why a request is refused, or None."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not (_LOOPBACK.fullmatch(host) or (self.shared and _NUMBERS.fullmatch(host))):
            return "open the address that boardenvs web has printed, not this name"
        if origin is None and (scope["type"] == "websocket" or scope["method"] == "POST"):
            return "this request does not say which page sent it"
        if origin is not None and origin != f"http://{host}":
            return "this request comes from a page of another site"
        return None


async def receive_text(page: WebSocket) -> str:
    """Return the next message, empty if it is not text; WebSocketDisconnect if there is none."""
    message = await page.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect
    return message.get("text") or ""


def address_in_file(url: str) -> str:
    """Return the address of a file that redirects to `url`: the command line of a browser is
    visible to everybody, the file is not.
    """
    path = private_folder() / "boardenvs_web.html"
    page = (
        f'<!doctype html><title>boardenvs</title><meta http-equiv="refresh" content="0;url={url}">'
    )
    write_atomically(path, page.encode(), 0o600)
    return path.as_uri()


def _own_address() -> str:
    """Return the address by which other machines reach this one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("192.0.2.1", 9))  # sends nothing, but selects a route
            return str(asking.getsockname()[0])
        except OSError:
            return "127.0.0.1"
