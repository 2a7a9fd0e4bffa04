"""Random play in JAX, ours and other libraries', on the processor or an accelerator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

from workloads import Workload

from boardenvs.bench import Slice
from boardenvs.game.game import Game
from boardenvs.games import spec_of

PLIES = 16  # on every board, in one compiled scan


def in_jax(games: list[Game], sizes: list[int], *, others: bool) -> tuple[list[Workload], bool]:
    """Return random play of these games and of Pgx's Othello if it is installed, and whether it
    runs on an accelerator.
    """
    import jax

    from boardenvs.envs.jax import JaxEnv

    row = partial(Workload, backend=None, interface="lax.scan")
    workloads = []
    for size in sizes:
        for game in games:
            start = partial(play, partial(JaxEnv, game), size)
            workloads.append(row("boardenvs", spec_of(game), boards=size, start=start))
        if others and find_spec("pgx"):
            workloads.append(row("Pgx", "othello", boards=size, start=partial(pgx, size)))
    return workloads, jax.devices()[0].platform != "cpu"


def pgx(boards: int) -> Slice:
    """Return random play of Pgx's Othello; a game that is over begins again, as Pgx has it."""
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("othello")
    step = auto_reset(env.step, env.init)
    return play(lambda: SimpleNamespace(init=env.init, step=step, sample=sample), boards)


def ludax(boards: int) -> Slice:
    """Return random play of Ludax's Othello, which it calls Reversi."""
    import jax
    import jax.numpy as jnp
    from ludax import LudaxEnvironment
    from ludax.games import reversi

    env = LudaxEnvironment(game_str=reversi)

    def step(state: Any, action: Any, key: Any) -> Any:
        after = env.step(state, action)
        over = after.terminated | after.truncated
        return jax.tree.map(partial(jnp.where, over), env.init(key), after)

    return play(lambda: SimpleNamespace(init=env.init, step=step, sample=sample), boards)


def sample(state: Any, key: Any) -> Any:
    """Return a legal action, with a random number for each action, as in Pgx's guide."""
    import jax
    import jax.numpy as jnp

    logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
    return jax.random.categorical(key, logits).astype(jnp.int32)


def play(make: Callable[[], Any], boards: int) -> Slice:
    """Return a compiled scan of `PLIES` steps on every board. `make` returns an environment of one
    board: `init`, `step`, which begins a new game after the last ply, and `sample`.
    """
    import jax

    env = make()

    def one(state: Any, key: Any) -> tuple[Any, None]:
        choice, chance = jax.random.split(key)
        actions = jax.vmap(env.sample)(state, jax.random.split(choice, boards))
        return jax.vmap(env.step)(state, actions, jax.random.split(chance, boards)), None

    @jax.jit
    def scan(state: Any, key: Any) -> Any:
        key, chance = jax.random.split(key)
        return jax.lax.scan(one, state, jax.random.split(chance, PLIES))[0], key

    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), boards))
    key = jax.random.key(1)

    def run() -> int:
        nonlocal state, key
        state, key = jax.block_until_ready(scan(state, key))
        return boards * PLIES

    return run
