"""The test positions of a game, with the value of each of their legal moves.

They come from files here. In Wolf and Sheep, which is solved, they are drawn from all positions
that games can reach, always the same.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boardenvs import games
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.position import stack
from boardenvs.game.state import FloatArray, State, concat, take
from boardenvs.games.files import find_file
from boardenvs.tablebase import Tablebase, won_positions

FOLDER = Path(__file__).parent / "positions"
_OF_ROLE = 400  # positions of Wolf and Sheep, for each role
_SEED = 1


class ExamPositions(NamedTuple):
    """Q positions as arrays, with the value of each action to the side to move.

    If the game counts points, the value is the lead at the end with best play (in Othello discs,
    without the empty squares); else 1 for right actions and 0 for all others.
    """

    kinds: tuple[str, ...]  # (Q,)
    state: State
    values: FloatArray  # (Q, A); -inf for illegal actions
    made: str  # when and how


def games_with_exam() -> list[str]:
    """Return the names of the games that have one."""
    return [*sorted(p.stem for p in FOLDER.glob("*.jsonl")), "tictactoe", "wolf_and_sheep"]


@cache
def exam_positions(game: Game) -> ExamPositions:
    """Return the exam of a game; ValueError for one without."""
    if Tablebase.covers(game):
        return _of_table(game)
    path = find_file(FOLDER, game, ".jsonl")
    if path is None:
        raise ValueError(
            f"there is no exam for {games.spec_of(game)}: there are some for "
            f"{', '.join(games_with_exam())}"
        )
    head, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    positions = [parse_position(game, line["position"]) for line in lines]
    values = np.full((len(lines), game.num_actions), -np.inf)
    for row, line, position in zip(values, lines, positions, strict=True):
        for action in position.legal_actions():
            row[action] = line["moves"].get(game.action_name(action, position), 0)
    made = f"made on {head['made']} from games of players against themselves"
    return ExamPositions(tuple(line["kind"] for line in lines), stack(positions), values, made)


def _of_table(game: Game) -> ExamPositions:
    """Return won positions in which the side to move can give the win away."""
    table, rng = Tablebase.load(game), np.random.default_rng(_SEED)
    kinds, states, values = [], [], []
    for role, name in enumerate(game.roles):
        state = won_positions(game, role)
        rows = np.flatnonzero(table.mistakes(state) > 0)
        drawn = take(state, np.sort(rng.permutation(rows)[:_OF_ROLE]))
        kinds += [f"{name} to win"] * len(drawn.ply)
        states.append(drawn)
        values.append(np.where(game.legal(drawn), table.preserving(drawn), -np.inf))
    if not kinds:
        raise ValueError(f"there is no exam for {games.spec_of(game)}: no move gives a win away")
    made = "drawn from the exact solution"
    return ExamPositions(tuple(kinds), concat(states), np.concatenate(values), made)
