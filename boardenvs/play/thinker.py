"""Agents that think in a process of their own: what waits for them can go on, and stop them."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TypeAlias

import numpy as np

from boardenvs.agents import Agent, agent_for
from boardenvs.agents.explain import Explanation, explain
from boardenvs.game.contract import Game, Position
from boardenvs.kernel import get_backend, set_backend
from boardenvs.play.kept_game import reply
from boardenvs.utils.ending import serve_parent


@dataclass(frozen=True)
class Query:
    """What to ask the agent with this text about a position: its move, or what it thinks of all."""

    agent: str
    game: Game
    position: Position
    seed: int
    explain: bool = False


@dataclass(frozen=True)
class Failure:
    """Why there is no answer, for users."""

    message: str


# The action to play, or what the agent thinks.
Answer: TypeAlias = int | Explanation | Failure


class Thinker:
    """Answers a query at a time; another one, or `stop`, ends the work on the one before."""

    def __init__(self) -> None:
        self.asked: Query | None = None  # what is being thought about
        self._process: BaseProcess | None = None

    def start(self) -> None:
        """Have the process ready before the first query."""
        if self._process is not None and self._process.is_alive():
            return
        context = multiprocessing.get_context("spawn")  # works everywhere, threads or not
        self._pipe, theirs = context.Pipe()
        arguments = (theirs, get_backend())
        self._process = context.Process(target=_answer_all, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, query: Query) -> None:
        """Begin to think; `answer` has what came of it."""
        self.stop()
        self.start()
        self._pipe.send(query)
        self.asked = query

    def answer(self) -> Answer | None:
        """The answer, once; None before it is there."""
        if self.asked is None or not self._pipe.poll():
            return None
        agent, self.asked = self.asked.agent, None
        try:
            found: Answer = self._pipe.recv()
        except (EOFError, OSError):
            self.close()
            return Failure(f"{agent}: its process ended, perhaps for want of memory")
        return found

    def stop(self) -> None:
        """Have nobody think."""
        if self.asked is not None:
            self.asked = None
            self.close()
            self.start()

    def close(self) -> None:
        """End the process, whatever it is at."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _answer_all(queries: Connection, backend: str) -> None:
    """Answer until there are no more queries."""
    serve_parent()
    set_backend(backend)
    while True:
        try:
            query: Query = queries.recv()
        except EOFError:
            return
        queries.send(_answer(query))


def _answer(asked: Query) -> Answer:
    try:
        agent = _agent(asked.game, asked.agent)
        if asked.explain:
            rng = np.random.default_rng(asked.seed)
            return explain(agent, asked.game, asked.position, rng)
        return reply(agent, asked.game, asked.position, asked.seed)
    except Exception as error:  # agents may be anybody's code
        known = isinstance(error, ValueError | OSError)
        return Failure(str(error) if known else f"{type(error).__name__}: {error}")


@lru_cache(maxsize=4)
def _agent(game: Game, text: str) -> Agent:
    return agent_for(game, text)
