"""Games between people and agents, and reviews of games that were played."""

from boardenvs.game.session import GameSession
from boardenvs.games.notation import legal_names, parse_move, read_turn
from boardenvs.play.review import Review, ReviewedPly, review
from boardenvs.play.session import (
    HUMAN,
    GameStore,
    choose_action,
    default_opponent,
    record_of,
    session_of,
)

__all__ = [
    "HUMAN",
    "GameSession",
    "GameStore",
    "Review",
    "ReviewedPly",
    "choose_action",
    "default_opponent",
    "legal_names",
    "parse_move",
    "read_turn",
    "record_of",
    "review",
    "session_of",
]
