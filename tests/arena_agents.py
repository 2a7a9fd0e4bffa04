"""Agents that the arena's tests send to worker processes."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import numpy as np

from boardenvs.game.errors import StopPlayError
from boardenvs.game.game import Game
from boardenvs.game.state import IntArray, State


def lowest(observation: dict[str, Any], agent: str) -> int:
    """PettingZoo-style: the first legal action."""
    return int(np.flatnonzero(observation["action_mask"])[0])


def as_black(observation: dict[str, Any], agent: str) -> int:
    """Knows one role alone."""
    if agent != "black":
        raise RuntimeError(f"who is {agent}?")
    return lowest(observation, agent)


def highest(game: Game, state: State, rng: np.random.Generator) -> IntArray:
    """Batched: the last legal action."""
    actions: IntArray = game.num_actions - 1 - game.legal(state)[:, ::-1].argmax(axis=1)
    return actions


class Apart:
    """Plays at random, each game for itself."""

    games_at_once = 3

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return game.sample(state, rng)


def by_global_chance(observation: dict[str, Any]) -> int:
    """A random action of NumPy's global generator."""
    return int(np.random.choice(np.flatnonzero(observation["action_mask"])))  # noqa: NPY002


def rolling(observation: dict[str, Any]) -> int:
    """A random action of Python's global generator."""
    return int(random.choice(np.flatnonzero(observation["action_mask"])))


def waiting(game: Game, state: State, rng: np.random.Generator) -> IntArray:
    """Plays at random; where there is $ARENA_TEST_PIDS, writes its process's number to that file
    and waits to be ended.
    """
    if path := os.environ.get("ARENA_TEST_PIDS"):
        with open(path, "a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(3600)
    return game.sample(state, rng)


def dying(game: Game, state: State, rng: np.random.Generator) -> IntArray:
    """Takes its process along in the tenth ply."""
    if (state.ply >= 10).any():
        os._exit(7)
    return game.sample(state, rng)


def dying_once(game: Game, state: State, rng: np.random.Generator) -> IntArray:
    """Ends the first process that it plays in, and writes the number of threads to a file."""
    flag = Path(os.environ["ARENA_TEST_FLAG"])
    if not flag.exists():
        flag.write_text(os.environ["OMP_NUM_THREADS"])
        os._exit(1)
    return game.sample(state, rng)


def unmakable() -> None:
    """A factory that fails."""
    raise RuntimeError("no weights here")


class Otherwise:
    """Passes where it must not."""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return np.full(len(state.ply), game.noop)

    def check_game(self, game: Game) -> None:
        if game.id == "reversi":
            raise ValueError("it has never heard of Reversi")


class Dead:
    """An engine that is gone."""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        raise RuntimeError("the engine is gone")


def down(game: Game, state: State, rng: np.random.Generator) -> IntArray:
    """As a language model whose endpoint does not answer."""
    raise StopPlayError("no answer")


def counted() -> Any:
    """A factory that writes the number of its process to $ARENA_TEST_PIDS."""
    with open(os.environ["ARENA_TEST_PIDS"], "a") as file:
        file.write(f"{os.getpid()}\n")
    return Apart()


class Odd:
    """Fails with a text that no file can hold, and counts what no number can."""

    cpu_seconds = 0.0

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        self.cpu_seconds -= 1e6  # as of an engine that was started again
        if (state.ply > 12).any():
            raise RuntimeError("no \ud800 answer")
        return game.sample(state, rng)

    def report(self) -> dict[str, float]:
        return {"endless": float("inf")}
