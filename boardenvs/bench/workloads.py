"""The workloads: uniformly random play through each of our interfaces and in other libraries, as
their documentation recommends, and search.

A library that is not installed is left out (extra `peers` installs them).
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable, Iterator
from functools import partial, reduce
from importlib.util import find_spec
from operator import or_
from typing import Any, TypeAlias

import numpy as np

from boardenvs.bench.measure import Workload
from boardenvs.envs.factory import env, raw_env, vec_env
from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import put, take
from boardenvs.games import spec_of
from boardenvs.kernel import get_backend
from boardenvs.kernel.backend import Backend
from boardenvs.search import AlphaBeta, Limits, search_trees
from boardenvs.tablebase import Tablebase

Play: TypeAlias = Callable[[], int]  # does a slice of work, and returns its amount

_SLICE = 300  # plies of a slice on a single board

# Searches by backend: the empty squares of positions that are solved (fewest and most), nodes, and
# simulations per tree by the number of trees.
_ENDS = {"numba": (12, 14), "numpy": (9, 9)}
_NODES = {"numba": 200_000, "numpy": 2_000}
_SIMULATIONS = {"numba": {1: 2_000, 64: 100}, "numpy": {1: 100, 64: 10}}
_POSITIONS = 8

# OpenSpiel's texts of games that it has too.
_SAME = ("othello", "lines_of_action", "checkers", "chess", "connect_four", "nine_mens_morris")
_OPENSPIEL = {
    **dict(zip(_SAME, _SAME, strict=True)),
    "go": "go(board_size=9)",
    "hex": "hex(board_size=11)",
    "tictactoe": "tic_tac_toe",
}


def ours(games: list[Game], sizes: list[int], backends: list[Backend]) -> Iterator[Workload]:
    """Random play through our interfaces."""
    batched: dict[str, Callable[[Game, int], Play]] = {"kernel": _kernel, "vec_env": _vector}
    if find_spec("stable_baselines3"):
        batched["SB3 VecEnv"] = _sb3
    for game, backend in itertools.product(games, backends):
        row = partial(Workload, "boardenvs", spec_of(game), backend=backend)
        for interface, make in (("raw_env", raw_env), ("env", env)):
            yield row(interface=interface, boards=1, start=partial(_aec, partial(make, game)))
        for size, (interface, play) in itertools.product(sizes, batched.items()):
            yield row(interface=interface, boards=size, start=partial(play, game, size))


def searches(games: list[Game], backends: list[Backend]) -> Iterator[Workload]:
    """The searches that suit each game; none for games with a tablebase."""
    for game, backend in itertools.product(games, backends):
        if Tablebase.covers(game):
            continue
        row = partial(Workload, "boardenvs", spec_of(game), backend=backend)
        if game.has_heuristic:
            start = partial(_alpha_beta, game)
            yield row(interface="alpha-beta", boards=1, start=start, unit="nodes")
            if game.fills_up and game.margin_counts:
                start = partial(_exact_end, game)
                yield row(interface="exact end", boards=1, start=start, unit="nodes")
        for trees in (1, 64):
            start = partial(_mcts, game, trees)
            yield row(interface="MCTS", boards=trees, start=start, unit="simulations")


def peers(games: list[Game], sizes: list[int]) -> Iterator[Workload]:
    """Random play in other libraries, as far as installed, with these batch sizes."""
    names = {"othello", *map(spec_of, games)} & _OPENSPIEL.keys()
    rows: list[tuple[str, str, str, str, int, Callable[[], Play]]] = [
        *(("pyspiel", "OpenSpiel", name, "State loop", 1, partial(_openspiel, name))
          for name in sorted(names)),
        # PettingZoo's classic games import pygame.
        *(("pygame", "PettingZoo", "connect_four", maker, 1, partial(_pettingzoo, maker))
          for maker in ("raw_env", "env")),
        *(("pgx", "Pgx", "othello", "lax.scan", n, partial(_jax, "pgx", n)) for n in sizes),
        *(("ludax", "Ludax", "othello", "lax.scan", n, partial(_jax, "ludax", n)) for n in sizes),
        *(("envpool", "EnvPool", "othello", "step", n, partial(_envpool, n)) for n in sizes),
    ]  # fmt: skip
    for module, library, game, interface, boards, start in rows:
        if find_spec(module):
            yield Workload(library, game, interface, boards, None, start)


# ---- ours ----------------------------------------------------------------------------------------


def _aec(make: Callable[[], Any]) -> Play:
    """Random play in any PettingZoo environment with action masks; choosing costs little."""
    env, chance = make(), random.Random(0).random

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
    """Rules alone: choice, step, and a new game after the last ply."""
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
    """Like `_vector`, through Stable-Baselines3's interface, masks included."""
    from boardenvs.envs.sb3 import BoardVecEnv

    envs, rng = BoardVecEnv(game, boards), np.random.default_rng(0)
    envs.reset()

    def play() -> int:
        envs.step(game.sample(envs.state, rng))
        envs.env_method("action_masks")
        envs.discounts  # noqa: B018 - which a learner reads
        return boards

    return play


# ---- search --------------------------------------------------------------------------------------


def _alpha_beta(game: Game) -> Play:
    """From the middle of random games, each search with the same number of nodes."""
    low = game.opening_plies[1] + 2
    return _nodes(game, (low, 2 * low), Limits(nodes=_NODES[get_backend()]))


def _exact_end(game: Game) -> Play:
    """The last dozen empty squares of random games."""
    squares = 64 - (game.holes | reduce(or_, game.setup())).bit_count()
    fewest, most = _ENDS[get_backend()]
    return _nodes(game, (squares - most, squares - fewest), Limits(endgame=64))


def _nodes(game: Game, plies: tuple[int, int], limits: Limits) -> Play:
    """Searches of positions after random plies, fewest and most."""
    state = random_openings(game, _POSITIONS, plies, np.random.default_rng(0))
    engine, seed = AlphaBeta(game), np.zeros(1, np.uint64)
    rows = itertools.cycle([take(state, [row]) for row in range(_POSITIONS)])
    return lambda: int(engine.search(next(rows), seed, limits, forced=True).nodes[0])


def _mcts(game: Game, trees: int) -> Play:
    """Tree search with playouts, the default of `mcts`."""
    simulations, low = _SIMULATIONS[get_backend()][trees], game.opening_plies[1] + 2
    state = random_openings(game, trees, (low, 2 * low), np.random.default_rng(0))
    seeds = np.arange(trees, dtype=np.uint64)

    def play() -> int:
        search_trees(game, state, seeds, simulations=simulations, c=1.0)
        return trees * simulations

    return play


# ---- other libraries -----------------------------------------------------------------------------


def _openspiel(name: str) -> Play:
    import pyspiel

    game, chance = pyspiel.load_game(_OPENSPIEL[name]), random.Random(0).random

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


def _pettingzoo(maker: str) -> Play:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from pettingzoo.classic import connect_four_v3

        return _aec(getattr(connect_four_v3, maker))


def _jax(library: str, boards: int) -> Play:
    from boardenvs.bench import jax

    return jax.play({"pgx": jax.pgx_othello, "ludax": jax.ludax_othello}[library], boards)


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
