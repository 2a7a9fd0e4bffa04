"""What search finds of one position: its value, whether that is proven, and a line of play."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from boardenvs.game import Game
from boardenvs.heuristics import heuristic_of
from boardenvs.search.engine import MAX_DEPTH, Results, engine_for
from boardenvs.search.loops_alphabeta import WIN
from boardenvs.state import Position, stack

Outcome: TypeAlias = Literal["win", "draw", "loss"]

_DECIDED = WIN // 2  # values beyond it are of games that are won or lost
_SEED = np.array([0x9E3779B97F4A7C15], np.uint64)  # orders moves of equal worth


@dataclass(frozen=True)
class Analysis:
    """A position as search sees it, for its side to move."""

    outcome: Outcome | None  # with best play of both sides; None where that is not known
    margin: int | None  # the lead at the end, where it is known and games are won by points
    plies: int | None  # to the end of a game won or lost, where sooner is better
    value: int | None  # the heuristic's value, where the outcome is not known
    line: tuple[int, ...]  # the best action, and what may follow
    depth: int  # plies searched in full
    nodes: int  # positions generated for the value
    seconds: float  # for the value


def analyse(
    game: Game,
    position: Position,
    *,
    depth: int | None = None,
    nodes: int | None = None,
    time: float | None = None,
    endgame: int = 24,
) -> Analysis:
    """Search a position until its outcome is proven or a limit is met.

    The limits are plies, positions, and seconds, the last two about. In the Othello family
    positions with at most `endgame` empty squares are solved to the end at once. ValueError where
    the game is over.
    """
    if position.terminated or game.is_truncated(position):
        raise ValueError("the game is over in this position: there is nothing to search")
    began = clock.perf_counter()
    found = _search(game, position, depth or MAX_DEPTH, nodes, time, endgame)
    seconds = clock.perf_counter() - began
    value, exact = int(found.value[0]), bool(found.exact[0])
    by_points = heuristic_of(game).margin
    decided = abs(value) > _DECIDED
    proven = exact or decided
    beyond_win = abs(value) - WIN if decided else 0
    return Analysis(
        outcome=("draw" if not decided else "win" if value > 0 else "loss") if proven else None,
        margin=(beyond_win if value > 0 else -beyond_win) if exact and by_points else None,
        plies=-beyond_win if decided and not by_points else None,
        value=None if proven else value,
        line=_line(game, position, found, endgame),
        depth=int(found.depth[0]),
        nodes=int(found.nodes[0]),
        seconds=seconds,
    )


def _search(
    game: Game, position: Position, depth: int, nodes: int | None, time: float | None, endgame: int
) -> Results:
    return engine_for(game).search(
        stack([position]), _SEED, depth=depth, nodes=nodes, time=time, endgame=endgame, forced=True
    )


def _line(game: Game, position: Position, found: Results, endgame: int) -> tuple[int, ...]:
    """The best action, and what search finds best after it, as far as its depth reaches."""
    actions = [int(found.action[0])]
    for left in range(int(found.depth[0]) - 1, 0, -1):
        position = game.next(position, actions[-1])
        if position.terminated or game.is_truncated(position):
            break
        found = _search(game, position, left, None, None, endgame)
        actions.append(int(found.action[0]))
    return tuple(actions)
