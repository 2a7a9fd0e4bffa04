"""Contests between agents."""

from boardenvs.arena.intervals import score_interval
from boardenvs.arena.match import MatchResult, play_match

__all__ = ["MatchResult", "play_match", "score_interval"]
