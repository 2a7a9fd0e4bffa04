"""The arrays that compiled search works in."""

from __future__ import annotations

from typing import Any

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import State, WordArray
from boardenvs.kernel.link import array_for_loops
from boardenvs.search.compiled.position import LEGAL, PLY, TERMINATED, TO_MOVE


def position_size(game: Game) -> int:
    """The words of a position."""
    return LEGAL + game.action_planes + 1


def position_words(state: State) -> WordArray:
    """The rows of a state as compiled search reads them, (B, position_size)."""
    positions: WordArray = np.empty((len(state.ply), LEGAL + state.legal_bits.shape[1]), np.uint64)
    positions[:, 0], positions[:, 1] = state.own, state.opp
    positions[:, TO_MOVE], positions[:, PLY] = state.to_move, state.ply
    positions[:, TERMINATED] = state.terminated
    positions[:, LEGAL:] = state.legal_bits
    return positions


def state_of_words(positions: WordArray) -> State:
    """The inverse of `position_words`."""
    return State(
        own=positions[:, 0].copy(),
        opp=positions[:, 1].copy(),
        legal_bits=positions[:, LEGAL:].copy(),
        to_move=positions[:, TO_MOVE].astype(np.int8),
        ply=positions[:, PLY].astype(np.int32),
        terminated=positions[:, TERMINATED] != 0,
    )


def words(size: int) -> Any:
    """An array of words for loops, zero."""
    return array_for_loops(np.zeros(size, np.uint64))


def numbers(size: int) -> Any:
    """An array of signed numbers for loops, zero."""
    return array_for_loops(np.zeros(size, np.int64))


def room(size: int, *dtypes: type[np.generic]) -> list[Any]:
    """Arrays of these types, of eight bytes, for loops that write before they read.

    They lie in one block, since what C's `malloc` keeps for the next call is measured by the
    largest block that it has given: the pages of several smaller ones would be new ones each time.
    """
    block: WordArray = np.empty((len(dtypes), size), np.uint64)
    return [array_for_loops(row.view(dtype)) for row, dtype in zip(block, dtypes, strict=True)]


def flat(array: np.ndarray[Any, Any]) -> Any:
    """The array's own memory as loops take it."""
    return array_for_loops(array.reshape(-1))
