"""Exams: test positions of which the value of each move is known exactly, for any player.

    take_exam(boardenvs.games.make("othello"), boardenvs.make_agent("trained"))

`positions` reads the test positions, from files that `python -m boardenvs.exams` makes with our
solvers; `accuracy` asks a player and says how many of its moves keep the value.
"""

from boardenvs.exams.accuracy import Accuracy, ExamResult, draw, model_card, take_exam
from boardenvs.exams.positions import has_exam

__all__ = ["Accuracy", "ExamResult", "draw", "has_exam", "model_card", "take_exam"]
