"""Search: alpha-beta with exact endgames, and Monte Carlo trees, both in one source for all games.

What is in `compiled` is compiled together with the rules; `engine` and `trees` call it for batches,
`analysis` for one position.
"""

from boardenvs.search.analysis import Analysis, analyse, search_moves, search_position
from boardenvs.search.engine import Engine, engine_for
from boardenvs.search.evaluation import Evaluation
from boardenvs.search.evaluator import Evaluator
from boardenvs.search.limits import ENDGAME, Limits
from boardenvs.search.playouts import play_out
from boardenvs.search.results import SearchResults, TreeResults
from boardenvs.search.trees import Trees, TreeSettings, search_trees

__all__ = [
    "ENDGAME",
    "Analysis",
    "Engine",
    "Evaluation",
    "Evaluator",
    "Limits",
    "SearchResults",
    "TreeResults",
    "TreeSettings",
    "Trees",
    "analyse",
    "engine_for",
    "play_out",
    "search_moves",
    "search_position",
    "search_trees",
]
