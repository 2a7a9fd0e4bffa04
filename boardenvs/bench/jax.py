"""Random play in JAX, ours and Pgx's: `python -m boardenvs.bench --jax`.

All of a slice runs on the device: the processor, or whatever accelerator JAX finds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from boardenvs.bench.measure import Workload
from boardenvs.envs.jax import JaxEnv
from boardenvs.game.contract import Game
from boardenvs.games import spec_of

PLIES = 16  # on every board, in one compiled scan

# Makes an environment: `init`, `step`, which begins new games, and `sample`, all of one board.
Make: TypeAlias = Callable[[], Any]


def in_jax(games: list[Game], sizes: list[int], *, peers: bool) -> Iterator[Workload]:
    """Random play of these games, and of Pgx's Othello if it is installed."""
    has_pgx = bool(find_spec("pgx"))
    # What plays, what else plays through Pgx, and its samplers.
    rows: list[tuple[str, str, Make, Make, list[str]]] = [
        ("boardenvs", spec_of(game), partial(JaxEnv, game), partial(_adapter, game), ["own"])
        for game in games
    ]
    if has_pgx and peers:
        rows.append(("Pgx", "othello", original, original, []))
    for size, (library, game, make, make_pgx, samplers) in itertools.product(sizes, rows):
        row = partial(Workload, library, game, boards=size, backend=None)
        if library == "boardenvs":
            yield row(interface="play", start=partial(play, make, "own", size))
        for sampler in [*samplers, "mask", "Pgx's"] if has_pgx else []:
            start = partial(play, make_pgx, sampler, size)
            yield row(interface=f"pgx.Env, {sampler} sampler", start=start)


def original() -> Any:
    """Pgx's Othello."""
    import pgx

    return _resetting(pgx.make("othello"))


def ludax() -> Any:
    """Ludax's Othello, which it calls Reversi."""
    from ludax import LudaxEnvironment
    from ludax.games import reversi

    env = LudaxEnvironment(game_str=reversi)

    def step(state: Any, action: Any, key: jax.Array) -> Any:
        after = env.step(state, action)
        over = after.terminated | after.truncated
        return jax.tree.map(partial(jnp.where, over), env.init(key), after)

    return SimpleNamespace(init=env.init, step=step)


def _adapter(game: Game) -> Any:
    from boardenvs.envs.jax.pgx import PgxEnv

    return _resetting(PgxEnv(game))


def _resetting(env: Any) -> Any:
    """A pgx.Env whose games begin anew as Pgx has it."""
    from pgx.experimental import auto_reset

    step = auto_reset(env.step, env.init)
    return SimpleNamespace(init=env.init, step=step, sample=getattr(env, "sample", None))


# ---- random play ---------------------------------------------------------------------------------


def play(make: Make, sampler: str, boards: int) -> Callable[[], int]:
    """A compiled scan of `PLIES` vmapped steps on every board, as Pgx's guide has it.

    The sampler is "Pgx's" `act_randomly`, which draws a random number for every action, the
    environment's "own", or by "mask": one number for the k-th legal action.
    """
    env = make()

    def sample(state: Any, key: jax.Array) -> Any:
        if sampler == "own":
            return jax.vmap(env.sample)(state, jax.random.split(key, boards))
        if sampler == "mask":
            return _by_mask(state.legal_action_mask, key)
        from pgx.experimental import act_randomly

        return act_randomly(key, state.legal_action_mask)

    def one(state: Any, key: jax.Array) -> tuple[Any, None]:
        choice, chance = jax.random.split(key)
        keys = jax.random.split(chance, boards)
        return jax.vmap(env.step)(state, sample(state, choice), keys), None

    def scan(carry: Any) -> Any:
        state, key = carry
        key, chance = jax.random.split(key)
        return jax.lax.scan(one, state, jax.random.split(chance, PLIES))[0], key

    return _slices(jax.jit(scan), (_begin(env, boards), jax.random.key(1)), boards * PLIES)


def _by_mask(legal: jax.Array, key: jax.Array) -> jax.Array:
    reached = jnp.cumsum(legal.astype(jnp.float32), axis=1)
    count = reached[:, -1]
    wanted = jnp.floor(jax.random.uniform(key, count.shape) * count)
    return (reached <= wanted[:, None]).sum(axis=1).astype(jnp.int32)


def _begin(env: Any, boards: int) -> Any:
    return jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), boards))


def _slices(go_on: Callable[[Any], Any], carry: Any, count: int) -> Callable[[], int]:
    """A function that makes the next carry of the last one, which is so many plies or steps."""

    def play() -> int:
        nonlocal carry
        carry = go_on(carry)
        jax.tree.map(lambda array: array.block_until_ready(), carry)
        return count

    return play
