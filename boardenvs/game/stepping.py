"""One ply in every row of a batch: what `Game.step` and `Game.step_batch` do.

The arrays of a state and of actions are checked once, where a method of a game or of a batch takes
them: the functions here are for arrays that have been checked, or were made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from boardenvs.game.errors import IllegalActionError
from boardenvs.game.rules import ILLEGAL_ACTION_REWARD
from boardenvs.game.state import (
    Array,
    BoolArray,
    FloatArray,
    IntArray,
    State,
    Transition,
    put,
    take,
)
from boardenvs.kernel import Kernel
from boardenvs.kernel.history import move_on
from boardenvs.utils.checks import quote

if TYPE_CHECKING:
    from boardenvs.game.game import Game


def check_actions(values: object, rows: int) -> IntArray:
    """Return actions as an array (rows,) intp; TypeError or ValueError for anything else."""
    try:
        actions = np.asarray(values)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # ragged lists, torch's gradients
        raise ValueError(f"actions are {quote(values)}: they must be ({rows},) integers") from None
    if actions.shape != (rows,):
        raise ValueError(f"actions have shape {actions.shape}: it must be ({rows},)")
    if actions.dtype.kind not in "iu" and rows:
        raise TypeError(f"actions are {actions.dtype}: they must be integers")
    return actions.astype(np.intp, copy=False)


def check_legal(game: Game, state: State, actions: IntArray) -> None:
    """IllegalActionError for the first illegal action."""
    wrong = ~(is_legal(game, state, actions) | (state.terminated & (actions == game.noop)))
    if wrong.any():
        raise illegal_action(game, state, actions, wrong)


def illegal_action(
    game: Game, state: State, actions: IntArray, wrong: BoolArray
) -> IllegalActionError:
    """Return the error of the first row with a wrong action; it says what is legal."""
    row = int(np.argmax(wrong))
    (position,) = game.positions(take(state, slice(row, row + 1)))
    return IllegalActionError(f"row {row}: {position.illegal_action(int(actions[row]))}")


def is_legal(game: Game, state: State, actions: IntArray) -> BoolArray:
    """Return whether row i's action is legal, (B,) bool."""
    legal: BoolArray = np.empty(len(actions), np.bool_)
    game.kernels.is_legal.batch([state.legal_bits, actions.view(np.uint64)], [legal])
    return legal


def is_truncated(game: Game, state: State) -> BoolArray:
    """Return where the cap on plies ends a game that is not over, (B,) bool."""
    if game.max_plies is None:
        return np.zeros(len(state.ply), np.bool_)
    return (state.ply.view(np.uint32) >= game.max_plies) & ~state.terminated


def difference(kernel: Kernel, inputs: Sequence[Array]) -> IntArray:
    """Return a rule's value for the side to move minus that for the other side, (B,) int64."""
    mine, theirs = np.empty((2, len(inputs[0])), np.int64)
    kernel.batch(inputs, [mine, theirs])
    return mine - theirs


def step_rows(game: Game, state: State, actions: IntArray, plays: BoolArray) -> State:
    """Return the state after one ply in the rows that play; the others stay as they are, and a
    class in plain Python does not see them.
    """
    idle = np.flatnonzero(~plays)
    if not idle.size:
        return _step_all(game, state, actions)
    if game.backend == "numba":  # a ply costs less than a copy
        actions = actions.copy()
        actions[idle] = game.noop
        new = _step_all(game, state, actions)
        put(new, idle, take(state, idle))
        return new
    rows, new = np.flatnonzero(plays), State.of_arrays(x.copy() for x in state.arrays)
    put(new, rows, _step_all(game, take(state, rows), actions[rows]))
    return new


def _step_all(game: Game, state: State, actions: IntArray) -> State:
    new = game.empty(len(actions))
    game.kernels.step_words.batch(
        [*state.inputs, actions.view(np.uint64)],
        [*new.words, new.legal_bits, new.to_move, new.terminated],
    )
    np.add(state.ply, 1, out=new.ply)
    if game.history:
        _remember(game, state, new)
    return new


def step_batch(game: Game, state: State, actions: IntArray, waiting: BoolArray) -> Transition:
    """See `Game.step_batch`."""
    step = _step_batch_compiled if game.backend == "numba" else _step_batch_by_parts
    return step(game, state, actions, waiting)


def _step_batch_compiled(
    game: Game, state: State, actions: IntArray, waiting: BoolArray
) -> Transition:
    """`step_batch` by one call of machine code."""
    size = len(actions)
    new = game.empty(size)
    terminated, truncated, illegal = np.empty((3, size), np.bool_)
    signs = np.empty(size, np.int8)
    *words, to_move, ply = state.inputs
    game.kernels.step_batch.batch(
        [*words, state.legal_bits, to_move, ply, state.terminated, actions, waiting],
        [*new.words, *new[1:-1], terminated, truncated, illegal, signs],
    )
    rewards = signs.astype(np.float64)
    if game.history and (rows := _remember(game, state, new)).size:
        repeated = take(new, rows)
        truncated[rows] = is_truncated(game, repeated)
        terminated[rows] = repeated.terminated
        ended = truncated[rows] | terminated[rows]
        rewards[rows] = np.where(ended, _rewards(game, state.to_move[rows], repeated), 0.0)
    return Transition(new, rewards, terminated, truncated, illegal)


def _remember(game: Game, before: State, after: State) -> IntArray:
    """Write the history after a ply, and how often a position has been there, by which its legal
    actions and the end are found again; return the rows whose position has been there.
    """
    assert before.history is not None
    assert after.history is not None
    key, moved = game.known_words, before.ply != after.ply
    repeats = move_on(before.history, before.words[key], after.words[key], moved, after.history)
    rows: IntArray = np.flatnonzero(repeats)
    if rows.size:
        after.words[-1][rows] = repeats[rows]
        repeated = take(after, rows)
        game.kernels.begin.batch(repeated.inputs, [repeated.legal_bits, repeated.terminated])
        put(after, rows, repeated)
    return rows


def _rewards(game: Game, movers: IntArray, final: State) -> FloatArray:
    """Return the results of finished games to the sides that have moved, (B,): 1, 0 or -1."""
    margin = difference(game.kernels.points, final.inputs[:-1])
    same = final.to_move == movers
    return np.sign(margin) * np.where(same, 1.0, -1.0) + 0.0


def _step_batch_by_parts(
    game: Game, state: State, actions: IntArray, waiting: BoolArray
) -> Transition:
    """`step_batch` in NumPy, where each operation is a pass over the batch: rare work is done only
    for the rows that need it.
    """
    plays = is_legal(game, state, actions) & ~state.terminated & ~waiting
    illegal = ~(plays | waiting)
    new = step_rows(game, state, actions, plays)
    terminated, truncated = new.terminated & plays, is_truncated(game, new) & plays
    rewards = np.zeros(len(actions))
    ended = np.flatnonzero(terminated | truncated)
    if ended.size:
        rewards[ended] = _rewards(game, state.to_move[ended], take(new, ended))
    rewards[illegal] = ILLEGAL_ACTION_REWARD
    return Transition(new, rewards, terminated | illegal, truncated, illegal)
