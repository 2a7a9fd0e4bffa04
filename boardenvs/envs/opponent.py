"""The other side, where an environment plays it: who, what it chooses, and the learner's seat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from boardenvs.agents import Agent
from boardenvs.game.contract import Game
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.state import Int8Array, IntArray, State, WordArray, take
from boardenvs.utils.checks import check_name, quote
from boardenvs.utils.splitmix import GOLDEN, mix

# What `opponent=` takes, see `boardenvs.agents.agent_for`: an agent, the text of one, or any
# function or object that `boardenvs.agents.foreign` adapts.
Opponent: TypeAlias = Agent | Callable[..., Any] | str


def choose(opponent: Agent, game: Game, state: State, rng: np.random.Generator) -> IntArray:
    """The opponent's legal action in every row, (B,) of integers.

    IllegalActionError, with the legal ones, where it chose another; TypeError or ValueError where
    it returned something else.
    """
    chosen = opponent.act(game, state, rng)
    try:
        actions = check_actions(chosen, len(state.ply))
    except (TypeError, ValueError) as error:
        raise type(error)(f"the opponent {opponent} chose {quote(chosen)}: {error}") from None
    legal = game.is_legal(state, actions)
    if not legal.all():
        row = int(np.argmin(legal))
        known = np.flatnonzero(game.legal(take(state, slice(row, row + 1))))
        raise IllegalActionError(
            f"the opponent {opponent} chose {actions[row]}; legal: {known.tolist()}"
        )
    return actions


def check_actions(given: object, size: int) -> IntArray:
    """Actions as an array (`size`,) of integers; TypeError or ValueError for anything else."""
    try:
        actions = np.asarray(given)
    except (TypeError, ValueError, OverflowError):  # lists of several lengths, in one another
        raise ValueError(f"actions are {quote(given)}: they must be ({size},) integers") from None
    if actions.shape != (size,):
        raise ValueError(f"actions have shape {actions.shape}: it must be ({size},)")
    if actions.dtype.kind not in "iu":
        raise TypeError(f"actions are {actions.dtype}: they must be integers")
    return actions


def check_seat(game: Game, seat: str) -> None:
    """ValueError where the seat is neither a role nor a way to draw one."""
    check_name("seat", seat, (*game.roles, "random", "alternating"))


def draw_seats(game: Game, seat: str, keys: WordArray, games: WordArray) -> Int8Array:
    """The learner's role in the next game of each row, (N,) int8, an index of `game.roles`.

    `keys` (N,) uint64 are the rows' seeds, `games` (N,) uint64 how many games each has begun.
    """
    if seat in game.roles:
        return np.full(len(keys), game.roles.index(seat), np.int8)
    numbers: IntArray = (
        mix(keys) + games if seat == "alternating" else mix(keys + games * np.uint64(GOLDEN))
    )
    return (numbers & np.uint64(1)).astype(np.int8)
