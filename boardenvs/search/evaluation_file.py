"""Evaluations in files that are safe to open: NumPy archives (.npz) without pickled objects.

    metadata    text, JSON: format, game, rules, tuples, features, stages, versions, notes on the
                learning
    weights     (stages, size) int16
    one_ply     the same, for a search of one ply; only if the metadata say so

Reading a file runs no code of its maker and imports nothing that it names, and takes no more memory
than the tables that it says it holds, which is bounded.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from boardenvs import games
from boardenvs.board.bitboard import EIGHT, Board, parse_square, square_name
from boardenvs.game.game import Game
from boardenvs.games.files import find_file
from boardenvs.search.evaluation import MOST_TUPLES, Evaluation, Terms, Tuple
from boardenvs.utils.npz import ArchiveKind, notes_in, read_array, read_json, shown, write_archive
from boardenvs.utils.version import __version__

FORMAT = 1

_MOST_WEIGHTS = 1 << 24


class EvaluationFileError(ValueError):
    """A file that is not an evaluation of this version; the message names it and says why."""


_KIND = ArchiveKind("evaluation", "training.ntuple", EvaluationFileError)


def save_evaluation(evaluation: Evaluation, path: Path | str) -> None:
    """Write the evaluation to a file."""
    game = evaluation.game
    about = {
        "format": FORMAT,
        **games.to_file(game),
        "tuples": [tuple_text(squares, game.board) for squares in evaluation.tuples],
        "stages": list(evaluation.stages),
        "features": dict(evaluation.features),
        "one_ply": evaluation.one_ply is not None,
        "boardenvs": __version__,
        "notes": dict(evaluation.notes),
    }
    arrays: dict[str, Any] = {"metadata": json.dumps(about), "weights": evaluation.weights}
    if evaluation.one_ply is not None:
        arrays["one_ply"] = evaluation.one_ply
    write_archive(Path(path), arrays)


def load_evaluation(path: Path | str) -> Evaluation:
    """Return the evaluation in a file of `save_evaluation`; EvaluationFileError says why not."""
    path = Path(path)
    with _KIND.open(path) as archive:
        about = read_json(archive, "metadata")
        if about["format"] != FORMAT or "tuples" not in about:
            raise EvaluationFileError(
                f"{shown(path)} is not an evaluation of format {FORMAT}, which this version reads"
            )
        with _KIND.fitting(path):
            if any(about.get("heuristic", ())):
                raise ValueError("it adds a share of the game's heuristic, which is no longer read")
            game = games.make_from_file(about["game"], **about["rules"])
            tuples = _tuples(about["tuples"], game.board)
            # Older files do not say.
            features, has_one_ply = about.get("features", {}), about.get("one_ply", False)
            terms, stages = Terms(game, tuples, features), tuple(about["stages"])
            shape = (max(stages) + 1, terms.size)
            if shape[0] > len(stages) or shape[0] * shape[1] > _MOST_WEIGHTS:
                raise ValueError(f"there are {shape} weights: at most {_MOST_WEIGHTS} are read")
        names = ("weights", "one_ply") if has_one_ply else ("weights",)
        arrays = {name: read_array(archive, name, shape, ("int16",)) for name in names}
        with _KIND.fitting(path):
            return Evaluation(
                game,
                tuples,
                stages,
                notes=notes_in(about),
                name=shown(path),
                features=terms.features,
                **{name: weights.astype(np.int16) for name, weights in arrays.items()},
            )


def _tuples(texts: list[str], board: Board) -> tuple[Tuple, ...]:
    if not isinstance(texts, list) or len(texts) > MOST_TUPLES:
        raise ValueError(f"tuples must be a list of at most {MOST_TUPLES}")
    return tuple(parse_tuple(text, board) for text in texts)


def parse_tuple(text: str, board: Board = EIGHT) -> Tuple:
    """Return the squares of a text such as "a1 b1 c1"."""
    return tuple(parse_square(word, board) for word in text.split())


def tuple_text(squares: Tuple, board: Board) -> str:
    """Invert `parse_tuple`."""
    return " ".join(square_name(square, board) for square in squares)


# The evaluations that come with the package, one for each game and rules, made by `python -m
# training.ntuple` with settings in `configs/ntuple/`; what a file was made with is in its notes.
FOLDER = Path(__file__).parent / "trained"


@cache
def trained_evaluation(game: Game) -> Evaluation | None:
    """Return the package's evaluation for the rules of this game, or None."""
    judged_as: Any = game.judged_as
    path = find_file(FOLDER, judged_as)
    if path is None:
        return None
    evaluation = load_evaluation(path)
    return evaluation if judged_as is game else replace(evaluation, game=game)
