"""Random play in JAX, ours and other libraries': `boardenvs bench --jax`.

A slice runs on the device: the processor, or an accelerator if JAX finds one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp

from boardenvs.bench.measure import Workload
from boardenvs.envs.jax import JaxEnv
from boardenvs.game.contract import Game
from boardenvs.games import spec_of

PLIES = 16  # on every board, in one compiled scan


def in_jax(games: list[Game], sizes: list[int], *, peers: bool) -> Iterator[Workload]:
    """Random play of these games, and of Pgx's Othello if it is installed."""
    for size in sizes:
        for game in games:
            start = partial(play, partial(JaxEnv, game), size)
            yield Workload("boardenvs", spec_of(game), "play", size, None, start)
        if peers and find_spec("pgx"):
            yield Workload(
                "Pgx", "othello", "lax.scan", size, None, partial(play, pgx_othello, size)
            )


def pgx_othello() -> Any:
    """Pgx's Othello; a game that is over begins again, as Pgx has it."""
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("othello")
    return SimpleNamespace(init=env.init, step=auto_reset(env.step, env.init), sample=_sample)


def ludax_othello() -> Any:
    """Ludax's Othello, which it calls Reversi."""
    from ludax import LudaxEnvironment
    from ludax.games import reversi

    env = LudaxEnvironment(game_str=reversi)

    def step(state: Any, action: Any, key: jax.Array) -> Any:
        after = env.step(state, action)
        over = after.terminated | after.truncated
        return jax.tree.map(partial(jnp.where, over), env.init(key), after)

    return SimpleNamespace(init=env.init, step=step, sample=_sample)


def _sample(state: Any, key: jax.Array) -> jax.Array:
    """A legal action, with a random number for each action, as in Pgx's guide."""
    logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
    return jax.random.categorical(key, logits).astype(jnp.int32)


def play(make: Callable[[], Any], boards: int) -> Callable[[], int]:
    """A compiled scan of `PLIES` steps on every board. `make` returns an environment of one board:
    `init`, `step`, which begins a new game after the last ply, and `sample`.
    """
    env = make()

    def one(state: Any, key: jax.Array) -> tuple[Any, None]:
        choice, chance = jax.random.split(key)
        actions = jax.vmap(env.sample)(state, jax.random.split(choice, boards))
        return jax.vmap(env.step)(state, actions, jax.random.split(chance, boards)), None

    @jax.jit
    def scan(state: Any, key: jax.Array) -> Any:
        key, chance = jax.random.split(key)
        return jax.lax.scan(one, state, jax.random.split(chance, PLIES))[0], key

    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), boards))
    key = jax.random.key(1)

    def run() -> int:
        nonlocal state, key
        state, key = jax.block_until_ready(scan(state, key))  # type: ignore[no-untyped-call]
        return boards * PLIES

    return run
