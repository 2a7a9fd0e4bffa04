"""One ply in every row of a batch: what `Game.step` and `Game.step_batch` do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boardenvs.game.errors import IllegalActionError
from boardenvs.game.rules import ILLEGAL_ACTION_REWARD
from boardenvs.game.state import (
    BoolArray,
    FloatArray,
    IntArray,
    State,
    Transition,
    put,
    take,
)
from boardenvs.kernel.history import move_on
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
    if game.history:
        _remember(game, state, new)
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
        [*given, waiting], [*new.words, *new[1:-1], terminated, truncated, illegal, signs]
    )
    rewards = signs.astype(np.float64)
    if game.history and (rows := _remember(game, state, new)).size:
        repeated = take(new, rows)
        ended = game.is_over(repeated)
        rewards[rows] = np.where(ended, _rewards(game, state.to_move[rows], repeated), 0.0)
        truncated[rows] = game.is_truncated(repeated)
        terminated[rows] = repeated.terminated
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
        words = game.word_arrays(repeated)
        game.kernels.begin.batch(words, [repeated.legal_bits, repeated.terminated])
        put(after, rows, repeated)
    return rows


def _rewards(game: Game, movers: IntArray, final: State) -> FloatArray:
    """The results of finished games to the sides that have moved, (B,): 1, 0 or -1."""
    same = final.to_move == movers
    rewards: FloatArray = np.sign(game.score_margin(final)) * np.where(same, 1.0, -1.0) + 0.0
    return rewards


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
        rewards[ended] = _rewards(game, state.to_move[ended], final)
        truncated[ended] = game.is_truncated(final)
    rewards[illegal] = ILLEGAL_ACTION_REWARD
    return Transition(new, rewards, (over & ~truncated) | illegal, truncated, illegal)
