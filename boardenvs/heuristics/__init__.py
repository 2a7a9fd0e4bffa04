"""What a position is worth by a rule of thumb: one file a game, on words as the rules are.

A heuristic serves search (`agents.alphabeta`) and play without search (`agents.positional`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State, state_words
from boardenvs.games import LinesOfAction, Othello, WolfAndSheep
from boardenvs.heuristics import lines_of_action, othello, wolf_and_sheep
from boardenvs.kernel import Bits, Kernel


@dataclass(frozen=True)
class Heuristic:
    """Own and opposing worth of a position, as words; their difference is its value.

    `kernel` is a function of (own, opp, to_move, ply). Values stay below `MAX_VALUE`. With
    `margin` a game is better won by more points, without it sooner.
    """

    kernel: Kernel
    margin: bool

    def values(self, state: State) -> IntArray:
        """What each position is worth to its side to move, (B,) int64."""
        mine: IntArray = np.empty(len(state.own), np.int64)
        theirs = np.empty_like(mine)
        self.kernel.batch(state_words(state), [mine, theirs])
        return mine - theirs


MAX_VALUE = 100_000

Rule = Callable[[Any, Bits, Bits, Bits, Bits], tuple[Bits, Bits]]

_RULES: dict[type[Game], tuple[Rule, bool]] = {
    Othello: (othello.evaluate, True),
    WolfAndSheep: (wolf_and_sheep.evaluate, False),
    LinesOfAction: (lines_of_action.evaluate, False),
}


@lru_cache(maxsize=64)
def heuristic_of(game: Game) -> Heuristic:
    """The heuristic of a game; the lead in points where none has been written for it."""
    rule, margin = _RULES.get(type(game), (_lead, True))

    def evaluate(own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
        return rule(game, own, opp, to_move, ply)

    return Heuristic(Kernel(evaluate, 4, "evaluate"), margin)


def _lead(game: Game, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
    return game.points(own, opp, to_move)


__all__ = ["MAX_VALUE", "Heuristic", "heuristic_of"]
