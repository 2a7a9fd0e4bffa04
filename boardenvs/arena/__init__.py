"""Matches, tournaments with ratings, and ratings by known players.

    play_match(game, "alphabeta:depth=2", my_policy, 50)
    run_tournament(make_settings(["random", "greedy", "mcts"]), Path("runs/arena"))
    estimate_rating(game, my_agent, rating_pool(game))

A tournament consists of pairings (`pairing`), played here or in processes (`executor`); each is a
match (`match`), and `ratings` is the statistics of strength. A tournament keeps its games in a file
(`recorder`), which it also resumes from.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boardenvs.arena.estimate import Estimate, estimate_rating
    from boardenvs.arena.match import play_match
    from boardenvs.arena.match_result import MatchResult
    from boardenvs.arena.pairing import Entrant, Pairing, Played, play_pairings
    from boardenvs.arena.pools import RatingPool, rating_pool
    from boardenvs.arena.ratings import score_interval
    from boardenvs.arena.recorder import record_match
    from boardenvs.arena.report import write_results
    from boardenvs.arena.results import rate_pairings
    from boardenvs.arena.tournament import open_settings, run_tournament
    from boardenvs.arena.tournament_settings import BUILT_IN, TournamentSettings, make_settings

# Each name by its module, which is loaded when the name is first used.
_MODULES = {
    "estimate": ("Estimate", "estimate_rating"),
    "match": ("play_match",),
    "match_result": ("MatchResult",),
    "pairing": ("Entrant", "Pairing", "Played", "play_pairings"),
    "pools": ("RatingPool", "rating_pool"),
    "ratings": ("score_interval",),
    "recorder": ("record_match",),
    "report": ("write_results",),
    "results": ("rate_pairings",),
    "tournament": ("open_settings", "run_tournament"),
    "tournament_settings": ("BUILT_IN", "TournamentSettings", "make_settings"),
}

__all__ = [
    "BUILT_IN",
    "Entrant",
    "Estimate",
    "MatchResult",
    "Pairing",
    "Played",
    "RatingPool",
    "TournamentSettings",
    "estimate_rating",
    "make_settings",
    "open_settings",
    "play_match",
    "play_pairings",
    "rate_pairings",
    "rating_pool",
    "record_match",
    "run_tournament",
    "score_interval",
    "write_results",
]


def __dir__() -> set[str]:
    return {*globals(), *__all__}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        for module, names in _MODULES.items():
            if name in names:
                return getattr(import_module(f"boardenvs.arena.{module}"), name)
        raise AttributeError(f"module 'boardenvs.arena' has no attribute {name!r}")
