"""What is measured: uniformly random play through each of our interfaces; `search` has more."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from boardenvs.envs.factory import env, raw_env, vec_env
from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import State, put
from boardenvs.games import spec_of
from boardenvs.kernel.backend import Backend

# Plies before a single-board slice looks at the clock again.
_SLICE = 300


@dataclass(frozen=True)
class Workload:
    """Random play of one game through one interface, or search in it, `boards` at a time.

    `start()` sets it up and returns a function that does a slice of it and returns how much that
    was, in plies or in another `unit`.
    """

    library: str
    game: str
    interface: str
    boards: int
    backend: Backend | None
    start: Callable[[], Callable[[], int]]
    unit: str = "plies"

    @property
    def name(self) -> str:
        backend = f" ({self.backend})" if self.backend else ""
        return f"{self.library} {self.game} {self.interface}{backend} x{self.boards}"


def workloads(games: list[Game], sizes: list[int], backends: list[Backend]) -> Iterator[Workload]:
    """All of ours, for these games, batch sizes and backends."""
    for game in games:
        name = spec_of(game)
        for backend in backends:
            for interface in ("raw_env", "env"):
                yield Workload("boardenvs", name, interface, 1, backend, _aec(game, interface))
            for size in sizes:
                for interface, start in (("kernel", _kernel), ("vec_env", _vector)):
                    yield Workload("boardenvs", name, interface, size, backend, start(game, size))
                if find_spec("stable_baselines3"):
                    sb3 = _sb3(game, size)
                    yield Workload("boardenvs", name, "SB3 VecEnv", size, backend, sb3)


def aec_slice(env: Any, seed: int = 0) -> Callable[[], int]:
    """Random play in any PettingZoo environment whose observations hold an action mask.

    The choice is made as cheaply as Python allows, so that the environment is what is measured.
    """
    chance = random.Random(seed).random

    def play() -> int:
        plies = 0
        while plies < _SLICE:
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = observation["action_mask"].nonzero()[0]
                env.step(legal[int(chance() * len(legal))])
                plies += 1
        return plies

    return play


def _aec(game: Game, interface: str) -> Callable[[], Callable[[], int]]:
    make = {"env": env, "raw_env": raw_env}[interface]
    return lambda: aec_slice(make(game))


def middle_game(game: Game, boards: int, rng: np.random.Generator) -> State:
    """Positions after random plies, more than openings have."""
    low = game.opening_plies[1] + 2
    return random_openings(game, boards, (low, 2 * low), rng)


def _kernel(game: Game, boards: int) -> Callable[[], Callable[[], int]]:
    """Rules alone: choice, step, and a new game where one is over by the rules."""

    def start() -> Callable[[], int]:
        rng = np.random.default_rng(0)
        state, fresh = game.init(boards), game.init(boards)

        def play() -> int:
            nonlocal state
            state = game.step(state, game.sample(state, rng))
            over = np.flatnonzero(state.terminated)
            if over.size:
                put(state, over, type(state)(*(x[: over.size] for x in fresh)))
            return boards

        return play

    return start


def _vector(game: Game, boards: int) -> Callable[[], Callable[[], int]]:
    """Rules, legality check, observation, mask, rewards, autoreset, and the choice of actions."""

    def start() -> Callable[[], int]:
        envs, rng = vec_env(game, boards), np.random.default_rng(0)
        envs.reset(seed=0)

        def play() -> int:
            envs.step(envs.game.sample(envs.batch.state, rng))
            return boards

        return play

    return start


def _sb3(game: Game, boards: int) -> Callable[[], Callable[[], int]]:
    """As `_vector`, through Stable-Baselines3's interface, masks included."""

    def start() -> Callable[[], int]:
        from boardenvs.envs.sb3 import BoardVecEnv

        env, rng = BoardVecEnv(game, boards), np.random.default_rng(0)
        env.reset()

        def play() -> int:
            env.step(env.game.sample(env.state, rng))
            env.env_method("action_masks")
            return boards

        return play

    return start
