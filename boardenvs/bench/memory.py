"""Memory: bytes a board of each game and interface."""

from __future__ import annotations

import tracemalloc

import numpy as np

from boardenvs.envs.factory import vec_env
from boardenvs.game.contract import Game

_BOARDS = 4096


def bytes_per_board(game: Game) -> dict[str, float]:
    """What a board takes: "state" as it rests, "step" and "vec_env step" at their peak.

    The peaks count the old and the new state and, for vec_env, all that a step returns; the work
    space of a step, which is the same for every batch size, is left out.
    """
    rng = np.random.default_rng(0)
    state = game.init(_BOARDS)
    actions = game.sample(state, rng)
    env = vec_env(game, _BOARDS)
    env.reset(seed=0)
    return {
        "state": sum(x.nbytes for x in state) / _BOARDS,
        "step": sum(x.nbytes for x in state) / _BOARDS + _peak(lambda: game.step(state, actions)),
        "vec_env step": sum(x.nbytes for x in env.batch.state) / _BOARDS
        + _peak(lambda: env.step(actions)),
    }


def _peak(call: object) -> float:
    assert callable(call)
    call()
    tracemalloc.start()
    try:
        kept = call()
        peak = tracemalloc.get_traced_memory()[1]
        del kept
    finally:
        tracemalloc.stop()
    return peak / _BOARDS
