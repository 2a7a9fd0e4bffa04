"""Contests between agents: matches, and round robins with ratings.

    play_match(game, "alphabeta:depth=2", my_policy, 50)
    run_tournament(make_settings(["random", "greedy", "mcts"]), Path("runs/arena"))

`match` plays two agents side by side on many boards, `player` asks them and judges forfeits,
`intervals` says how sure a score is. `settings` is what a tournament is, `job` one pairing of it,
`pool` and `schedule` play the jobs in processes, `journal` keeps their results. `ratings` rates,
`results` sums up, `document`, `report` and `plots` write it down.
"""

from boardenvs.arena.intervals import score_interval
from boardenvs.arena.job import Entrant
from boardenvs.arena.match import MatchResult, play_match
from boardenvs.arena.report import write_results
from boardenvs.arena.settings import BUILT_IN, Settings, make_settings
from boardenvs.arena.tournament import read_settings, run_tournament

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
