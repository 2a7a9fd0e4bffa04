"""Admits pages that have the token, and refuses other sites and other users.

All users of this machine can reach the server, and every site that its user visits can send
requests to it, by DNS rebinding even under the site's own name. So a request must have the token in
a cookie, set by the opened address; its `Origin` must equal its `Host`; and that must be a name of
this machine.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from boardenvs.utils.cache import cache_folder, is_private, private_folder
from boardenvs.utils.files import write_atomically

HOST = "127.0.0.1"
_NAMES = (HOST, "localhost", "::1")
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
# A redirect by this page, after which the browser sends the cookie.
_GO_ON = (
    '<!doctype html><title>boardenvs</title><link rel="icon" href="data:,">'
    '<meta http-equiv="refresh" content="0;url={}">'
)


@dataclass(frozen=True)
class Guard:
    """Passes a request on to the application, or answers 403 with the reason."""

    app: ASGIApp
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        answer = self._answer(scope)
        if answer is not None:
            await answer(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = Headers(raw=message["headers"])
                more = {key: value for key, value in _HEADERS.items() if key not in there}
                message["headers"] = [*message["headers"], *Headers(more).raw]
            await send(message)

        await self.app(scope, receive, send_with_headers)

    def _answer(self, scope: Scope) -> Response | None:
        """Return a refusal or redirect; None if the application may answer."""
        headers = Headers(scope=scope)
        host = _parts(f"//{headers.get('host', '')}")
        if host is None or host.hostname not in _NAMES:
            return _refused(f"this server answers to {' and '.join(_NAMES)}, not to this name")
        reading = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        origin = headers.get("origin")
        if origin is None and not reading:
            return _refused("this request does not say which page sent it")
        sender = host if origin is None else _parts(origin)
        if sender is None or sender.netloc != host.netloc:
            return _refused("this request comes from a page of another site")
        cookie = f"boardenvs-{host.port or 80}"
        cookies = cookie_parser(headers.get("cookie", ""))
        if self._is_token(cookies.get(cookie, "")):
            return None
        query = QueryParams(scope["query_string"])
        if reading and scope["path"] == "/" and self._is_token(query.get("token", "")):
            response = HTMLResponse(_GO_ON.format("/"), headers=_HEADERS)
            response.set_cookie(cookie, self.token, httponly=True, samesite="strict")
            return response
        return _refused("open the address with the token that boardenvs web has printed")

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


def kept_token() -> str:
    """Return the user's token from a file that nobody else can read, so that open pages stay
    connected when the server starts again.
    """
    path = cache_folder() / "web_token"
    if is_private(path):
        kept = path.read_text(encoding="ascii", errors="replace").strip()
        if len(kept) >= 32:
            return kept
    token = secrets.token_urlsafe(24)
    try:
        path.unlink(missing_ok=True)  # its mode would be kept
        write_atomically(path, f"{token}\n".encode(), 0o600)
    except OSError:
        pass  # a read-only cache: the token is for this process only
    return token


def address_in_file(url: str) -> str:
    """Return the address of a file that redirects to `url`: the command line of a browser is
    visible to everybody, the file is not.
    """
    path: Path = private_folder() / "boardenvs_web.html"
    write_atomically(path, _GO_ON.format(url).encode(), 0o600)
    return path.as_uri()


def _refused(why: str) -> Response:
    return PlainTextResponse(f"refused: {why}\n", 403, _HEADERS)


def _parts(url: str) -> SplitResult | None:
    """Return the parts of an address; None if it is wrong."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # ValueError if it is no number
    except ValueError:
        return None
    return parts
