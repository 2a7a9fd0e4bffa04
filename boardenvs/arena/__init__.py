"""Contests between agents: matches, round robins with ratings, and ratings by known players.

    play_match(game, "alphabeta:depth=2", my_policy, 50)
    run_tournament(make_settings(["random", "greedy", "mcts"]), Path("runs/arena"))
    estimate_rating(game, my_agent, rating_pool(game))

All contests are pairings (`pairing`), played here or in processes (`workers`), each a match
(`match`), and what they say of strength (`ratings`). To resume is to leave out what was played.
"""

from boardenvs.arena.estimate import Estimate, estimate_rating
from boardenvs.arena.match import MatchResult, play_match
from boardenvs.arena.pairing import Entrant, Pairing, Played
from boardenvs.arena.pools import RatingPool, rating_pool
from boardenvs.arena.ratings import score_interval
from boardenvs.arena.report import write_results
from boardenvs.arena.results import rate_pairings
from boardenvs.arena.settings import BUILT_IN, Settings, make_settings
from boardenvs.arena.tournament import read_settings, run_tournament
from boardenvs.arena.workers import play_pairings

__all__ = [
    "BUILT_IN",
    "Entrant",
    "Estimate",
    "MatchResult",
    "Pairing",
    "Played",
    "RatingPool",
    "Settings",
    "estimate_rating",
    "make_settings",
    "play_match",
    "play_pairings",
    "rate_pairings",
    "rating_pool",
    "read_settings",
    "run_tournament",
    "score_interval",
    "write_results",
]
