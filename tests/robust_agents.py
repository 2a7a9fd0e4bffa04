"""Agents and a game that have a signal sent, for the tests that end work before its time.

The agents play at random; `$ROBUST_SIGNAL` is the signal's number.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from boardenvs.games.othello import Othello

_most = 0


def signal_when_some_games_are_over(game: Any, state: Any, rng: np.random.Generator) -> Any:
    global _most
    _most = max(_most, len(state.ply))
    if len(state.ply) < _most and "ROBUST_SIGNAL" in os.environ:
        os.kill(os.getpid(), int(os.environ.pop("ROBUST_SIGNAL")))
    return game.sample(state, rng)


def dying_once(game: Any, state: Any, rng: np.random.Generator) -> Any:
    """For a worker process: says which one it is, what it plays and its threads; the first dies."""
    with open(os.environ["ROBUST_LOG"], "a") as file:
        file.write(f"{os.getpid()} {game.id} {os.environ.get('OMP_NUM_THREADS')}\n")
    flag = os.environ["ROBUST_FLAG"]
    if os.path.exists(flag):
        os.remove(flag)
        os._exit(1)
    return game.sample(state, rng)


class SignalledWhileRulesAreTraced(Othello):
    """Othello with which the first thing that runs is a signal."""

    def moves(self, *words: Any) -> Any:
        os.kill(os.getpid(), int(os.environ["ROBUST_SIGNAL"]))
        return super().moves(*words)
