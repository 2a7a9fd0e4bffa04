"""Environments, agents and trainings for minutes, with memory, files and threads that stay; and
games of which the rules are checked.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import boardenvs
from boardenvs.agents import make_agent
from boardenvs.game.check import check_rules
from boardenvs.games import BUILT_IN, make
from soak.works import TINY, Row

# That memory may grow by from the middle of a run to its end, for its allocator; and in a run of a
# few seconds, which ends before all is loaded.
MEGABYTES, MEGABYTES_SHORT = 32, 96


def vec_env(rng: np.random.Generator) -> None:
    """A new environment for hundreds of steps, against an opponent or not."""
    opponent = [None, "random", "greedy"][rng.integers(3)]
    env = boardenvs.vec_env(str(rng.choice(BUILT_IN)), 64, opponent=opponent)
    _, infos = env.reset(seed=int(rng.integers(1 << 30)))
    for _ in range(200):
        mask = infos["action_mask"]
        _, _, _, _, infos = env.step(np.argmax(mask * rng.random(mask.shape), axis=1))
    env.close()


def agents(rng: np.random.Generator) -> None:
    """A move of each player in a few positions of each game."""
    for name in BUILT_IN:
        game = make(name)
        state = game.init(4)
        for _ in range(int(rng.integers(20))):
            state = game.step(state, game.sample(state, rng))
        for spec in ("greedy", "alphabeta:depth=2", "mcts:rollouts=20"):
            with contextlib.suppress(ValueError):
                make_agent(spec).act(game, state, rng)


def one_board(rng: np.random.Generator) -> None:
    """Games in turns."""
    for name in BUILT_IN:
        env = boardenvs.env(name)
        env.reset(seed=int(rng.integers(1 << 30)))
        for _ in env.agent_iter():
            shown, _, terminated, truncated, _ = env.last()
            legal = np.flatnonzero(shown["action_mask"])
            env.step(None if terminated or truncated else int(rng.choice(legal)))


def rules(rng: np.random.Generator) -> None:
    """What must hold in each position of a game of each kind, by each backend."""
    for name in BUILT_IN:
        check_rules(make(name), seed=int(rng.integers(1 << 30)), num_games=1)


def trainings(rng: np.random.Generator) -> None:
    """A short one in this process."""
    from training import ppo

    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        Path("tiny.yaml").write_text(yaml.safe_dump(TINY))
        assert ppo.main(["tiny.yaml", "--set", f"seed={rng.integers(1 << 30)}"]) == 0


RUNS: list[Callable[[np.random.Generator], None]] = [
    vec_env, agents, one_board, rules, trainings,
]  # fmt: skip


def grow(run: Callable[[np.random.Generator], None], seconds: float, seed: int) -> Row:
    """Run it again and again for so long; what has grown since the middle is a fault."""
    row, rng = Row(f"flat: {run.__name__}"), np.random.default_rng(seed)
    begun = time.monotonic()
    middle: Any = None
    # What the first runs load and compile for good is loaded when the second half begins.
    while time.monotonic() - begun < seconds or row.tried < 4:
        run(rng)
        row.tried += 1
        if middle is None and time.monotonic() - begun > seconds / 2:
            middle = _held()
    now = _held()
    row.seen = (
        f"{middle[0] >> 20} to {now[0] >> 20} MB, {middle[1]} to {now[1]} files, "
        f"{middle[2]} to {now[2]} threads"
    )
    most = (MEGABYTES if seconds > 30 else MEGABYTES_SHORT) << 20
    if now[0] - middle[0] > most or now[1] > middle[1] + 2 or now[2] > middle[2]:
        row.fault(f"it grew: {row.seen}")
    return row


def _held() -> tuple[int, int, int]:
    """Bytes of memory, open files and threads of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(list(Path("/proc/self/fd").iterdir()))
    return pages * os.sysconf("SC_PAGESIZE"), files, threading.active_count()
