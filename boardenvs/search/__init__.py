"""Search: alpha-beta with exact endgames, and Monte Carlo trees, both in one source for all games.

What is in `compiled` is compiled together with the rules; `engine` and `trees` call it for batches,
`solver` for one position; what it finds, and what other analysts say, is an `Analysis`.
"""

from boardenvs.search.analysis import Analysis, MoveAnalysis
from boardenvs.search.engine import Engine, engine_for
from boardenvs.search.evaluation import Evaluation
from boardenvs.search.evaluator import Evaluator
from boardenvs.search.limits import ENDGAME, Limits
from boardenvs.search.playouts import play_out
from boardenvs.search.results import SearchResults, TreeResults
from boardenvs.search.solver import search_position
from boardenvs.search.trees import Trees, TreeSettings, search_trees

__all__ = [
    "ENDGAME",
    "Analysis",
    "Engine",
    "Evaluation",
    "Evaluator",
    "Limits",
    "MoveAnalysis",
    "SearchResults",
    "TreeResults",
    "TreeSettings",
    "Trees",
    "engine_for",
    "play_out",
    "search_position",
    "search_trees",
]
