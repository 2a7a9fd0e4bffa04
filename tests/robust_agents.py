"""Agents of contests whose processes die, or whose nodes."""

from __future__ import annotations

import os
import time
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
    """Plays at random; says which process it is in where there is $ROBUST_NODE, and waits to be
    ended if that is the last.
    """
    if (node := os.environ.get("ROBUST_NODE")) and state.ply[0] < 12:
        with open(os.environ["ROBUST_LOG"], "a") as file:
            file.write(f"{node} {os.getpid()}\n")
        if node == "last":
            time.sleep(3600)
    return game.sample(state, rng)


def only_here() -> Any:
    """A factory that fails on nodes."""
    if "ROBUST_NODE" in os.environ:
        raise RuntimeError("no weights here")
    return on_nodes
