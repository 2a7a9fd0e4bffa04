"""What search finds of one position: its value, whether that is proven, and a line of play."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.state import WordArray
from boardenvs.search.compiled.values import DECIDED, WIN
from boardenvs.search.engine import engine_for
from boardenvs.search.evaluation import Evaluation
from boardenvs.search.limits import ENDGAME, MAX_DEPTH, Limits

Outcome: TypeAlias = Literal["win", "draw", "loss"]

_OTHER: dict[Outcome, Outcome] = {"win": "loss", "draw": "draw", "loss": "win"}
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
    endgame: int = ENDGAME,
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
    return search_position(game, position, Limits(depth, nodes, time, endgame))


def search_position(
    game: Game,
    position: Position,
    limits: Limits,
    *,
    seed: WordArray = _SEED,
    stop: Callable[[], bool] | None = None,
    evaluation: Evaluation | None = None,
) -> Analysis:
    """`analyse` with a seed, (1,) uint64, that orders moves of equal worth, with a function that
    ends the search once it returns True, and by an evaluation in place of the game's heuristic.
    """
    if position.is_over():
        raise ValueError("the game is over in this position: there is nothing to search")
    engine = engine_for(game, evaluation)
    if limits.time is None:
        limits = replace(limits, time=math.inf)  # so that Ctrl-C ends it
    began = clock.perf_counter()
    found = engine.search(stack([position]), seed, limits, forced=True, stop=stop)
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
        value=None if proven or (evaluation is None and not game.has_heuristic) else value,
        line=tuple(engine.line(position, found)),
        depth=int(found.depth[0]),
        nodes=int(found.nodes[0]),
        seconds=seconds,
    )


def search_moves(
    game: Game,
    position: Position,
    limits: Limits,
    *,
    stop: Callable[[], bool] | None = None,
    watch: Callable[[Sequence[int]], Iterable[int]] = iter,
    evaluation: Evaluation | None = None,
) -> dict[int, Analysis]:
    """Every legal action as search sees it, for the side that makes the move.

    Depth and plies count the move itself, lines begin with it. Nodes and time are shared out
    equally. Where they do not end the search, the value of the best is that of the position by
    `search_position` with the same limits. `watch` goes through the actions as they are searched,
    to show progress.
    """
    actions = position.legal_actions()
    share = replace(
        limits,
        nodes=None if limits.nodes is None else max(limits.nodes // len(actions), 1),
        time=None if limits.time is None else limits.time / len(actions),
    )
    return {
        action: _search_move(game, position, action, share, stop, evaluation)
        for action in watch(actions)
    }


def _search_move(
    game: Game,
    position: Position,
    action: int,
    limits: Limits,
    stop: Callable[[], bool] | None,
    evaluation: Evaluation | None,
) -> Analysis:
    after = position.step(action)
    if after.is_over():
        return _final(game, after, action)
    filled = 0 if action == game.noop else 1
    below = replace(limits, depth=max(limits.depth - 1, 1), endgame=max(limits.endgame - filled, 0))
    if limits.depth == 1 and not engine_for(game, evaluation).is_end(stack([after]), below)[0]:
        value = _static_value(game, after, evaluation)
        return Analysis(None, None, None, value, (action,), depth=1, nodes=1, seconds=0.0)
    found = search_position(game, after, below, stop=stop, evaluation=evaluation)
    return Analysis(
        outcome=None if found.outcome is None else _OTHER[found.outcome],
        margin=None if found.margin is None else -found.margin,
        plies=None if found.plies is None else found.plies + 1,
        value=None if found.value is None else -found.value,
        line=(action, *found.line),
        depth=found.depth + 1,
        nodes=found.nodes + 1,
        seconds=found.seconds,
    )


def _static_value(game: Game, after: Position, evaluation: Evaluation | None) -> int | None:
    """What a move that leads there is worth, without a search."""
    if evaluation is not None:
        return -int(evaluation.values(stack([after]))[0])
    return -int(game.values(stack([after]))[0]) if game.has_heuristic else None


def _final(game: Game, after: Position, action: int) -> Analysis:
    """A move that ends the game."""
    lead = -int(game.score_margin(stack([after]))[0])
    margin = lead if game.margin_counts else None
    plies = None if game.margin_counts or lead == 0 else 1
    outcome: Outcome = "win" if lead > 0 else "loss" if lead < 0 else "draw"
    return Analysis(outcome, margin, plies, None, (action,), depth=1, nodes=1, seconds=0.0)
