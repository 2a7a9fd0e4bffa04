"""Asks a model behind an OpenAI-compatible endpoint, with limits on the time and size of answers.

The key comes from the environment and goes into one header only. Endpoints are not trusted: they
get limited time and bytes, redirects, which could send the key elsewhere, are not followed, the key
is taken out of what they send, and the rest is nothing but text.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field

from boardenvs.game.errors import StopPlayError
from boardenvs.text.player import ModelReply
from boardenvs.text.turn import RETRIES
from boardenvs.utils.checks import cut, is_whole, printable, quote
from boardenvs.utils.child import is_secret
from boardenvs.utils.decoding import decode, parse_json

OPENAI = "https://api.openai.com/v1"
_ADDRESS = re.compile(
    r"(https?)://((?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?)((?:/[^\s?#@]*[^\s?#@/])?)/?"
)
_MOST_BYTES = 1 << 23  # of an answer
_TRIES = 6
_LONGEST_WAIT = 60.0  # seconds between two tries
_PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529))


@dataclass(frozen=True)
class LlmSettings:
    """The options of `llm:MODEL`.

    base_url: an address such as "http://localhost:8000/v1"; by default $OPENAI_BASE_URL or
    OpenAI's. key_env: the environment variable with the key, with KEY, TOKEN, SECRET or PASSWORD in
    its name; none is sent if it is empty. log: a file with all questions and replies, see
    `boardenvs.text.llm.Log`. max_tokens, temperature: of one reply. timeout: seconds for one whole
    answer. wait: seconds before the second try, doubled from try to try. tokens, cost: limits of
    all replies together, including those in the log; prompt_price, reply_price: of a million
    tokens, in the unit of `cost`. Requests that are under way when a limit is reached, at most
    `threads`, are still paid for. The others are those of `TextPlayer`.
    """

    model: str
    base_url: str | None = None
    key_env: str = "OPENAI_API_KEY"
    log: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    timeout: float = 300.0
    wait: float = 1.0
    tokens: int | None = None
    cost: float | None = None
    prompt_price: float = 0.0
    reply_price: float = 0.0
    legal_moves: bool = False
    retries: int = RETRIES
    threads: int = 8

    def __post_init__(self) -> None:
        for name in ("tokens", "max_tokens", "threads"):
            value = getattr(self, name)
            if value is not None and not is_whole(value, 1):
                raise ValueError(f"{name} is {quote(value)}: it must be 1 or more, and whole")
        if self.key_env and not is_secret(self.key_env):  # which may be the key, so is not quoted
            raise ValueError(
                "key_env must be the name of an environment variable with KEY, TOKEN, SECRET or "
                "PASSWORD in it: engines get no variable of such a name"
            )
        if self.cost is not None and not (self.prompt_price or self.reply_price):
            raise ValueError(
                "cost needs the prices of a million tokens, prompt_price and reply_price"
            )


class _PassingError(Exception):
    """A failure that may be over at the next try, perhaps after the seconds of `wait`."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class _Message(BaseModel):
    content: str | None = None


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
    """A model behind an endpoint; ValueError for a wrong address, or one with a password, and for a
    key with characters that no key has.
    """

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self.base_url = settings.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        found = _ADDRESS.fullmatch(self.base_url)
        if found is None:  # which is not quoted: it may hold a password
            raise ValueError(
                'base_url must be an address such as "http://localhost:8000/v1", without a name, a '
                f"password or a query: the key belongs into the environment, as ${settings.key_env}"
            )
        scheme, self._host, self._path = found.groups()
        http_, https = http.client.HTTPConnection, http.client.HTTPSConnection
        self._connect = https if scheme == "https" else http_
        self._key()

    def ask(self, prompt: str) -> ModelReply:
        """Return the model's reply to a prompt.

        StopPlayError if several tries fail, or the endpoint refuses.
        """
        settings = self._settings
        for number in range(_TRIES):
            try:
                return self._try(prompt)
            except _PassingError as error:
                problem = error
            longest = settings.wait * 2**number
            wait = longest * random.uniform(0.5, 1) if problem.wait is None else problem.wait
            time.sleep(min(wait, _LONGEST_WAIT) if number < _TRIES - 1 else 0)
        raise StopPlayError(f"{settings.model} does not answer after {_TRIES} tries: {problem}")

    def _try(self, prompt: str) -> ModelReply:
        status, headers, body = self._send(json.dumps(self.request(prompt)).encode())
        if status in _PASSING:
            raise _PassingError(f"status {status}", _seconds(headers.get("Retry-After")))
        text = self._without_key(body.decode("utf-8", "replace"))
        if status != 200:
            raise StopPlayError(
                f"{self.base_url} refuses {self._settings.model}: status {status}, "
                f"{quote(cut(text, 300))}"
            )
        try:
            found = decode(_Completion, parse_json(text), "an answer")
        except ValueError as error:
            raise _PassingError(f"an answer of no known form: {cut(str(error), 200)}") from None
        choice, content = found.choices[0], found.choices[0].message.content or ""
        tokens = len(prompt) // 4 + 1, len(content) // 4 + 1  # about four characters a token
        if used := found.usage:
            tokens = used.prompt_tokens, used.completion_tokens
        return ModelReply(content, choice.finish_reason != "length", tokens)

    def request(self, prompt: str) -> dict[str, Any]:
        """Return what is sent for a prompt."""
        settings = self._settings
        # OpenAI itself accepts the new name of this option only, others the old one.
        is_openai = self.base_url.startswith(OPENAI)
        options = {
            "max_completion_tokens" if is_openai else "max_tokens": settings.max_tokens,
            "temperature": settings.temperature,
        }
        given = {name: value for name, value in options.items() if value is not None}
        messages = [{"role": "user", "content": prompt}]
        return {"model": settings.model, "messages": messages, **given}

    def _send(self, body: bytes) -> tuple[int, Any, bytes]:
        """Return the answer's status, headers and content; _PassingError if it is not whole."""
        seconds = self._settings.timeout
        connection = self._connect(self._host, timeout=seconds)
        headers = {"Content-Type": "application/json", "User-Agent": "boardenvs"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        alarm = None
        try:
            connection.connect()
            # The socket's own time limit starts again with each byte.
            alarm = threading.Timer(seconds, _shut, [connection.sock])
            alarm.daemon = True
            alarm.start()
            connection.request("POST", f"{self._path}/chat/completions", body, headers)
            response = connection.getresponse()
            content = response.read(_MOST_BYTES + 1)
            if len(content) > _MOST_BYTES:
                raise _PassingError(f"an answer of more than {_MOST_BYTES >> 20} MiB")
            if response.length:  # bytes that were announced and are missing
                raise _PassingError("the answer broke off")
            return response.status, response.headers, content
        except (OSError, http.client.HTTPException, ValueError, OverflowError) as error:
            why = self._without_key(f"{type(error).__name__}: {error}")  # may be the status line
            raise _PassingError(printable(cut(why, 200)).strip()) from None
        finally:
            if alarm:
                alarm.cancel()
            connection.close()

    def _key(self) -> str:
        name = self._settings.key_env
        key = os.environ.get(name, "").strip()
        if not re.fullmatch("[!-~]*", key):
            raise ValueError(
                f"the key in ${name} holds a space, a line break or another character that no key "
                "has: it must be the key alone"
            )
        return key

    def _without_key(self, text: str) -> str:
        """Return a text to be shown or kept: an endpoint may send the key back, with the escapes of
        JSON or without.
        """
        escaped = (rf"\\{{0,4}}(?:{re.escape(c)}|u{ord(c):04x})" for c in self._key())
        key = "".join(escaped)
        return re.sub(key, "[key]", text, flags=re.IGNORECASE) if key else text


def _shut(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def _seconds(text: Any) -> float | None:
    """Return the seconds of "Retry-After: 5"; None for a date or nonsense."""
    return float(text) if re.fullmatch("[0-9]{1,8}", text or "") else None
