"""What is measured: uniformly random play through each of our interfaces and in other libraries,
each in the way that its own documentation recommends, and the speed of search.

A library that is not installed is left out (extra `peers` installs them).
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from importlib.util import find_spec
from operator import or_
from typing import Any, TypeAlias

import numpy as np

from boardenvs.bench.measure import Workload, middle_game
from boardenvs.envs.factory import env, raw_env, vec_env
from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import State, put, take
from boardenvs.games import spec_of
from boardenvs.kernel import get_backend
from boardenvs.kernel.backend import Backend
from boardenvs.search import AlphaBeta, Limits, search_trees
from boardenvs.tablebase import Tablebase

Play: TypeAlias = Callable[[], int]  # does a slice, and returns how much that was

# Plies before a single-board slice looks at the clock again.
_SLICE = 300

# Of search: empty squares, the fewest and the most, of positions whose ends are solved; nodes; and
# simulations a tree by trees at a time. One on machine code's scale, one on Python's.
_ENDS = {"numba": (12, 14), "numpy": (9, 9)}
_NODES = {"numba": 200_000, "numpy": 2_000}
_SIMULATIONS = {"numba": {1: 2_000, 64: 100}, "numpy": {1: 100, 64: 10}}
_POSITIONS = 8


def ours(games: list[Game], sizes: list[int], backends: list[Backend]) -> Iterator[Workload]:
    """All of ours, for these games, batch sizes and backends."""
    single = {"raw_env": raw_env, "env": env}
    batched: dict[str, Callable[[Game, int], Play]] = {"kernel": _kernel, "vec_env": _vector}
    if find_spec("stable_baselines3"):
        batched["SB3 VecEnv"] = _sb3
    for game, backend in itertools.product(games, backends):
        name = spec_of(game)
        for interface, make in single.items():
            start = partial(_aec, make, game)
            yield Workload("boardenvs", name, interface, 1, backend, start)
        for size, (interface, play) in itertools.product(sizes, batched.items()):
            start = partial(play, game, size)
            yield Workload("boardenvs", name, interface, size, backend, start)


def searches(games: list[Game], backends: list[Backend]) -> Iterator[Workload]:
    """Those that suit each game; none where a table of all positions takes the place of search."""
    for game, backend in itertools.product(games, backends):
        if Tablebase.covers(game):
            continue
        rows: list[tuple[str, str, int, Callable[[], Play]]] = []
        if game.has_heuristic:
            rows.append(("alpha-beta", "nodes", 1, partial(_alpha_beta, game)))
            if game.fills_up and game.margin_counts:
                rows.append(("exact end", "nodes", 1, partial(_exact_end, game)))
        rows += [("MCTS", "simulations", n, partial(_mcts, game, n)) for n in (1, 64)]
        for kind, unit, boards, start in rows:
            yield Workload("boardenvs", spec_of(game), kind, boards, backend, start, unit)


# What OpenSpiel calls games of these ids; those of other packages are among them.
_OF_OPENSPIEL = {
    **{name: name for name in ("othello", "lines_of_action", "checkers", "chess", "connect_four")},
    "go": "go(board_size=9)",
    "hex": "hex(board_size=11)",
    "nine_mens_morris": "nine_mens_morris",
}


def peers(games: Sequence[Game], sizes: list[int]) -> Iterator[Workload]:
    """Those that are installed; `sizes` are the batch sizes of those that play batches."""
    theirs = {spec_of(game): _OF_OPENSPIEL.get(game.id) for game in games} | {"othello": "othello"}
    rows: list[tuple[str, str, str, str, int, Callable[[], Play]]] = [
        ("pyspiel", "OpenSpiel", game, "State loop", 1, partial(_openspiel, name))
        for game, name in theirs.items()
        if name is not None
    ]
    rows += [  # PettingZoo's classic games import pygame
        ("pygame", "PettingZoo", game, maker, 1, partial(_pettingzoo, game, maker))
        for game in ("connect_four", "tictactoe")
        for maker in ("raw_env", "env")
    ]
    rows += [("pgx", "Pgx", "othello", "lax.scan", n, partial(_pgx, n)) for n in sizes]
    rows += [("ludax", "Ludax", "othello", "lax.scan", n, partial(_ludax, n)) for n in sizes]
    rows += [("envpool", "EnvPool", "othello", "step", n, partial(_envpool, n)) for n in sizes]
    for module, library, game, interface, boards, start in rows:
        if find_spec(module):
            yield Workload(library, game, interface, boards, None, start)


# ---- ours ----------------------------------------------------------------------------------------


def _aec(make: Callable[[Any], Any], game: Any) -> Play:
    """Random play in any PettingZoo environment whose observations hold an action mask.

    The choice is made as cheaply as Python allows, so that the environment is what is measured.
    """
    env, chance = make(game), random.Random(0).random

    def play() -> int:
        plies = 0
        while plies < _SLICE:
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = observation["action_mask"].nonzero()[0]
                env.step(legal[int(chance() * len(legal))])
                plies += 1
        return plies

    return play


def _kernel(game: Game, boards: int) -> Play:
    """Rules alone: choice, step, and a new game where one is over by the rules."""
    rng = np.random.default_rng(0)
    state, fresh = game.init(boards), game.init(boards)

    def play() -> int:
        nonlocal state
        state = game.step(state, game.sample(state, rng))
        over = np.flatnonzero(state.terminated)
        if over.size:
            put(state, over, take(fresh, slice(over.size)))
        return boards

    return play


def _vector(game: Game, boards: int) -> Play:
    """Rules, legality check, observation, mask, rewards, autoreset, and the choice of actions."""
    envs, rng = vec_env(game, boards), np.random.default_rng(0)
    envs.reset(seed=0)

    def play() -> int:
        envs.step(game.sample(envs.batch.state, rng))
        return boards

    return play


def _sb3(game: Game, boards: int) -> Play:
    """As `_vector`, through Stable-Baselines3's interface, masks included."""
    from boardenvs.envs.sb3 import BoardVecEnv

    envs, rng = BoardVecEnv(game, boards), np.random.default_rng(0)
    envs.reset()

    def play() -> int:
        envs.step(game.sample(envs.state, rng))
        envs.env_method("action_masks")
        return boards

    return play


