"""Errors of a game: an action or a position that it does not have, or a player that gives up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class IllegalActionError(ValueError):
    """An action that is not an action of the game, or not legal in the position; it says what is.

    ```python
    import boardenvs

    game = boardenvs.games.make("othello")
    try:
        game.start().step(0)
    except boardenvs.IllegalActionError as error:
        print(error)
    ```
    """


class PositionError(ValueError):
    """A text or object that does not describe a position of the game; it says what is wrong.

    ```python
    import boardenvs

    env = boardenvs.othello_v0.env()
    try:
        env.reset(options={"position": "8/8/8/3rb3 black"})
    except boardenvs.PositionError as error:
        print(error)
    ```
    """


class HistoryNeededError(ValueError):
    """A player cannot play without the moves that led to a position; it says why."""


class NoMoveError(Exception):
    """A player has no action for a board, and loses that game; it says why."""


class ForfeitError(RuntimeError):
    """A player has no action for some of the boards that it was asked about: it loses these games.

    actions: the actions of the other boards, (B,) ints.
    reasons: why it has none, by row.
    """

    def __init__(self, actions: Any, reasons: Mapping[int, str]) -> None:
        super().__init__(next(iter(reasons.values())))
        self.actions = actions
        self.reasons = reasons


class StopPlayError(KeyboardInterrupt):
    """A player cannot go on now, and no game should be lost by that: a limit of what may be spent
    is reached, or an endpoint refuses or does not answer.

    Work ends as by Ctrl-C, with what is over: a move that nobody was asked for must not be
    counted as a player's mistake.
    """
