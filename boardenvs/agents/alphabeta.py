"""Alpha-beta search over the game's heuristic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.agents.base import check_heuristic
from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State
from boardenvs.search.engine import engine_for
from boardenvs.search.limits import MAX_DEPTH, Limits

_DEPTH = 4  # without any limit
# Empty squares from which search with a budget solves Othello to the end.
_ENDGAME = 12


@dataclass(frozen=True)
class AlphaBetaAgent:
    """Searches each position as deep as the limits allow; `depth=4` where none is given.

    depth: plies of search, 1 to 100. nodes: positions generated a move, at most about so many.
    time: seconds a move, about; only this limit makes play depend on the machine.
    endgame: in the Othello family, positions with at most so many empty squares are solved to the
    end, for the largest margin; by default none with a depth alone, 12 with `nodes` or `time`.

    Ties are broken at random where the heuristic of the positions after the moves is equal too.
    """

    depth: int | None = None
    nodes: int | None = None
    time: float | None = None
    endgame: int | None = None

    def __post_init__(self) -> None:
        self._limits()  # raises ValueError where a limit is wrong

    def _limits(self) -> Limits:
        limited = self.nodes is not None or self.time is not None
        depth, endgame = (MAX_DEPTH, _ENDGAME) if limited else (_DEPTH, 0)
        return Limits(
            depth if self.depth is None else self.depth,
            self.nodes,
            self.time,
            endgame if self.endgame is None else self.endgame,
        )

    def check_game(self, game: Game) -> None:
        """ValueError for a game without a heuristic."""
        check_heuristic(self, game)

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        rng = np.random.default_rng(rng)
        seeds = rng.integers(1 << 64, size=len(state.ply), dtype=np.uint64)
        return engine_for(game).search(state, seeds, self._limits()).action