# ---- search --------------------------------------------------------------------------------------


def _alpha_beta(game: Game) -> Play:
    """From the middle of random games, each search with the same number of nodes."""
    limits = Limits(nodes=_NODES[get_backend()])
    return _nodes_of(game, middle_game(game, _POSITIONS), limits)


def _exact_end(game: Game) -> Play:
    """The last dozen empty squares of random games."""
    fewest, most = _ENDS[get_backend()]
    squares = 64 - (game.holes | reduce(or_, game.setup())).bit_count()
    plies = (squares - most, squares - fewest)
    state = random_openings(game, _POSITIONS, plies, np.random.default_rng(0))
    return _nodes_of(game, state, Limits(endgame=64))


def _nodes_of(game: Game, state: State, limits: Limits) -> Play:
    engine, seed = AlphaBeta(game), np.zeros(1, np.uint64)
    rows = itertools.cycle([take(state, [row]) for row in range(len(state.ply))])
    return lambda: int(engine.search(next(rows), seed, limits, forced=True).nodes[0])


def _mcts(game: Game, trees: int) -> Play:
    """Random games judge, the default of `mcts`."""
    simulations = _SIMULATIONS[get_backend()][trees]
    state, seeds = middle_game(game, trees), np.arange(trees, dtype=np.uint64)

    def play() -> int:
        search_trees(game, state, seeds, simulations=simulations, c=1.0)
        return trees * simulations

    return play


# ---- other libraries -----------------------------------------------------------------------------


def _openspiel(name: str) -> Play:
    import pyspiel

    game, chance = pyspiel.load_game(name), random.Random(0).random

    def play() -> int:
        plies = 0
        while plies < _SLICE:
            state = game.new_initial_state()
            while not state.is_terminal():
                actions = state.legal_actions()
                state.apply_action(actions[int(chance() * len(actions))])
                plies += 1
        return plies

    return play


def _pettingzoo(name: str, maker: str) -> Play:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from pettingzoo.classic import connect_four_v3, tictactoe_v3

        module = {"connect_four": connect_four_v3, "tictactoe": tictactoe_v3}[name]
        return _aec(lambda _: getattr(module, maker)(), None)


def _pgx(boards: int) -> Play:
    from boardenvs.bench.jax import original, play

    return play(original, "Pgx's", boards)


def _ludax(boards: int) -> Play:
    from boardenvs.bench.jax import ludax, play

    return play(ludax, "mask", boards)


def _envpool(boards: int) -> Play:
    import envpool

    env = envpool.make("Othello-v1", env_type="gymnasium", num_envs=boards)
    _, info = env.reset()
    rng = np.random.default_rng(0)

    def play() -> int:
        nonlocal info
        mask = info["legal_action_mask"]
        actions = (rng.random(mask.shape, np.float32) * mask).argmax(axis=1)
        info = env.step(actions.astype(np.int32))[-1]
        return boards

    return play
