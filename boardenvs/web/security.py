"""Who may talk to the server: no other sites and, where it listens to a network, who has the token.

A page of another site can send requests to this one, and by DNS rebinding even under a name that
the browser takes for its own. So what a request says of where it comes from (`Origin`) must be what
it says of where it goes (`Host`), and without a token that must be a name of this machine.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Of reports, which have scripts of their own: they get no further than their own page.
FILE_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True)
class Guard:
    """Lets a request through to the application, or answers 403 and why."""

    app: ASGIApp
    token: str | None = None  # None: only this machine can reach the server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = Headers(raw=message["headers"])
                message["headers"] = [
                    *message["headers"],
                    *(
                        (key.lower().encode(), value.encode())
                        for key, value in HEADERS.items()
                        if key not in there
                    ),
                ]
            await send(message)

        await self.app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.token is None and _name(host) not in LOOPBACK:
            return _refused(f"this server answers to {' and '.join(LOOPBACK)}, not to this name")
        reading = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        origin = headers.get("origin")
        if origin is None:
            if not reading:
                return _refused("this request does not say which page sent it")
        elif _netloc(origin) != host or not host:
            return _refused("this request comes from a page of another site")
        if self.token is None:
            return None
        cookie = f"boardenvs-{_port(host)}"
        cookies = cookie_parser(headers.get("cookie", ""))
        if self._is_token(cookies.get(cookie, "")):
            return None
        query = QueryParams(scope["query_string"])
        if reading and scope["path"] == "/" and self._is_token(query.get("token", "")):
            response = RedirectResponse("/", headers=HEADERS)
            response.set_cookie(cookie, self.token, httponly=True, samesite="strict")
            return response
        return _refused("open the address with the token that boardenvs web has printed")

    def _is_token(self, given: str) -> bool:
        return self.token is not None and secrets.compare_digest(
            given.encode("utf-8", "replace"), self.token.encode()
        )


def make_token() -> str:
    return secrets.token_urlsafe(24)


def _refused(why: str) -> Response:
    return PlainTextResponse(f"refused: {why}\n", 403, HEADERS)


def _netloc(origin: str) -> str | None:
    """The name and port of a page's origin; None for what is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _port(host: str) -> int:
    try:
        return urlsplit(f"//{host}").port or 80
    except ValueError:
        return 0
