"""The speed of search: alpha-beta, exact ends of Othello, Monte Carlo trees."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from boardenvs import games
from boardenvs.bench.workloads import Workload
from boardenvs.game.openings import random_openings
from boardenvs.game.state import State, take
from boardenvs.kernel import get_backend
from boardenvs.kernel.backend import Backend
from boardenvs.search import Engine, Limits, search_trees

# The games measured, and random plies to the middle of them.
_MIDDLE = {"othello": (12, 24), "lines_of_action": (10, 20)}
# Random plies to positions whose ends are solved; one on machine code's scale, one on Python's.
_ENDS = {"numba": (46, 48), "numpy": (51, 51)}
# A slice of work: nodes, and rollouts a tree by trees at a time.
_NODES = {"numba": 200_000, "numpy": 2_000}
_ROLLOUTS = {"numba": {1: 2_000, 64: 100}, "numpy": {1: 100, 64: 10}}
_POSITIONS = 8

Start = Callable[[], Callable[[], int]]


def searches(game_ids: list[str], backends: list[Backend]) -> Iterator[Workload]:
    """Those of Othello and of Lines of Action, as far as they are among the games."""
    for game_id in game_ids:
        if game_id in _MIDDLE:
            for backend in backends:
                for kind, unit, boards, start in _kinds(game_id):
                    yield Workload("boardenvs", game_id, kind, boards, backend, start, unit)


def _kinds(game_id: str) -> Iterator[tuple[str, str, int, Start]]:
    yield "alpha-beta", "nodes", 1, partial(_alpha_beta, game_id)
    if game_id == "othello":
        yield "exact end", "nodes", 1, partial(_exact_end, game_id)
    for trees in (1, 64):
        yield "MCTS", "rollouts", trees, partial(_mcts, game_id, trees)


def _alpha_beta(game_id: str) -> Callable[[], int]:
    """From the middle of random games, each search with the same number of nodes."""
    nodes = _NODES[get_backend()]
    return _nodes_of(game_id, _MIDDLE[game_id], Limits(nodes=nodes))


def _exact_end(game_id: str) -> Callable[[], int]:
    """The last dozen empty squares of random games."""
    return _nodes_of(game_id, _ENDS[get_backend()], Limits(endgame=64))


def _nodes_of(game_id: str, plies: tuple[int, int], limits: Limits) -> Callable[[], int]:
    game = games.make(game_id)
    engine, seed = Engine(game), np.zeros(1, np.uint64)
    rows = itertools.cycle(
        _rows(random_openings(game, _POSITIONS, plies, np.random.default_rng(0)))
    )

    def play() -> int:
        return int(engine.search(next(rows), seed, limits, forced=True).nodes[0])

    return play


def _mcts(game_id: str, trees: int) -> Callable[[], int]:
    """Random games judge, the default of `mcts`."""
    game, rollouts = games.make(game_id), _ROLLOUTS[get_backend()][trees]
    state = random_openings(game, trees, _MIDDLE[game_id], np.random.default_rng(0))
    seeds = np.arange(trees, dtype=np.uint64)

    def play() -> int:
        search_trees(game, state, seeds, rollouts=rollouts, c=1.0)
        return trees * rollouts

    return play


def _rows(state: State) -> list[State]:
    return [take(state, [row]) for row in range(len(state.ply))]
