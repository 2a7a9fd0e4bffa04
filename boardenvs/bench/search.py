"""The speed of search: alpha-beta, exact ends, Monte Carlo trees."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial, reduce
from operator import or_

import numpy as np

from boardenvs.bench.workloads import Workload
from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import State, take
from boardenvs.games import spec_of
from boardenvs.kernel import get_backend
from boardenvs.kernel.backend import Backend
from boardenvs.search import Engine, Limits, search_trees
from boardenvs.tablebase import Tablebase

# Empty squares, the fewest and the most, of positions whose ends are solved; one on machine code's
# scale, one on Python's.
_ENDS = {"numba": (12, 14), "numpy": (9, 9)}
# A slice of work: nodes, and simulations a tree by trees at a time.
_NODES = {"numba": 200_000, "numpy": 2_000}
_SIMULATIONS = {"numba": {1: 2_000, 64: 100}, "numpy": {1: 100, 64: 10}}
_POSITIONS = 8

Start = Callable[[], Callable[[], int]]


def searches(games: list[Game], backends: list[Backend]) -> Iterator[Workload]:
    """Those that suit each game; none where a table of all positions takes the place of search."""
    for game in games:
        if not Tablebase.covers(game):
            for backend in backends:
                for kind, unit, boards, start in _kinds(game):
                    yield Workload("boardenvs", spec_of(game), kind, boards, backend, start, unit)


def _kinds(game: Game) -> Iterator[tuple[str, str, int, Start]]:
    if game.has_heuristic:
        yield "alpha-beta", "nodes", 1, partial(_alpha_beta, game)
        if game.fills_up and game.margin_counts:
            yield "exact end", "nodes", 1, partial(_exact_end, game)
    for trees in (1, 64):
        yield "MCTS", "simulations", trees, partial(_mcts, game, trees)


def _middle(game: Game) -> tuple[int, int]:
    """The random plies, low and high, that lead beyond openings and not near an end."""
    low = game.opening_plies[1] + 2
    return low, 2 * low


def _alpha_beta(game: Game) -> Callable[[], int]:
    """From the middle of random games, each search with the same number of nodes."""
    nodes = _NODES[get_backend()]
    return _nodes_of(game, _middle(game), Limits(nodes=nodes))


def _exact_end(game: Game) -> Callable[[], int]:
    """The last dozen empty squares of random games."""
    fewest, most = _ENDS[get_backend()]
    squares = 64 - (game.holes | reduce(or_, game.setup())).bit_count()
    return _nodes_of(game, (squares - most, squares - fewest), Limits(endgame=64))


def _nodes_of(game: Game, plies: tuple[int, int], limits: Limits) -> Callable[[], int]:
    engine, seed = Engine(game), np.zeros(1, np.uint64)
    rows = itertools.cycle(
        _rows(random_openings(game, _POSITIONS, plies, np.random.default_rng(0)))
    )

    def play() -> int:
        return int(engine.search(next(rows), seed, limits, forced=True).nodes[0])

    return play


def _mcts(game: Game, trees: int) -> Callable[[], int]:
    """Random games judge, the default of `mcts`."""
    simulations = _SIMULATIONS[get_backend()][trees]
    state = random_openings(game, trees, _middle(game), np.random.default_rng(0))
    seeds = np.arange(trees, dtype=np.uint64)

    def play() -> int:
        search_trees(game, state, seeds, simulations=simulations, c=1.0)
        return trees * simulations

    return play


def _rows(state: State) -> list[State]:
    return [take(state, [row]) for row in range(len(state.ply))]
