"""The other side, where an environment plays it: what may be given, and what it chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from boardenvs.agents import Agent
from boardenvs.game.contract import Game
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.state import IntArray, State, take
from boardenvs.utils.checks import quote

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
        known = legal_actions(game, state, row)
        raise IllegalActionError(f"the opponent {opponent} chose {actions[row]}; legal: {known}")
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


def legal_actions(game: Game, state: State, row: int) -> list[int]:
    """The numbers of the legal actions of one row, for messages."""
    found: list[int] = np.flatnonzero(game.legal(take(state, slice(row, row + 1)))).tolist()
    return found
