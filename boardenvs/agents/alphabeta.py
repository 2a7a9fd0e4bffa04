"""Alpha-beta search over the game's heuristic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.errors import is_whole
from boardenvs.game import Game
from boardenvs.search.engine import MAX_DEPTH, engine_for
from boardenvs.state import IntArray, State

# Empty squares from which search with a budget solves Othello to the end.
_ENDGAME = 12


@dataclass(frozen=True)
class AlphaBetaAgent:
    """Searches each position as deep as the limits allow; `depth=4` where none is given.

    depth: plies of search, 1 to 100. nodes: positions generated a move, at most about so many.
    time: seconds a move, about; only this limit makes play depend on the machine.
    endgame: in the Othello family, positions with at most so many empty squares are solved to the
    end, for the largest margin; by default none with a depth alone, 12 with `nodes` or `time`.

    Equal moves are chosen between by chance where the heuristic sees no difference either.
    """

    depth: int | None = None
    nodes: int | None = None
    time: float | None = None
    endgame: int | None = None

    def __post_init__(self) -> None:
        if self.depth is not None and not is_whole(self.depth, 1, MAX_DEPTH):
            raise ValueError(f"depth is {self.depth!r}: it must be 1 to {MAX_DEPTH} plies")
        if self.nodes is not None and not is_whole(self.nodes, 1):
            raise ValueError(f"nodes is {self.nodes!r}: it must be 1 or more")
        if self.time is not None and not self.time > 0:
            raise ValueError(f"time is {self.time!r}: it must be more than 0 seconds")
        if self.endgame is not None and not is_whole(self.endgame, 0, 64):
            raise ValueError(f"endgame is {self.endgame!r}: it must be 0 to 64 empty squares")

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        seeds = rng.integers(1, 1 << 64, size=len(state.ply), dtype=np.uint64)
        limited = self.nodes is not None or self.time is not None
        endgame = self.endgame
        if endgame is None:
            endgame = _ENDGAME if limited else 0
        depth = self.depth or (MAX_DEPTH if limited else 4)
        found = engine_for(game).search(
            state, seeds, depth=depth, nodes=self.nodes, time=self.time, endgame=endgame
        )
        return found.action
