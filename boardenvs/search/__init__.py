"""Search: alpha-beta with exact endgames, and Monte Carlo trees, both in one source for all games.

The modules of `compiled` are compiled together with the rules; `alphabeta` and `trees` call them
for batches, `solver` for one position. The result of every analyst is an `Analysis`.
"""

from boardenvs.search.alphabeta import AlphaBeta, alphabeta_for
from boardenvs.search.analysis import Analysis, MoveAnalysis
from boardenvs.search.evaluation import Evaluation
from boardenvs.search.limits import ENDGAME, Limits, SearchResults
from boardenvs.search.mcts import Evaluator, TreeResults, Trees, TreeSettings
from boardenvs.search.solver import search_position

__all__ = [
    "ENDGAME",
    "AlphaBeta",
    "Analysis",
    "Evaluation",
    "Evaluator",
    "Limits",
    "MoveAnalysis",
    "SearchResults",
    "TreeResults",
    "TreeSettings",
    "Trees",
    "alphabeta_for",
    "search_position",
]
