"""The modules of `compiled` with the rules of a game."""

from __future__ import annotations

import warnings
from functools import lru_cache
from importlib.util import find_spec
from threading import Lock
from types import ModuleType, SimpleNamespace

from boardenvs.game.contract import Game
from boardenvs.kernel import ALL
from boardenvs.kernel.backend import Backend
from boardenvs.kernel.link import link

_NO_CAP = 1 << 40
_SLOW = "search is about a hundred times slower without Numba: pip install 'boardenvs[fast]'"

# Threads link one after the other, each thing once. CPython 3.11 may also fail (SystemError) where
# two threads make syntax trees at once: it counts their depth together.
_linking = Lock()


def has_exact_end(game: Game) -> bool:
    """Whether the end of the game can be searched by itself, in empty squares instead of plies."""
    return game.fills_up and game.margin_counts


def compile_for(game: Game, backend: Backend, module: ModuleType) -> SimpleNamespace:
    """The functions of this module for the game; `backend` is the one in use."""
    with _linking:
        return _compile_for(game, backend, module)


@lru_cache(maxsize=32)
def _compile_for(game: Game, backend: Backend, module: ModuleType) -> SimpleNamespace:
    if not find_spec("numba"):
        warnings.warn(_SLOW, stacklevel=3)
    kernels = game.kernels
    rules = {
        "advance": kernels.advance,
        "arrive": kernels.arrive,
        "place": kernels.place,
        "stable": kernels.stable,
        "sample": kernels.sample,
        "points": kernels.points,
        "evaluate": kernels.evaluate,
        "features": kernels.features,
    }
    constants = {
        "legal_words": game.action_planes + 1,
        "feature_count": len(game.feature_sizes),
        "max_ply": _NO_CAP if game.max_plies is None else game.max_plies,
        "margin_counts": game.margin_counts,
        "has_exact_end": has_exact_end(game),
        "fills_by_capture": game.fills_by_capture,
        "has_stable": game.has_stable,
        "board": ALL ^ game.holes,
    }
    return link(module, rules, constants)
