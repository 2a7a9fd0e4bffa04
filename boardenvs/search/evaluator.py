"""What judges positions in place of random games and heuristics."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from boardenvs.game.contract import Game
from boardenvs.game.state import Array, State


@runtime_checkable
class Evaluator(Protocol):
    """Ranks actions and judges positions, as policies do."""

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        """The probability of each action, (B, A) float32, and the value to the side to move,
        (B,) float32 from -1 to 1.
        """
        ...
