"""What search finds of one position: its value, whether that is proven, and a line of play."""

from __future__ import annotations

import math
import time as clock
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import Position, stack
from boardenvs.search.compiled.values import DECIDED, WIN
from boardenvs.search.engine import engine_for
from boardenvs.search.limits import MAX_DEPTH, Limits

Outcome: TypeAlias = Literal["win", "draw", "loss"]

_SEED = np.zeros(1, np.uint64)  # orders moves of equal worth


@dataclass(frozen=True)
class Analysis:
    """A position as search sees it, for its side to move; see `analyse`.

    ```python
    import boardenvs

    game = boardenvs.games.make("wolf_and_sheep")
    found = boardenvs.analyse(game, game.start(), depth=6)
    print(found.outcome, found.value, [game.action_name(action) for action in found.line])
    ```
    """

    outcome: Outcome | None  # with best play of both sides; None where that is not known
    margin: int | None  # the lead at the end, where it is known and games are won by points
    plies: int | None  # to the end of a game won or lost, where sooner is better
    value: int | None  # the heuristic's, where the outcome is not known and there is one
    line: tuple[int, ...]  # the best action, and what is best after it as far as search has seen
    depth: int  # plies searched; empty squares where the end was solved at once
    nodes: int  # positions generated for the value
    seconds: float  # for the value


def analyse(
    game: Game,
    position: Position,
    *,
    depth: int = MAX_DEPTH,
    nodes: int | None = None,
    time: float | None = None,
    endgame: int = 24,
) -> Analysis:
    """Search a position until its outcome is proven or a limit is met.

    The limits are those of `Limits`: plies, positions, seconds and, in games that fill up, the
    empty squares from which a position is solved to the end at once. ValueError where a limit is
    out of range, or where the game is over.

    ```python
    import boardenvs

    game = boardenvs.games.make("othello")
    found = boardenvs.analyse(game, game.start(), depth=6)
    print(game.action_name(found.line[0]), found.value, found.nodes)
    ```
    """
    if position.terminated or game.is_truncated(position):
        raise ValueError("the game is over in this position: there is nothing to search")
    engine = engine_for(game)
    limits = Limits(depth, nodes, math.inf if time is None else time, endgame)
    began = clock.perf_counter()
    found = engine.search(stack([position]), _SEED, limits, forced=True)
    seconds = clock.perf_counter() - began
    value, exact = int(found.value[0]), bool(found.exact[0])
    by_points = game.margin_counts
    decided = abs(value) > DECIDED
    proven = exact or decided
    beyond_win = abs(value) - WIN if decided else 0
    return Analysis(
        outcome=("draw" if not decided else "win" if value > 0 else "loss") if proven else None,
        margin=(beyond_win if value > 0 else -beyond_win) if exact and by_points else None,
        plies=-beyond_win if decided and not by_points else None,
        value=None if proven or not game.has_heuristic else value,
        line=tuple(engine.line(position, found)),
        depth=int(found.depth[0]),
        nodes=int(found.nodes[0]),
        seconds=seconds,
    )
