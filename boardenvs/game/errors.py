"""Errors of a game: an action or a position that it does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boardenvs.game.contract import Game
    from boardenvs.game.state import Position


class IllegalActionError(ValueError):
    """An action that is not an action of the game, or not legal in the position; it says what is.

    ```python
    import boardenvs

    game = boardenvs.games.make("othello")
    try:
        game.checked_next(game.start(), 0)
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


def illegal_action(game: Game, position: Position, action: int) -> IllegalActionError:
    """The error of an action that is not legal here, or no action at all."""
    if not 0 <= action < game.num_actions:
        return IllegalActionError(
            f"action {action} is out of range: actions are 0 to {game.num_actions - 1}"
        )
    legal = ", ".join(f"{a} ({game.action_name(a, position)})" for a in position.legal_actions())
    return IllegalActionError(
        f"action {action} ({game.action_name(action)}) is not legal for "
        f"{game.roles[position.to_move]} at ply {position.ply}; legal: "
        f"{legal or 'nothing, the game is over'}"
    )
