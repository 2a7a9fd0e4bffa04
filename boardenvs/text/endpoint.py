"""Asks a model behind an OpenAI-compatible endpoint, with bounds on all that comes back.

The key comes from the environment and goes into one header, and nowhere else. An endpoint is a
stranger: it gets so much time and may send so many bytes, it cannot send the key on to others by a
redirect, and what it sends is a text.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import random
import socket
import threading
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

from pydantic import BaseModel, Field

from boardenvs.game.errors import StopPlayError
from boardenvs.text.player import Reply
from boardenvs.utils.checks import cut, quote
from boardenvs.utils.decoding import decode, parse_json

OPENAI = "https://api.openai.com/v1"
_MOST_BYTES = 1 << 23  # of an answer
_TRIES = 6
_LONGEST_WAIT = 60.0  # seconds between two tries
_PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529))


class _PassingError(Exception):
    """What may be over at the next try, and after how many seconds."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class _Message(BaseModel):
    content: str | list[dict[str, Any]] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


_Tokens = Annotated[int, Field(ge=0, le=1 << 40)]


class _Usage(BaseModel):
    prompt_tokens: _Tokens = 0
    completion_tokens: _Tokens = 0


class _Completion(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: _Usage | None = None


class Endpoint:
    """A model at an address such as "http://localhost:8000/v1", by default $OPENAI_BASE_URL or
    OpenAI's. key_env: the variable of the environment with the key; none is sent where it is empty.
    timeout: seconds for one answer as a whole. wait: seconds before the second try, doubled from
    try to try.

    ValueError for an address that is none, or that holds a password.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        key_env: str = "OPENAI_API_KEY",
        max_tokens: int | None = None,
        temperature: float | None = None,
        timeout: float = 300.0,
        wait: float = 1.0,
    ) -> None:
        self.model = model
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        self.max_tokens, self.temperature = max_tokens, temperature
        self._key_env, self._timeout, self._wait = key_env, timeout, wait
        try:
            parts = urllib.parse.urlsplit(self.base_url)
            self._host, self._port = parts.hostname, parts.port
        except ValueError:
            parts, self._host = urllib.parse.SplitResult("", "", "", "", ""), None
        if parts.scheme not in ("http", "https") or not self._host:
            raise ValueError(
                f"base_url is {quote(self.base_url)}: it must be an address such as "
                '"http://localhost:8000/v1"'
            )
        if parts.username or parts.password or parts.query:
            raise ValueError(
                "base_url has a name, a password or a query: the key belongs into the environment, "
                f"as ${key_env}"
            )
        self._secure = parts.scheme == "https"
        self._path = parts.path.rstrip("/") + "/chat/completions"

    def ask(self, prompt: str, png: bytes | None = None) -> Reply:
        """The model's reply to a prompt, with a picture where one is given.

        StopPlayError where none is had after several tries, or it is refused.
        """
        for number in range(_TRIES):
            try:
                return self._once(prompt, png)
            except _PassingError as error:
                if number == _TRIES - 1:
                    raise StopPlayError(
                        f"{self.model} does not answer after {_TRIES} tries: {error}"
                    ) from None
                longest = min(self._wait * 2**number, _LONGEST_WAIT)
                wait = longest * random.uniform(0.5, 1) if error.wait is None else error.wait
                time.sleep(min(wait, _LONGEST_WAIT))
        raise AssertionError("the last try returns or raises")

    def _once(self, prompt: str, png: bytes | None) -> Reply:
        status, headers, body = self._send(json.dumps(self._request(prompt, png)).encode())
        if status in _PASSING:
            raise _PassingError(f"status {status}", _seconds(headers.get("Retry-After")))
        text = self._without_key(body.decode("utf-8", "replace"))
        if status != 200:
            raise StopPlayError(
                f"{self.base_url} refuses {self.model}: status {status}, {quote(cut(text, 300))}"
            )
        try:
            found = decode(_Completion, parse_json(text), "an answer")
        except ValueError as error:
            raise _PassingError(f"an answer of no known form: {cut(str(error), 200)}") from None
        content = found.choices[0].message.content or ""
        if isinstance(content, list):
            content = "".join(str(part.get("text") or "") for part in content)
        used = found.usage
        # Where the endpoint does not tell, about four characters a token.
        tokens = (
            (len(prompt) // 4 + 1, len(content) // 4 + 1)
            if used is None
            else (used.prompt_tokens, used.completion_tokens)
        )
        return Reply(content, found.choices[0].finish_reason != "length", tokens)

    def _request(self, prompt: str, png: bytes | None) -> dict[str, Any]:
        content: Any = prompt
        if png is not None:
            url = "data:image/png;base64," + base64.b64encode(png).decode()
            content = [
                {"type": "text", "text": prompt},
                {"type": "image_url", "image_url": {"url": url}},
            ]
        request: dict[str, Any] = {"model": self.model}
        request |= {"messages": [{"role": "user", "content": content}]}
        if self.max_tokens is not None:
            # OpenAI itself takes the new name alone, others the old one.
            new = self.base_url.startswith(OPENAI)
            request["max_completion_tokens" if new else "max_tokens"] = self.max_tokens
        if self.temperature is not None:
            request["temperature"] = self.temperature
        return request

    def _send(self, body: bytes) -> tuple[int, Any, bytes]:
        """The answer's status, headers and content; _PassingError where it does not come whole."""
        connect = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = connect(str(self._host), self._port, timeout=self._timeout)
        headers = {"Content-Type": "application/json", "User-Agent": "boardenvs"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        try:
            connection.connect()
            with _limited(connection.sock, self._timeout):
                connection.request("POST", self._path, body, headers)
                response = connection.getresponse()
                content = response.read(_MOST_BYTES + 1)
            if len(content) > _MOST_BYTES:
                raise _PassingError(f"an answer of more than {_MOST_BYTES >> 20} MiB")
            if response.length:  # of what was announced, so much is missing
                raise _PassingError("the answer broke off")
            return response.status, response.headers, content
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _PassingError(self._without_key(f"{type(error).__name__}: {error}")) from None
        finally:
            connection.close()

    def _key(self) -> str:
        return os.environ.get(self._key_env, "").strip()

    def _without_key(self, text: str) -> str:
        """What is shown or kept: an endpoint may send the key back."""
        key = self._key()
        return text.replace(key, "[key]") if key else text


@contextmanager
def _limited(connected: socket.socket, seconds: float) -> Iterator[None]:
    """Shut the socket after so long: a time limit of its own counts anew with each byte."""

    def shut() -> None:
        with suppress(OSError):
            connected.shutdown(socket.SHUT_RDWR)

    alarm = threading.Timer(seconds, shut)
    alarm.daemon = True
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()


def _seconds(text: str | None) -> float | None:
    """What "Retry-After: 5" says; None for a date or nonsense."""
    return float(text) if text and text.isascii() and text.isdecimal() and len(text) < 9 else None
