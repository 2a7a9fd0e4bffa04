"""Linking a game to the loops of a search, and the arrays that these work in."""

from __future__ import annotations

import warnings
from functools import lru_cache
from importlib.util import find_spec
from threading import Lock
from types import ModuleType
from typing import Any

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import State, WordArray
from boardenvs.kernel.backend import Backend
from boardenvs.kernel.link import array_for_loops, link

_NO_CAP = 1 << 40
_SLOW = "search is about a hundred times slower without Numba: pip install 'boardenvs[fast]'"


# Threads link one after the other, each thing once. CPython 3.11 may also fail (SystemError) where
# two threads make syntax trees at once: it counts their depth together.
_linking = Lock()


def linked(game: Game, backend: Backend, sources: tuple[ModuleType, ...]) -> Any:
    """The functions of these modules with the rules of the game; `backend` is the one in use."""
    with _linking:
        return _linked(game, backend, sources)


@lru_cache(maxsize=32)
def _linked(game: Game, backend: Backend, sources: tuple[ModuleType, ...]) -> Any:
    if not find_spec("numba"):
        warnings.warn(_SLOW, stacklevel=3)
    rules = game.kernels
    kernels = {
        "advance": rules.advance,
        "arrive": rules.arrive,
        "points": rules.points,
        "sample": rules.sample,
        "evaluate": rules.evaluate,
    }
    constants = {
        "WORDS": game.action_planes + 1,
        "OVER": game.action_planes + 3,
        "WIDTH": node_width(game),
        "MAX_PLY": _NO_CAP if game.max_plies is None else game.max_plies,
        "MAX_MOVES": game.num_actions,
        "HOLES": game.holes,
        "MARGIN": int(game.margin_counts),
    }
    return link(sources, kernels, constants)


def node_width(game: Game) -> int:
    """Words of a node: both sides' squares, the legal actions, whether the game is over."""
    return game.action_planes + 4


def node_words(state: State) -> WordArray:
    """The rows as nodes, one after the other."""
    nodes: WordArray = np.empty((len(state.ply), state.legal_bits.shape[1] + 3), np.uint64)
    nodes[:, 0], nodes[:, 1] = state.own, state.opp
    nodes[:, 2:-1] = state.legal_bits
    nodes[:, -1] = state.terminated
    return nodes.reshape(-1)


def words(size: int) -> Any:
    """An array of words for loops, zero."""
    return array_for_loops(np.zeros(size, np.uint64))


def numbers(size: int) -> Any:
    """An array of signed numbers for loops, zero."""
    return array_for_loops(np.zeros(size, np.int64))


def reals(size: int) -> Any:
    """An array of float64 for loops, zero."""
    return array_for_loops(np.zeros(size, np.float64))
