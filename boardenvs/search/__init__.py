"""Search: alpha-beta with exact endgames, and Monte Carlo trees, both in one source for all games.

The modules `loops_*` are compiled together with the rules (see `boardenvs.kernel.link`); `engine`
and `trees` call them for batches, `analysis` for one position.
"""

from boardenvs.search.analysis import Analysis, analyse
from boardenvs.search.engine import Engine, Results, engine_for
from boardenvs.search.limits import Limits
from boardenvs.search.playouts import play_out
from boardenvs.search.trees import Evaluator, search_trees

__all__ = [
    "Analysis",
    "Engine",
    "Evaluator",
    "Limits",
    "Results",
    "analyse",
    "engine_for",
    "play_out",
    "search_trees",
]
