"""The alpha-beta search of rust-reversi as a player of Othello: "rust_reversi:depth=8".

https://pypi.org/project/rust-reversi/, `pip install rust-reversi`; the extra `peers` has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State
from boardenvs.games.othello import WEIGHTS, Othello
from boardenvs.utils.checks import is_whole, quote, unknown

EVALUATORS = ("pieces", "mobility", "weights")

_DEEPEST = 60  # no game has more moves
_WIN = 1 << 20  # beyond all that the evaluators say


@dataclass(frozen=True)
class RustReversiAgent:
    """Searches so many plies after each move, 1 to 60, and judges by an evaluator of rust-reversi.

    evaluator: "pieces" counts discs, "mobility" legal moves, "weights" adds up those of our
    heuristic.
    """

    depth: int = 8
    evaluator: str = "pieces"

    def __post_init__(self) -> None:
        if not is_whole(self.depth, 1, _DEEPEST):
            raise ValueError(f"depth is {quote(self.depth)}: it must be 1 to {_DEEPEST} plies")
        if self.evaluator not in EVALUATORS:
            raise ValueError(unknown("evaluator of rust-reversi", self.evaluator, EVALUATORS))
        if find_spec("rust_reversi") is None:
            raise ImportError("rust-reversi is not installed: pip install rust-reversi")

    def check_game(self, game: Game) -> None:
        """ValueError for a game that rust-reversi has not."""
        if not isinstance(game, Othello) or game.holes:
            raise ValueError(f"rust-reversi plays othello and reversi without holes, not {game.id}")

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        """Chance has no part in it."""
        rust, search = _search(self.depth, self.evaluator)
        chosen = np.full(len(state.ply), game.noop, np.int64)
        for row, position in enumerate(game.positions(state)):
            legal = position.legal_actions()
            if legal and legal[0] != game.noop:
                turn = rust.Turn.BLACK if position.to_move == 0 else rust.Turn.WHITE
                board = rust.Board()
                board.set_board(position.own, position.opp, turn)
                chosen[row] = 63 - search.get_move(board)  # theirs count from the highest bit
        return chosen


@lru_cache(maxsize=8)
def _search(depth: int, evaluator: str) -> tuple[Any, Any]:
    """The module and a search of it."""
    rust = import_module("rust_reversi")
    match evaluator:
        case "pieces":
            judge = rust.PieceEvaluator()
        case "mobility":
            judge = rust.LegalNumEvaluator()
        case _:
            judge = rust.MatrixEvaluator([list(WEIGHTS[8 * y : 8 * y + 8]) for y in range(8)])
    return rust, rust.AlphaBetaSearch(judge, depth, _WIN)
