"""One ply in every row of a batch: what `Game.step` and `Game.step_batch` do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boardenvs.game.errors import IllegalActionError
from boardenvs.game.rules import ILLEGAL_ACTION_REWARD
from boardenvs.game.state import (
    BoolArray,
    IntArray,
    State,
    Transition,
    put,
    take,
)
from boardenvs.utils.checks import quote

if TYPE_CHECKING:
    from boardenvs.game.contract import Game


def check_actions(given: object, rows: int) -> IntArray:
    """Actions as an array (rows,) of integers; TypeError or ValueError for anything else."""
    try:
        actions = np.asarray(given)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # ragged lists, torch's gradients
        raise ValueError(f"actions are {quote(given)}: they must be ({rows},) integers") from None
    if actions.shape != (rows,):
        raise ValueError(f"actions have shape {actions.shape}: it must be ({rows},)")
    if actions.dtype.kind not in "iu" and rows:
        raise TypeError(f"actions are {actions.dtype}: they must be integers")
    return actions


def check_legal(game: Game, state: State, actions: IntArray) -> None:
    """IllegalActionError for the first illegal action."""
    wrong = ~(game.is_legal(state, actions) | (state.terminated & (actions == game.noop)))
    if wrong.any():
        raise illegal_action(game, state, actions, wrong)


def illegal_action(
    game: Game, state: State, actions: IntArray, wrong: BoolArray
) -> IllegalActionError:
    """The error of the first row with a wrong action; it says what is legal."""
    row = int(np.argmax(wrong))
    (position,) = game.positions(take(state, slice(row, row + 1)))
    return IllegalActionError(f"row {row}: {position.illegal_action(int(actions[row]))}")


def step_rows(game: Game, state: State, actions: IntArray) -> State:
    """The state after one ply in every row, see `Game.step`; legality is not checked."""
    words = game.word_arrays(state)
    index = check_actions(actions, len(state.ply)).astype(np.intp, copy=False)
    frozen = np.flatnonzero(state.terminated)
    if frozen.size:
        index = index.copy()
        index[frozen] = game.noop
    new = game.empty(len(index))
    game.kernels.step_words.batch(
        [*words, index.view(np.uint64)],
        [*new.words, new.legal_bits, new.to_move, new.terminated],
    )
    np.add(state.ply, 1, out=new.ply)
    if frozen.size:
        put(new, frozen, take(state, frozen))
    return new


def step_batch_compiled(
    game: Game, state: State, actions: IntArray, waiting: BoolArray
) -> Transition:
    """`Game.step_batch` by one call of machine code."""
    size = len(actions)
    new = game.empty(size)
    terminated, truncated, illegal = (np.empty(size, np.bool_) for _ in range(3))
    signs = np.empty(size, np.int8)
    given = [*state.words, state.legal_bits, state.to_move.view(np.uint8)]
    given += [state.ply.view(np.uint32), state.terminated, actions.astype(np.intp, copy=False)]
    game.kernels.step_batch.batch(
        [*given, waiting], [*new.arrays, terminated, truncated, illegal, signs]
    )
    if game.history and (idle := illegal | waiting).any():
        new.words[-1][idle] = state.words[-1][idle]
    return Transition(new, signs.astype(np.float64), terminated, truncated, illegal)


def step_batch_by_parts(
    game: Game, state: State, actions: IntArray, waiting: BoolArray
) -> Transition:
    """`Game.step_batch` in NumPy, where each operation is a pass over the batch: rare work is done
    only for the rows that need it.
    """
    size = len(actions)
    illegal = ~(game.is_legal(state, actions) & ~state.terminated | waiting)
    idle = illegal | waiting
    if not idle.any():
        new = step_rows(game, state, actions)
        over = game.is_over(new)
    else:
        rows = np.flatnonzero(~idle)
        played = step_rows(game, take(state, rows), actions[rows])
        new = State.of_arrays(x.copy() for x in state.arrays)
        put(new, rows, played)
        over = np.zeros(size, np.bool_)
        over[rows] = game.is_over(played)
    rewards = np.zeros(size)
    truncated: BoolArray = np.zeros(size, np.bool_)
    ended = np.flatnonzero(over)
    if ended.size:
        final = take(new, ended)
        same = final.to_move == state.to_move[ended]  # as the side that has moved
        rewards[ended] = np.sign(game.score_margin(final)) * np.where(same, 1.0, -1.0) + 0.0
        truncated[ended] = game.is_truncated(final)
    rewards[illegal] = ILLEGAL_ACTION_REWARD
    return Transition(new, rewards, (over & ~truncated) | illegal, truncated, illegal)
