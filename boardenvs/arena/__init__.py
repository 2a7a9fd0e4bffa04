"""Contests between agents: matches, and round robins with ratings.

    play_match(game, "alphabeta:depth=2", my_policy, 50)
    run_tournament(make_settings(["random", "greedy", "mcts"]), Path("runs/arena"))

Three rooms, each built on those before it: `playing` has the match, `tournament` the round robin in
processes that a journal keeps, with its ratings, and `report` what is shown and written of it.
"""

from boardenvs.arena.playing.intervals import score_interval
from boardenvs.arena.playing.match import MatchResult, play_match
from boardenvs.arena.report.files import write_results
from boardenvs.arena.tournament.job import Entrant
from boardenvs.arena.tournament.run import read_settings, run_tournament
from boardenvs.arena.tournament.settings import BUILT_IN, Settings, make_settings

__all__ = [
    "BUILT_IN",
    "Entrant",
    "MatchResult",
    "Settings",
    "make_settings",
    "play_match",
    "read_settings",
    "run_tournament",
    "score_interval",
    "write_results",
]
