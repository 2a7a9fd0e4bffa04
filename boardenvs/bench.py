"""Print how fast games are played at random on this machine.

    python -m boardenvs.bench              # Othello
    python -m boardenvs.bench chess hex    # any games

Plies a CPU second of one process, with the choice of moves: by the rules alone, by `vec_env`, which
adds checks, observations, masks, rewards and resets, and by PettingZoo's `env`.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from boardenvs.envs.factory import env, vec_env
from boardenvs.game.game import Game
from boardenvs.game.state import put, take
from boardenvs.games import parse, spec_of
from boardenvs.kernel import get_backend
from boardenvs.utils.ending import ending_in_a_line

Slice: TypeAlias = Callable[[], int]  # does a slice of work, and returns its amount

_PLIES = 300  # of a slice on a single board


def rules(game: Game, boards: int) -> Slice:
    """Return random play by the rules alone: choice, step, and a new game after the last ply."""
    rng = np.random.default_rng(0)
    state, fresh = game.init(boards), game.init(boards)

    def play() -> int:
        nonlocal state
        state = game.step(state, game.sample(state, rng))
        over = np.flatnonzero(state.terminated)
        if over.size:
            put(state, over, take(fresh, slice(over.size)))
        return boards

    return play


def vector(game: Game, boards: int) -> Slice:
    """Return random play by `vec_env`."""
    envs, rng = vec_env(game, boards), np.random.default_rng(0)
    envs.reset(seed=0)

    def play() -> int:
        envs.step(game.sample(envs.batch.state, rng))
        return boards

    return play


def turn_by_turn(envs: Any) -> Slice:
    """Return random play in a PettingZoo environment with action masks."""
    chance = random.Random(0).random

    def play() -> int:
        plies = 0
        while plies < _PLIES:
            envs.reset()
            for _ in envs.agent_iter():
                observation, _, terminated, truncated, _ = envs.last()
                if terminated or truncated:
                    envs.step(None)
                    continue
                legal = observation["action_mask"].nonzero()[0]
                envs.step(legal[int(chance() * len(legal))])
                plies += 1
        return plies

    return play


def measure(
    slices: Sequence[Slice],
    rounds: int = 5,
    seconds: float = 0.2,
    clock: Callable[[], float] = time.process_time,
) -> list[list[float]]:
    """Return the amounts of work a second, a list of all rounds for each of the slices.

    In a round all take turns for some seconds: other load of the machine affects all of them alike.
    """
    rates: list[list[float]] = [[] for _ in slices]
    for _ in range(rounds):
        for work, row in zip(slices, rates, strict=True):
            work()  # the caches are the others'
            done, began = 0, clock()
            while (used := clock() - began) < seconds or not done:
                done += work()
            row.append(done / max(used, 1e-9))
    return rates


def main(texts: Sequence[str]) -> None:
    """Measure games and print a line for each way to play them."""
    slices: dict[str, Slice] = {}
    for game in map(parse, texts):
        name = spec_of(game)
        slices[f"{name}, rules alone, 65,536 boards"] = rules(game, 65536)
        slices[f"{name}, vec_env, 4,096 boards"] = vector(game, 4096)
        slices[f"{name}, env"] = turn_by_turn(env(game))
    for play in slices.values():
        play()  # compiles
    print(f"plies a CPU second, with {get_backend()}:")
    for name, rates in zip(slices, measure([*slices.values()]), strict=True):
        print(f"{statistics.median(rates):15,.0f}  {name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m boardenvs.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("games", nargs="*", default=["othello"], metavar="GAME")
    with ending_in_a_line():
        main(parser.parse_args().games)
