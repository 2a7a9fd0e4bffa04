"""Exams: test positions in which the value of each move is known exactly, for any player.

    take_exam(boardenvs.games.make("othello"), boardenvs.make_agent("trained"))

`positions` reads the test positions, and `accuracy` asks a player and marks its moves.
"""

from boardenvs.exams.accuracy import Accuracy, ExamResult, take_exam

__all__ = ["Accuracy", "ExamResult", "take_exam"]
