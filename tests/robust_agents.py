"""Agents of contests whose processes die, or whose nodes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np


def dying_once(game: Any, state: Any, rng: np.random.Generator) -> Any:
    """Says which process it is in, what it plays and with how many threads; the first one dies."""
    with open(os.environ["ROBUST_LOG"], "a") as file:
        file.write(f"{os.getpid()} {game.id} {os.environ.get('OMP_NUM_THREADS')}\n")
    flag = os.environ["ROBUST_FLAG"]
    if os.path.exists(flag):
        os.remove(flag)
        os._exit(1)
    return game.sample(state, rng)


def on_nodes(game: Any, state: Any, rng: np.random.Generator) -> Any:
    """Plays at random; where there is $ROBUST_NODE, says which node it is on and waits: on the last
    to be ended, on others until it has been on the last one too.
    """
    if (node := os.environ.get("ROBUST_NODE")) and state.ply[0] < 12:
        log = Path(os.environ["ROBUST_LOG"])
        with log.open("a") as file:
            file.write(f"{node} {os.getpid()}\n")
        deadline = time.monotonic() + 200
        while node == "last" or "last" not in log.read_text():
            assert time.monotonic() < deadline, "waited in vain"
            time.sleep(0.05)
    return game.sample(state, rng)


def only_here() -> Any:
    """A factory that fails on nodes."""
    if "ROBUST_NODE" in os.environ:
        raise RuntimeError("no weights here")
    return on_nodes
