"""The same play in other libraries, each in the way that its own documentation recommends.

A library that is not installed is left out (extra `peers` installs them).
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from boardenvs.bench.jax import pgx_play
from boardenvs.bench.workloads import Workload, aec_slice

_SLICE = 300


def peers(sizes: list[int]) -> Iterator[Workload]:
    """Those that are installed; `sizes` are the batch sizes of those that play batches."""
    if find_spec("pyspiel"):
        for game in ("othello", "lines_of_action"):
            yield Workload("OpenSpiel", game, "State loop", 1, None, _openspiel(game))
    if find_spec("pygame"):  # PettingZoo's classic games import it
        for game in ("connect_four", "tictactoe"):
            for maker in ("raw_env", "env"):
                yield Workload("PettingZoo", game, maker, 1, None, _pettingzoo(game, maker))
    if find_spec("pgx"):
        for size in sizes:
            yield Workload("Pgx", "othello", "lax.scan", size, None, _pgx(size))
    if find_spec("envpool"):
        for size in sizes:
            yield Workload("EnvPool", "othello", "step", size, None, _envpool(size))


def _openspiel(name: str) -> Callable[[], Callable[[], int]]:
    def start() -> Callable[[], int]:
        import pyspiel

        game, chance = pyspiel.load_game(name), random.Random(0).random

        def play() -> int:
            plies = 0
            while plies < _SLICE:
                state = game.new_initial_state()
                while not state.is_terminal():
                    actions = state.legal_actions()
                    state.apply_action(actions[int(chance() * len(actions))])
                    plies += 1
            return plies

        return play

    return start


def _pettingzoo(name: str, maker: str) -> Callable[[], Callable[[], int]]:
    def start() -> Callable[[], int]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from pettingzoo.classic import connect_four_v3, tictactoe_v3

            module = {"connect_four": connect_four_v3, "tictactoe": tictactoe_v3}[name]
            return aec_slice(getattr(module, maker)())

    return start


def _pgx(boards: int) -> Callable[[], Callable[[], int]]:
    def make() -> Any:
        import pgx

        return pgx.make("othello")

    return pgx_play(make, "Pgx's", boards)


def _envpool(boards: int) -> Callable[[], Callable[[], int]]:
    def start() -> Callable[[], int]:
        import envpool

        env = envpool.make("Othello-v1", env_type="gymnasium", num_envs=boards)
        _, info = env.reset()
        rng = np.random.default_rng(0)

        def play() -> int:
            nonlocal info
            mask = info["legal_action_mask"]
            actions = (rng.random(mask.shape, np.float32) * mask).argmax(axis=1)
            info = env.step(actions.astype(np.int32))[-1]
            return boards

        return play

    return start
