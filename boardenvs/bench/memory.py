"""Memory: bytes a board of each game and interface."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np

from boardenvs.envs.factory import vec_env
from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray

_BOARDS = 4096


def bytes_per_board(game: Game) -> dict[str, float]:
    """What a board takes: "state" as it rests, "step" and "vec_env step" at their peak.

    The peaks count the old and the new state and, for vec_env, all that it keeps and that a step
    returns, while what the two steps before returned is still held; the work space of a step, which
    is the same for every batch size, is left out.
    """
    rng = np.random.default_rng(0)
    state = game.init(_BOARDS)
    actions = game.sample(state, rng)
    resting = sum(x.nbytes for x in state) / _BOARDS
    return {
        "state": resting,
        "step": resting + _peak(lambda: game.step(state, actions)),
        "vec_env step": _peak(lambda: _steps(game, actions)),
    }


def _steps(game: Game, actions: IntArray) -> object:
    """Some steps of a new environment, and what the last two returned."""
    env = vec_env(game, _BOARDS)
    env.reset(seed=0)
    kept: tuple[object, object] = (None, env.step(actions))
    for _ in range(3):
        kept = kept[1], env.step(env.game.sample(env.batch.state, np.random.default_rng(1)))
    return kept


def _peak(call: Callable[[], object]) -> float:
    call()  # compiles
    tracemalloc.start()
    try:
        kept = call()
        peak = tracemalloc.get_traced_memory()[1]
        del kept
    finally:
        tracemalloc.stop()
    return peak / _BOARDS
