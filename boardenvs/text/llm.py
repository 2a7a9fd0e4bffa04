"""The player `llm:MODEL`: a model behind an endpoint, with limits and a log of what was paid."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from boardenvs.game.errors import StopPlayError
from boardenvs.text.endpoint import Endpoint
from boardenvs.text.player import Reply, TextPlayer
from boardenvs.text.question import RETRIES
from boardenvs.utils.checks import is_number, is_whole, quote
from boardenvs.utils.decoding import decode, parse_json
from boardenvs.utils.files import append_lines, check_writable

if TYPE_CHECKING:
    from boardenvs.text.prompt import Board

_HEAD = b'{"model": '  # of each line of a log


class _Entry(BaseModel):
    """A line of a log: a question and its reply."""

    model: str
    question: str  # a digest of all that was asked
    number: int  # how often it had been asked before
    text: str
    finished: bool
    tokens: tuple[int, int]


class Log:
    """The replies that were paid for, in a file of JSON lines that is only ever added to.

    A question that is asked for the n-th time gets its n-th reply from here, if there is one: who
    goes on with a match that was broken off, with the same seed, pays for no move twice. Without a
    path it only counts tokens. ValueError where the file holds something else.
    """

    def __init__(self, path: Path | None, model: str) -> None:
        self._path, self._model, self._lock = path, model, Lock()
        self._asked = Counter[str]()
        self._tokens = (0, 0)
        self._end = 0  # of the lines that were read
        if path is not None:
            check_writable(path)
        entries = self._read_on()
        self._known = {(e.question, e.number): Reply(e.text, e.finished, e.tokens) for e in entries}

    @property
    def tokens(self) -> tuple[int, int]:
        """Those of all replies, of prompts and of replies, other processes' with the same log too:
        an arena's workers have one limit together.
        """
        with self._lock:
            self._read_on()
            return self._tokens

    def take(self, question: str) -> tuple[int, Reply | None]:
        """How often a question was asked before, and its reply of this time, if there is one."""
        number = self._asked[question]
        self._asked[question] += 1
        return number, self._known.get((question, number))

    def add(self, question: str, number: int, prompt: str, reply: Reply) -> None:
        """Keep a reply, so that it is on the disk when this returns."""
        if self._path is None:
            with self._lock:
                self._count(reply.tokens)
            return
        entry: dict[str, Any] = {"model": self._model, "question": question, "number": number}
        entry |= reply._asdict()
        with self._lock:
            append_lines(self._path, [json.dumps({**entry, "prompt": prompt}).encode()])

    def _count(self, tokens: tuple[int, int]) -> None:
        self._tokens = self._tokens[0] + tokens[0], self._tokens[1] + tokens[1]

    def _read_on(self) -> list[_Entry]:
        """The model's replies in the lines that were not read yet."""
        if self._path is None or not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._end)
            lines = file.read().split(b"\n")
        self._end += sum(len(line) + 1 for line in lines[:-1])
        found = []
        for line in lines:
            try:
                values = parse_json(line.decode("utf-8", "replace"))
            except ValueError:
                # A half line is what a killed process left; what begins otherwise is no log.
                if line[: len(_HEAD)] != _HEAD[: len(line)]:
                    raise ValueError(f"{self._path}: {quote(line)} is none of a log") from None
                continue
            entry = decode(_Entry, values, f"a line of {self._path}")
            if entry.model == self._model:
                self._count(entry.tokens)
                found.append(entry)
        return found


class LlmPlayer(TextPlayer):
    """A model behind an OpenAI-compatible endpoint as a player, "llm:MODEL,log=games.jsonl".

    base_url, key_env, max_tokens (of one reply), temperature, timeout, wait: see `Endpoint`. log: a
    file with all that was asked and answered; see `Log`. tokens, cost: limits of all replies
    together, those in the log included; prices are of a million tokens, in the unit of `cost`.
    Requests that are under way when a limit is reached, `threads` at most, are still paid for. The
    other parameters are those of `TextPlayer`.

    Where a limit is reached, or the endpoint refuses or stays away, `StopPlayError` ends the work
    as Ctrl-C does, and the same command with the same log goes on with it.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        key_env: str = "OPENAI_API_KEY",
        log: str | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        timeout: float = 300.0,
        wait: float = 1.0,
        tokens: int | None = None,
        cost: float | None = None,
        prompt_price: float = 0.0,
        reply_price: float = 0.0,
        board: str = "ascii",
        legal_moves: bool = False,
        disguise: int | None = None,
        retries: int = RETRIES,
        threads: int = 8,
    ) -> None:
        for name, value in (("tokens", tokens), ("max_tokens", max_tokens), ("threads", threads)):
            if value is not None and not is_whole(value, 1):
                raise ValueError(f"{name} is {quote(value)}: it must be 1 or more, and whole")
        if cost is not None and not (is_number(cost, 0) and (prompt_price or reply_price)):
            raise ValueError(
                f"cost is {quote(cost)}: it must be a number from 0 on, and needs the prices of a "
                "million tokens, prompt_price and reply_price"
            )
        self._endpoint = Endpoint(
            model,
            base_url,
            key_env=key_env,
            max_tokens=max_tokens,
            temperature=temperature,
            timeout=timeout,
            wait=wait,
        )
        super().__init__(
            lambda prompt, png=None: self._endpoint.ask(prompt, png).text,
            board=cast("Board", board),
            legal_moves=legal_moves,
            disguise=disguise,
            retries=retries,
            threads=threads,
        )
        self._log = Log(None if log is None else Path(log), model)
        self._limit, self._cost_limit = tokens, cost
        self._prices = prompt_price, reply_price

    @property
    def tokens(self) -> int:
        """All that were used, those in the log included."""
        return sum(self._log.tokens)

    @property
    def cost(self) -> float:
        """What they cost."""
        return self._price(*self._log.tokens)

    def _price(self, *tokens: int) -> float:
        return sum(n * price / 1e6 for n, price in zip(tokens, self._prices, strict=True))

    def report(self) -> dict[str, float]:
        """`counts` by name, and what these replies cost where prices are known."""
        counts = self.counts
        cost = self._price(counts.prompt_tokens, counts.completion_tokens)
        return super().report() | ({"cost": round(cost, 6)} if any(self._prices) else {})

    def _asking(self, prompt: str, png: bytes | None) -> Callable[[], Reply]:
        digest = self._digest(prompt, png)
        number, known = self._log.take(digest)

        def ask() -> Reply:
            if known is not None:
                return known
            self._check_limits()
            reply = self._endpoint.ask(prompt, png)
            self._log.add(digest, number, prompt, reply)
            return reply

        return ask

    def _check_limits(self) -> None:
        if self._limit is not None and self.tokens >= self._limit:
            raise StopPlayError(f"{self.tokens:,} tokens are used, of {self._limit:,} at most")
        if self._cost_limit is not None and self.cost >= self._cost_limit:
            raise StopPlayError(f"the replies cost {self.cost:.2f}, of {self._cost_limit} at most")

    def _digest(self, prompt: str, png: bytes | None) -> str:
        """What tells a question from others: all that the endpoint is sent but the key."""
        end = self._endpoint
        told = json.dumps([prompt, end.model, end.base_url, end.max_tokens, end.temperature])
        return hashlib.sha256(told.encode() + (png or b"")).hexdigest()[:32]
