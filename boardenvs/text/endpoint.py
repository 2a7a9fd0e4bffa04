"""Asks a model behind an OpenAI-compatible endpoint, with limits on the time and size of answers.

The key comes from the environment and goes into one header only. Endpoints are not trusted: they
get limited time and bytes, redirects, which could send the key elsewhere, are not followed, the key
is taken out of what they send, and the rest is nothing but text.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from boardenvs.game.errors import StopPlayError
from boardenvs.text.turn import RETRIES, ModelReply
from boardenvs.utils.checks import check_name, check_whole, cut, printable, quote
from boardenvs.utils.child import is_secret
from boardenvs.utils.decoding import decode, parse_json
from boardenvs.utils.files import read_text

OPENAI = "https://api.openai.com/v1"
_ADDRESS = re.compile(
    r"(https?)://((?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?)((?:/[^\s?#@]*[^\s?#@/])?)/?"
    r"((?:\?[\w.-]+=[\w.-]*(?:&[\w.-]+=[\w.-]*)*)?)"
)
_MOST_BYTES = 1 << 23  # of an answer
_TRIES = 6
_LONGEST_WAIT = 60.0  # seconds between two tries
_TOKENS_A_SECOND = 50  # that are assumed to be paid for where an answer did not come in time
_PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529))


@dataclass(frozen=True)
class LlmSettings:
    """The options of `llm:MODEL`.

    base_url: an address such as "http://localhost:8000/v1"; by default $OPENAI_BASE_URL or
    OpenAI's. It may end in a query, as Azure's do. key_env: the environment variable with the key,
    with KEY, TOKEN, SECRET or PASSWORD in its name; none is sent if it is empty. log: a file with
    all questions and replies, see `boardenvs.text.llm.Log`.

    structured: "schema" or "tool": the endpoint makes the model answer with a legal move, by a JSON
    schema or a tool `play`. system: a message before each prompt. max_tokens, temperature, top_p,
    seed, reasoning_effort: of one reply. extra: the path of a JSON file with more fields of a
    request.

    timeout: seconds for one whole answer. timeouts: how many in a row stop the work; their tokens
    are counted as 50 a second, or `max_tokens`. wait: seconds before the second try after another
    failure, doubled from try to try. tokens, cost: limits of all replies together, including those
    in the log; prompt_price, reply_price: of a million tokens, in the unit of `cost`. Requests that
    are under way when a limit is reached, at most `threads`, are still paid for. The others are
    those of `TextPlayer`.
    """

    model: str
    base_url: str | None = None
    key_env: str = "OPENAI_API_KEY"
    log: str | None = None
    structured: str | None = None
    system: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    extra: str | None = None
    timeout: float = 300.0
    timeouts: int = 2
    wait: float = 1.0
    tokens: int | None = None
    cost: float | None = None
    prompt_price: float = 0.0
    reply_price: float = 0.0
    legal_moves: bool = False
    retries: int = RETRIES
    threads: int = 8

    def __post_init__(self) -> None:
        if self.structured is not None:
            check_name("structured", self.structured, ("schema", "tool"))
        for name in ("tokens", "max_tokens", "threads", "timeouts"):
            value = getattr(self, name)
            if value is not None:
                check_whole(name, value, 1)
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


class _Function(BaseModel):
    name: str
    arguments: str


class _Call(BaseModel):
    function: _Function


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None

    def reply(self) -> tuple[str, str]:
        """Return the text, of the one call of `play` if there is one, and why it ended."""
        text, ended = self.message.content or "", self.finish_reason or "stop"
        calls = [call.function for call in self.message.tool_calls or ()]
        if len(calls) == 1 and calls[0].name == _TOOL and ended != "length":
            return calls[0].arguments, "stop"
        if calls:
            return text, ended if ended == "length" else "tool_calls"
        if self.message.refusal:
            return self.message.refusal, "refusal"
        return text, ended


_Tokens = Annotated[int, Field(ge=0, le=1 << 40)]


class _Usage(BaseModel):
    prompt_tokens: _Tokens | None = None
    completion_tokens: _Tokens | None = None


class _Completion(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: _Usage | None = None


# ---- structured output ---------------------------------------------------------------------------

_TOOL = "play"


def _structured(kind: str, moves: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a request that make a model answer with one of these moves."""
    schema = {
        "type": "object",
        "properties": {"move": {"type": "string", "enum": [*moves]}},
        "required": ["move"],
        "additionalProperties": False,
    }
    if kind == "schema":
        form = {"name": "move", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": form}}
    tool = {"name": _TOOL, "description": "Play a move.", "parameters": schema}
    choice = {"type": "function", "function": {"name": _TOOL}}
    return {"tools": [{"type": "function", "function": tool}], "tool_choice": choice}


# ---- requests ------------------------------------------------------------------------------------


class Endpoint:
    """A model behind an endpoint; ValueError for a wrong address, or one with a password, and for a
    key with characters that no key has.
    """

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._limit = "max_tokens"  # or as OpenAI's newer models call it
        self._extra: dict[str, Any] = {}
        if settings.extra:
            text = read_text(Path(settings.extra))
            self._extra = decode(dict[str, Any], parse_json(text), settings.extra)
            if "messages" in self._extra:
                raise ValueError(f"{settings.extra} has messages: those are the game's own")
        self.base_url = settings.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        parts = _ADDRESS.fullmatch(self.base_url)
        if parts is None or any(is_secret(name) for name in re.findall(r"[?&]([\w.-]+)", parts[4])):
            raise ValueError(  # it is not quoted: it may hold a password
                'base_url must be an address such as "http://localhost:8000/v1", without a name, a '
                f"password or a key: that belongs into the environment, as ${settings.key_env}"
            )
        scheme, self._host, path, query = parts.groups()
        self._path = f"{path}/chat/completions{query}"
        self._connect = (
            http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        )
        self._key()

    def ask(self, prompt: str, moves: Sequence[str] = ()) -> ModelReply:
        """Return the model's reply to a prompt, in which these moves are legal; one with the
        finish reason "timeout" if none came in time.

        StopPlayError if several tries fail, or the endpoint refuses.
        """
        settings = self._settings
        for number in range(_TRIES):
            try:
                return self._try(prompt, moves)
            except TimeoutError:
                guess = settings.max_tokens or int(_TOKENS_A_SECOND * settings.timeout)
                return ModelReply("", "timeout", (_tokens(prompt), guess))
            except _PassingError as error:
                problem = error
            wait = settings.wait * 2**number if problem.wait is None else problem.wait
            time.sleep(min(wait, _LONGEST_WAIT) if number < _TRIES - 1 else 0)
        raise StopPlayError(f"{settings.model} does not answer after {_TRIES} tries: {problem}")

    def _try(self, prompt: str, moves: Sequence[str]) -> ModelReply:
        request = self.request(prompt, moves)
        if "max_tokens" in request:
            request[self._limit] = request.pop("max_tokens")
        status, headers, body = self._send(json.dumps(request).encode())
        if status in _PASSING:
            raise _PassingError(f"status {status}", _seconds(headers.get("Retry-After")))
        text = self._without_key(body.decode("utf-8", "replace"))
        if status == 400 and "max_tokens" in request and "max_completion_tokens" in text:
            self._limit = "max_completion_tokens"
            return self._try(prompt, moves)
        if status != 200:
            raise StopPlayError(
                f"{self.base_url} refuses {self._settings.model}: status {status}, "
                f"{quote(cut(text, 300))}"
            )
        try:
            answer = decode(_Completion, parse_json(text), "an answer")
        except ValueError as error:
            raise _PassingError(f"an answer of no known form: {cut(str(error), 200)}") from None
        content, ended = answer.choices[0].reply()
        used = answer.usage or _Usage()
        tokens = used.prompt_tokens or _tokens(prompt), used.completion_tokens or _tokens(content)
        return ModelReply(content, ended, tokens)

    def request(self, prompt: str, moves: Sequence[str] = ()) -> dict[str, Any]:
        """Return what is sent for a prompt."""
        settings = self._settings
        messages = [{"role": "user", "content": prompt}]
        if settings.system:
            messages.insert(0, {"role": "system", "content": settings.system})
        names = "temperature", "top_p", "seed", "reasoning_effort"
        fields = {
            "model": settings.model,
            "messages": messages,
            "max_tokens": settings.max_tokens,
            **{name: getattr(settings, name) for name in names},
            **(_structured(settings.structured, moves) if settings.structured else {}),
            **self._extra,
        }
        return {k: v for k, v in fields.items() if v is not None}

    def _send(self, body: bytes) -> tuple[int, Any, bytes]:
        """Return the answer's status, headers and content; _PassingError if it is not whole."""
        seconds = self._settings.timeout
        connection = self._connect(self._host, timeout=seconds)
        headers = {"Content-Type": "application/json", "User-Agent": "boardenvs"}
        if key := self._key():
            is_azure = self._host.endswith(".azure.com")
            headers |= {"api-key": key} if is_azure else {"Authorization": f"Bearer {key}"}
        alarm, until = None, time.monotonic() + seconds
        try:
            connection.connect()
            # The socket's own time limit starts again with each byte.
            alarm = threading.Timer(seconds, _shut, [connection.sock])
            alarm.daemon = True
            alarm.start()
            connection.request("POST", self._path, body, headers)
            response = connection.getresponse()
            room = bytearray(_MOST_BYTES + 1)  # `read` reads a chunk of size -1 to the end
            content = bytes(room[: response.readinto(room)])
            if len(content) > _MOST_BYTES:
                raise _PassingError(f"an answer of more than {_MOST_BYTES >> 20} MiB")
            if time.monotonic() > until:
                raise TimeoutError
            if response.length:  # bytes that were announced and are missing
                raise _PassingError("the answer broke off")
            return response.status, response.headers, content
        except (OSError, http.client.HTTPException, ValueError, OverflowError) as error:
            if alarm and time.monotonic() > until:
                raise TimeoutError from None
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


def _tokens(text: str) -> int:
    return len(text) // 4 + 1  # about four characters a token


def _shut(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def _seconds(text: Any) -> float | None:
    """Return the seconds of "Retry-After: 5"; None for a date or nonsense."""
    return float(text) if re.fullmatch("[0-9]{1,8}", text or "") else None
