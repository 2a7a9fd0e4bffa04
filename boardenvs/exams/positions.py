"""The test positions of a game, with the value of each of their legal moves.

They come from files here. In Wolf and Sheep, which is solved, they are drawn from all positions
that games can reach, always the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boardenvs import games
from boardenvs.game.contract import Game
from boardenvs.game.fen import parse_position
from boardenvs.game.position import Position, stack
from boardenvs.game.state import FloatArray, State, concat, take
from boardenvs.games.files import find_file
from boardenvs.tablebase import Tablebase, won_positions

FOLDER = Path(__file__).parent / "positions"
_OF_ROLE = 400  # positions of Wolf and Sheep, for each role
_SEED = 1


@dataclass(frozen=True)
class ExamPosition:
    """A position, and the value of each legal action to the side to move.

    If the game counts points, the value is the lead at the end with best play (in Othello discs,
    without the empty squares); else 1 for right actions and 0 for all others.
    """

    kind: str
    position: Position
    values: Mapping[int, int]  # by action


class ExamPositions(NamedTuple):
    """Q positions as arrays."""

    kinds: tuple[str, ...]  # (Q,)
    state: State
    values: FloatArray  # (Q, A): as in `ExamPosition`; -inf for illegal actions
    made: str  # when and how


@cache
def exam_positions(game: Game) -> ExamPositions:
    """Return the exam of a game; ValueError for one without."""
    if Tablebase.covers(game):
        return _of_table(game)
    path = _file(game)
    if path is None:
        known = [*sorted(p.stem for p in FOLDER.glob("*.jsonl")), "wolf_and_sheep"]
        raise ValueError(
            f"there is no exam for {games.spec_of(game)}: there are some for {', '.join(known)}"
        )
    head, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    asked = [parse_position(game, line["position"]) for line in lines]
    values = np.full((len(asked), game.num_actions), -np.inf)
    for row, (line, position) in enumerate(zip(lines, asked, strict=True)):
        for action in position.legal_actions():
            values[row, action] = line["moves"].get(game.action_name(action, position), 0)
    made = f"made on {head['made']} from games of players against themselves"
    return ExamPositions(tuple(line["kind"] for line in lines), stack(asked), values, made)


def _file(game: Game) -> Path | None:
    return find_file(FOLDER, game, ".jsonl")


def _of_table(game: Game) -> ExamPositions:
    """Won positions in which the side to move can give the win away."""
    table, rng = Tablebase.load(game), np.random.default_rng(_SEED)
    kinds: list[str] = []
    states, values = [], []
    for role, name in enumerate(game.roles):
        state = won_positions(game, role)
        rows = np.flatnonzero(table.mistakes(state) > 0)
        drawn = take(state, np.sort(rng.permutation(rows)[:_OF_ROLE]))
        kinds += [f"{name} to win"] * len(drawn.ply)
        states.append(drawn)
        values.append(np.where(game.legal(drawn), table.preserving(drawn), -np.inf))
    if not kinds:
        text = games.spec_of(game)
        raise ValueError(f"there is no exam for {text}: no move gives a win away")
    made = "drawn from the exact solution"
    return ExamPositions(tuple(kinds), concat(states), np.concatenate(values), made)
