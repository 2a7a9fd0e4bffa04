"""Games between people and agents, move by move: in the terminal, on the page, or in any program.

`session` is a game in progress, `kept_game` who plays it and where it is kept, `notation` reads and
writes the moves of people. `review` goes through a game that was played and has an agent say what
was good and what was not.
"""

from boardenvs.play.kept_game import KeptGame
from boardenvs.play.notation import MoveNotation
from boardenvs.play.review import Review, ReviewedPly, review
from boardenvs.play.session import GameSession

__all__ = ["GameSession", "KeptGame", "MoveNotation", "Review", "ReviewedPly", "review"]
