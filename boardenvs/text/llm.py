"""The player `llm:MODEL`: a model behind an endpoint, with limits and a log of what was paid."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import BaseModel, ValidationError

from boardenvs.game.errors import StopPlayError
from boardenvs.games.notation import legal_names
from boardenvs.text.endpoint import Endpoint, LlmSettings
from boardenvs.text.player import TextPlayer
from boardenvs.text.turn import ModelReply, TextTurn
from boardenvs.utils.checks import quote
from boardenvs.utils.files import append_lines, check_writable


class _Entry(BaseModel):
    """A line of a log."""

    model: str
    question: str
    number: int
    text: str
    finish_reason: str
    tokens: tuple[int, int]
    prompt: str


class Log:
    """The replies that were paid for, in a file of JSON lines that is only ever added to.

    A turn that has the same question and the same random number gets its reply from here, if there
    is one: an interrupted match that is run again with the same seed pays for no move twice.
    Without a path it only counts tokens. ValueError if the file holds something else.
    """

    def __init__(self, path: str | None, model: str) -> None:
        self._path, self._model, self._lock = Path(path) if path else None, model, Lock()
        self._asked = Counter[str]()
        self._known = dict[tuple[str, int], ModelReply]()
        self._spent = (0, 0)
        self._end = 0  # of the lines that were read
        if self._path:
            check_writable(self._path)
        self._read_on()

    @property
    def tokens(self) -> tuple[int, int]:
        """The tokens of all prompts and of all replies, including those of other processes with
        the same log: an arena's workers share one limit.
        """
        with self._lock:
            self._read_on()
            return self._spent

    def take(self, question: str) -> tuple[int, ModelReply | None]:
        """Return how often a question was asked before, and its reply of this time if known."""
        with self._lock:
            number = self._asked[question]
            self._asked[question] += 1
            return number, self._known.get((question, number))

    def add(self, question: str, number: int, prompt: str, reply: ModelReply) -> None:
        """Keep a reply, so that it is on the disk when this returns."""
        entry = {"model": self._model, "question": question, "number": number, **reply._asdict()}
        with self._lock:
            if self._path:
                append_lines(self._path, [json.dumps(entry | {"prompt": prompt}).encode()])
            else:
                self._count(reply)

    def _read_on(self) -> None:
        """Read the lines that were not read yet."""
        if not (self._path and self._path.exists()):
            return
        with self._path.open("rb") as file:
            file.seek(self._end)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._end += len(whole + newline)
        for line in whole.splitlines():
            try:
                entry = _Entry.model_validate_json(line)
            except ValidationError:
                raise ValueError(f"{self._path}: {quote(line)} is none of a log") from None
            if entry.model == self._model:
                reply = ModelReply(entry.text, entry.finish_reason, entry.tokens)
                self._count(reply)
                if reply.finish_reason != "timeout":
                    self._known[entry.question, entry.number] = reply

    def _count(self, reply: ModelReply) -> None:
        self._spent = self._spent[0] + reply.tokens[0], self._spent[1] + reply.tokens[1]


class LlmPlayer(TextPlayer):
    """A model behind an OpenAI-compatible endpoint as a player, "llm:MODEL,log=games.jsonl".

    If a limit is reached, or the endpoint refuses or does not answer, `StopPlayError` ends the work
    as Ctrl-C does, and the same command with the same log continues it.
    """

    def __init__(self, settings: LlmSettings) -> None:
        self._settings, self._endpoint = settings, Endpoint(settings)
        super().__init__(
            self._endpoint.ask,
            legal_moves=settings.legal_moves,
            retries=settings.retries,
            threads=settings.threads,
        )
        self._log = Log(settings.log, settings.model)

    @property
    def tokens(self) -> int:
        """The number of all tokens used, including those in the log."""
        return sum(self._log.tokens)

    @property
    def cost(self) -> float:
        """The cost of these tokens."""
        return self._price(*self._log.tokens)

    def _price(self, prompt: int, reply: int) -> float:
        settings = self._settings
        return (prompt * settings.prompt_price + reply * settings.reply_price) / 1e6

    def report(self) -> dict[str, float]:
        """Return `counts` by name, and the cost of these replies if prices are known."""
        cost = self._price(self.counts["prompt_tokens"], self.counts["completion_tokens"])
        return super().report() | ({"cost": round(cost, 6)} if cost else {})

    def _ask(self, turn: TextTurn, number: int) -> ModelReply:
        moves, settings = list(legal_names(turn.position)), self._settings
        # All that the endpoint is sent, without the key.
        sent = self._endpoint.base_url, self._endpoint.request(turn.prompt, moves), number
        question = hashlib.sha256(json.dumps(sent).encode()).hexdigest()[:32]
        time, logged = self._log.take(question)
        if logged:
            return logged
        for _ in range(settings.timeouts):
            self._check_limits()
            reply = self._endpoint.ask(turn.prompt, moves)
            self._log.add(question, time, turn.prompt, reply)
            if reply.finish_reason != "timeout":
                return reply
            with self._counting:
                self.counts["timeouts"] += 1
        raise StopPlayError(
            f"{settings.model} did not answer within {settings.timeout:g} seconds, "
            f"{settings.timeouts} times in a row"
        )

    def _check_limits(self) -> None:
        limits, tokens, cost = self._settings, self.tokens, self.cost
        if limits.tokens is not None and tokens >= limits.tokens:
            raise StopPlayError(f"{tokens:,} tokens are used, of {limits.tokens:,} at most")
        if limits.cost is not None and cost >= limits.cost:
            raise StopPlayError(f"the replies cost {cost:.2f}, of {limits.cost} at most")


@wraps(LlmSettings, assigned=(), updated=())
def llm_player(**settings: Any) -> LlmPlayer:
    """Return the player of `llm:MODEL`, whose options are the fields of `LlmSettings`."""
    return LlmPlayer(LlmSettings(**settings))
