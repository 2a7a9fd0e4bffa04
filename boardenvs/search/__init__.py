"""Search: alpha-beta with exact endgames, and Monte Carlo trees, both in one source for all games.

What is in `compiled` is compiled together with the rules; `engine` and `trees` call it for batches,
`solver` for one position; what it finds, and what other analysts say, is an `Analysis`.
"""

from boardenvs.search.analysis import Analysis, MoveAnalysis
from boardenvs.search.engine import Engine, engine_for
from boardenvs.search.evaluation import Evaluation
from boardenvs.search.limits import ENDGAME, Limits, SearchResults
from boardenvs.search.solver import search_position
from boardenvs.search.trees import (
    Evaluator,
    TreeResults,
    Trees,
    TreeSettings,
    play_out,
    search_trees,
)

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
