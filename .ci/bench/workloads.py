"""What is measured: random play through each of our interfaces, search, and other libraries as
their documentation recommends, as far as they are installed (the extra `peers` installs them).
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial, reduce
from importlib.util import find_spec
from operator import or_

import numpy as np

from boardenvs import bench
from boardenvs.bench import Slice
from boardenvs.envs.factory import env
from boardenvs.game.game import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import take
from boardenvs.games import spec_of
from boardenvs.kernel import set_backend
from boardenvs.search import AlphaBeta, Limits, Trees, TreeSettings
from boardenvs.tablebase import Tablebase

# Searches by backend: the empty squares of positions that are solved (fewest and most), nodes, and
# simulations a tree by the number of trees.
ENDS = {"numba": (12, 14), "numpy": (9, 9)}
NODES = {"numba": 200_000, "numpy": 2_000}
SIMULATIONS = {"numba": {1: 2_000, 64: 100}, "numpy": {1: 100, 64: 10}}
POSITIONS = 8
PLIES = 300  # of a slice on a single board
# Those of our games that README and comparison.md show beside OpenSpiel's.
SAME = ("othello", "lines_of_action")


@dataclass
class Workload:
    """Random play of one game through one interface, or search in it, `boards` at a time."""

    library: str
    game: str
    interface: str
    boards: int
    backend: str | None
    start: Callable[[], Slice]
    unit: str = "plies"
    rates: list[float] = field(default_factory=list)  # units a second, of each round

    def is_ready(self) -> bool:
        """Whether it runs; it is compiled then. An error of ours is raised, others are printed."""
        set_backend(self.backend)
        try:
            self._work = self.start()
            self.play()
        except Exception as error:
            if self.library == "boardenvs":
                raise
            print(f"not run: {self.library} x{self.boards}: {type(error).__name__}: {error}")
            return False
        return True

    def play(self) -> int:
        set_backend(self.backend)
        return self._work()


def ours(games: list[Game], sizes: list[int], backends: list[str]) -> Iterator[Workload]:
    """Yield random play through our interfaces."""
    batched = {"rules": bench.rules, "vec_env": bench.vector}
    if find_spec("stable_baselines3"):
        batched["SB3 VecEnv"] = sb3
    for game, backend in itertools.product(games, backends):
        row = partial(Workload, "boardenvs", spec_of(game), backend=backend)
        yield row("env", 1, start=lambda game=game: bench.turn_by_turn(env(game)))
        for size, (interface, play) in itertools.product(sizes, batched.items()):
            yield row(interface, size, start=partial(play, game, size))


def sb3(game: Game, boards: int) -> Slice:
    """Return random play by Stable-Baselines3's interface, masks included."""
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


def searches(games: list[Game], backends: list[str]) -> Iterator[Workload]:
    """Yield the searches that suit each game; none for games with a tablebase."""
    for game, backend in itertools.product(games, backends):
        if Tablebase.covers(game):
            continue
        row = partial(Workload, "boardenvs", spec_of(game), backend=backend)
        low = game.opening_plies[1] + 2
        if game.has_heuristic:
            start = partial(nodes, game, (low, 2 * low), Limits(nodes=NODES[backend]))
            yield row("alpha-beta", 1, start=start, unit="nodes")
        if game.has_heuristic and game.fills_up and game.margin_counts:
            squares = 64 - (game.holes | reduce(or_, game.setup())).bit_count()
            plies = squares - ENDS[backend][1], squares - ENDS[backend][0]
            start = partial(nodes, game, plies, Limits(endgame=64))
            yield row("exact end", 1, start=start, unit="nodes")
        for trees, simulations in SIMULATIONS[backend].items():
            start = partial(mcts, game, trees, simulations, (low, 2 * low))
            yield row("MCTS", trees, start=start, unit="simulations")


def nodes(game: Game, plies: tuple[int, int], limits: Limits) -> Slice:
    """Return searches of positions after random plies, fewest and most."""
    state = random_openings(game, POSITIONS, plies, np.random.default_rng(0))
    engine, seed = AlphaBeta(game), np.zeros(1, np.uint64)
    rows = itertools.cycle([take(state, [row]) for row in range(POSITIONS)])
    return lambda: int(engine.search(next(rows), seed, limits, forced=True).nodes[0])


def mcts(game: Game, trees: int, simulations: int, plies: tuple[int, int]) -> Slice:
    """Return tree search with playouts, the default of `mcts`."""
    state = random_openings(game, trees, plies, np.random.default_rng(0))
    seeds = np.arange(trees, dtype=np.uint64)

    def search() -> int:
        Trees(game, state, seeds, TreeSettings(simulations, 1.0)).search(simulations)
        return trees * simulations

    return search


# ---- other libraries -----------------------------------------------------------------------------


def peers(games: list[Game], sizes: list[int]) -> Iterator[Workload]:
    """Yield random play in other libraries, with these batch sizes where they have batches."""
    import jax_play

    names = [name for name in SAME if name in map(spec_of, games)]
    rows: list[tuple[str, str, str, str, int, Callable[[], Slice]]] = [
        *(("pyspiel", "OpenSpiel", n, "State loop", 1, partial(openspiel, n)) for n in names),
        # PettingZoo's classic games import pygame.
        *(("pygame", "PettingZoo", "connect_four", m, 1, partial(pettingzoo, m))
          for m in ("raw_env", "env")),
        *(("pgx", "Pgx", "othello", "lax.scan", n, partial(jax_play.pgx, n)) for n in sizes),
        *(("ludax", "Ludax", "othello", "lax.scan", n, partial(jax_play.ludax, n)) for n in sizes),
        *(("envpool", "EnvPool", "othello", "step", n, partial(envpool, n)) for n in sizes),
    ]  # fmt: skip
    for module, library, game, interface, boards, start in rows:
        if find_spec(module):
            yield Workload(library, game, interface, boards, None, start)


def openspiel(name: str) -> Slice:
    import pyspiel

    game, chance = pyspiel.load_game(name), random.Random(0).random

    def play() -> int:
        plies = 0
        while plies < PLIES:
            state = game.new_initial_state()
            while not state.is_terminal():
                actions = state.legal_actions()
                state.apply_action(actions[int(chance() * len(actions))])
                plies += 1
        return plies

    return play


def pettingzoo(maker: str) -> Slice:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from pettingzoo.classic import connect_four_v3

        return bench.turn_by_turn(getattr(connect_four_v3, maker)())


def envpool(boards: int) -> Slice:
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
