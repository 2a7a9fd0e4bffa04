"""Contests between agents."""

from boardenvs.arena.match import MatchResult, play_match, score_interval

__all__ = ["MatchResult", "play_match", "score_interval"]
