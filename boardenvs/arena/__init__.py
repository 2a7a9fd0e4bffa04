"""Contests between agents: matches, and round robins with ratings.

    play_match(game, "alphabeta:depth=2", my_policy, 50)
    run_tournament(make_settings(["random", "greedy", "mcts"]), Path("runs/arena"))

Four rooms, each built on those before it: `playing` has the match, `tournament` the round robin in
processes that a journal keeps, with its ratings, `report` what is shown and written of it, and
`scale` the published scale of each game, on which any player can be placed.
"""

from boardenvs.arena.playing.intervals import score_interval
from boardenvs.arena.playing.match import MatchResult, play_match
from boardenvs.arena.report.files import write_results
from boardenvs.arena.scale.place import Placement, place
from boardenvs.arena.scale.scale import Scale, scale_of
from boardenvs.arena.tournament.job import Entrant
from boardenvs.arena.tournament.run import read_settings, run_tournament
from boardenvs.arena.tournament.settings import BUILT_IN, Settings, make_settings

__all__ = [
    "BUILT_IN",
    "Entrant",
    "MatchResult",
    "Placement",
    "Scale",
    "Settings",
    "make_settings",
    "place",
    "play_match",
    "read_settings",
    "run_tournament",
    "scale_of",
    "score_interval",
    "write_results",
]
