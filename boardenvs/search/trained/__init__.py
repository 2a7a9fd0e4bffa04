"""The evaluations that come with the package, one for each game and rules.

They are made by `python -m training.ntuple` with settings in `configs/ntuple/`; what a file
was made with is in its notes (`trained_evaluation(game).notes`). Reversi, which has Othello's
rules, has Othello's.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from boardenvs.game.contract import Game
from boardenvs.games.files import find_file
from boardenvs.search.evaluation import Evaluation
from boardenvs.search.evaluation_file import load_evaluation

FOLDER = Path(__file__).parent


@cache
def trained_evaluation(game: Game) -> Evaluation | None:
    """The evaluation that came with the package for this game; None where there is none."""
    path = find_file(FOLDER, game)
    return None if path is None else load_evaluation(path)
