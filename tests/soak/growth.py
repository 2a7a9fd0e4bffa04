"""Environments, agents and trainings for minutes, with memory, files and threads that stay."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import os
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AsyncVectorEnv

import boardenvs
from boardenvs.agents import make_agent
from boardenvs.envs.factory import single_env
from boardenvs.games import BUILT_IN, make
from soak.works import Row, prepare

# That memory may grow by from the middle of a run to its end, for its allocator; and in a run of a
# few seconds, which ends before all is loaded.
MEGABYTES, MEGABYTES_SHORT = 32, 96


def vec_env(rng: np.random.Generator) -> None:
    """A new environment for hundreds of steps, against an opponent or not."""
    name = str(rng.choice(BUILT_IN))
    opponent = str(rng.choice(["random", "greedy"])) if rng.random() < 0.5 else None
    env = boardenvs.vec_env(name, 64, opponent=opponent, copy=bool(rng.random() < 0.5))
    _, infos = env.reset(seed=int(rng.integers(1 << 30)))
    for _ in range(200):
        mask = infos["action_mask"]
        actions = np.argmax(mask * rng.random(mask.shape), axis=1)
        _, _, _, _, infos = env.step(actions)
    env.close()


def agents(rng: np.random.Generator) -> None:
    """A move of each player in a few positions of each game."""
    for name in BUILT_IN:
        game = make(name)
        state = game.init(4)
        for _ in range(int(rng.integers(20))):
            state = game.step(state, game.sample(state, rng))
        for spec in ("greedy", "alphabeta:depth=2", "mcts:rollouts=20"):
            agent = make_agent(spec)
            with contextlib.suppress(ValueError):
                agent.act(game, state, rng)


def single(rng: np.random.Generator) -> None:
    """A game of one board against an opponent."""
    env = single_env(str(rng.choice(BUILT_IN)))
    env.reset(seed=int(rng.integers(1 << 30)))
    over = False
    while not over:
        action = int(rng.choice(np.flatnonzero(env.action_masks())))
        _, _, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
    env.close()


def in_asyncio(rng: np.random.Generator) -> None:
    """Games of several tasks in threads, at once."""

    async def play() -> None:
        seeds = rng.integers(1 << 30, size=4).tolist()
        await asyncio.gather(
            *(asyncio.to_thread(single, np.random.default_rng(seed)) for seed in seeds)
        )

    asyncio.run(play())


def async_vector_env(rng: np.random.Generator) -> None:
    """Processes of Gymnasium with a board each."""
    envs = AsyncVectorEnv([partial(single_env, "reversi")] * 2)
    _, infos = envs.reset(seed=int(rng.integers(1 << 30)))
    for _ in range(50):
        masks = np.stack(list(infos["action_mask"]))
        masks[~masks.any(axis=1), -1] = 1  # a game that is over: the next step begins another
        _, _, _, _, infos = envs.step(np.argmax(masks * rng.random(masks.shape), axis=1))
    envs.close()


def training(rng: np.random.Generator) -> None:
    """A short training in this process."""
    from training import ppo

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        prepare(Path(folder))
        os.chdir(folder)
        try:
            assert ppo.main(["tiny.yaml", "--set", f"seed={rng.integers(1 << 30)}"]) == 0
        finally:
            os.chdir(before)


RUNS: dict[str, Callable[[np.random.Generator], None]] = {
    "vec_env": vec_env,
    "agents": agents,
    "one board": single,
    "asyncio": in_asyncio,
    "AsyncVectorEnv": async_vector_env,
    "trainings": training,
}


def grow(name: str, seconds: float, seed: int) -> Row:
    """Run it again and again for so long; what has grown since the middle is a fault."""
    row, rng = Row(f"flat: {name}"), np.random.default_rng(seed)
    begun = time.monotonic()
    middle: Any = None
    while True:
        RUNS[name](rng)
        row.tried += 1
        elapsed = time.monotonic() - begun
        if middle is None and elapsed > seconds / 2:
            middle = _held()
        # What the first runs load and compile for good is loaded when the second half begins.
        if middle is not None and elapsed > seconds and row.tried >= 4:
            break
    now = _held()
    row.seen = (
        f"{middle[0] >> 20} to {now[0] >> 20} MB, {middle[1]} to {now[1]} files, "
        f"{middle[2]} to {now[2]} threads"
    )
    most = (MEGABYTES if seconds > 30 else MEGABYTES_SHORT) << 20
    if now[0] - middle[0] > most or now[1] > middle[1] + 2 or now[2] > middle[2]:
        row.faults.append(f"{name} grew: {row.seen}")
    return row


def _held() -> tuple[int, int, int]:
    """Bytes of memory, open files and threads of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(list(Path("/proc/self/fd").iterdir()))
    return pages * os.sysconf("SC_PAGESIZE"), files, threading.active_count()
