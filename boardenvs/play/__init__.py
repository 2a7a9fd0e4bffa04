"""Games between people and agents, move by move: in the terminal, on the page, or in any program.

`session` is a game in progress, and the file that it is kept in. `review` goes through a game
that was played and has an agent say what was good and what was not.
"""

from boardenvs.games.notation import MoveNotation
from boardenvs.play.review import Review, ReviewedPly, review
from boardenvs.play.session import HUMAN, GameSession, GameStore, default_opponent, reply

__all__ = [
    "HUMAN",
    "GameSession",
    "GameStore",
    "MoveNotation",
    "Review",
    "ReviewedPly",
    "default_opponent",
    "reply",
    "review",
]
