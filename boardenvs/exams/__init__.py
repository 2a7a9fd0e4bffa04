"""Exams: positions of which is known exactly what each move is worth, for any player to answer.

    take_exam(boardenvs.games.make("othello"), boardenvs.make_agent("trained"))

`questions` has the positions, in files that `python -m boardenvs.exams` makes with our solvers,
`marking` asks a player and says how many of its moves keep the value.
"""

from boardenvs.exams.marking import Mark, Marked, take_exam

__all__ = ["Mark", "Marked", "take_exam"]
