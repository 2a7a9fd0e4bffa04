"""Random play and PPO in JAX, ours and Pgx's: `python -m boardenvs.bench --jax`.

All of a slice runs on the device: the processor, or whatever accelerator JAX finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeAlias

from boardenvs.bench.measure import Workload
from boardenvs.game.contract import Game
from boardenvs.games import spec_of

PLIES = 16  # on every board, in one compiled scan

# (state, key) -> actions, of a batch
Sampler: TypeAlias = Callable[[Any, Any], Any]


def in_jax(games: list[Game], sizes: list[int], *, peers: bool) -> Iterator[Workload]:
    """Random play of these games and PPO, and the same of Pgx's Othello where it is installed."""
    pgx, ppo = bool(find_spec("pgx")), bool(find_spec("optax"))
    for size in sizes:
        for game in games:
            row = partial(Workload, "boardenvs", spec_of(game), boards=size, backend=None)
            yield row(interface="play", start=partial(_play, game, size))
            for sampler in ("own", "mask", "Pgx's") if pgx else ():
                start = partial(pgx_play, partial(_adapter, game), sampler, size)
                yield row(interface=f"pgx.Env, {sampler} sampler", start=start)
            if ppo:
                start = partial(_ppo, partial(_ours, game), size)
                yield row(interface="PPO", start=start, unit="steps")
        if pgx and peers:
            row = partial(Workload, "Pgx", "othello", boards=size, backend=None)
            for sampler in ("mask", "Pgx's"):
                start = partial(pgx_play, _original, sampler, size)
                yield row(interface=f"pgx.Env, {sampler} sampler", start=start)
            if ppo:
                start = partial(_ppo, partial(_reset, _original), size)
                yield row(interface="PPO", start=start, unit="steps")


# ---- environments --------------------------------------------------------------------------------


def _original() -> Any:
    import pgx

    return pgx.make("othello")


def _adapter(game: Game) -> Any:
    from boardenvs.envs.jax.pgx import PgxEnv

    return PgxEnv(game)


def _ours(game: Game) -> tuple[Any, Any]:
    from boardenvs.envs.jax import JaxEnv

    env = JaxEnv(game)
    return env.init, env.step


def _reset(make: Callable[[], Any]) -> tuple[Any, Any]:
    """`init` and `step` of a pgx.Env, whose games begin anew as Pgx has it."""
    from pgx.experimental import auto_reset

    env = make()
    return env.init, auto_reset(env.step, env.init)


# ---- random play ---------------------------------------------------------------------------------


def _play(game: Game, boards: int) -> Callable[[], int]:
    from boardenvs.envs.jax import JaxEnv

    env = JaxEnv(game)
    return _slices(env.init, env.step, _by_words(env, boards), boards)


def pgx_play(make: Callable[[], Any], sampler: str, boards: int) -> Callable[[], int]:
    """A compiled scan over vmapped steps with automatic resets, as Pgx's guide has it.

    The sampler is "Pgx's" `act_randomly`, which draws a random number for every action, the
    environment's "own", or by "mask": one number for the k-th legal action.
    """
    from pgx.experimental import act_randomly, auto_reset

    env = make()
    samplers: dict[str, Callable[[], Sampler]] = {
        "own": lambda: _by_words(env, boards),
        "mask": lambda: _by_mask,
        "Pgx's": lambda: lambda state, key: act_randomly(key, state.legal_action_mask),
    }
    return _slices(env.init, auto_reset(env.step, env.init), samplers[sampler](), boards)


def _by_words(env: Any, boards: int) -> Sampler:
    import jax

    return lambda state, key: jax.vmap(env.sample)(state, jax.random.split(key, boards))


def _by_mask(state: Any, key: Any) -> Any:
    import jax
    import jax.numpy as jnp

    reached = jnp.cumsum(state.legal_action_mask.astype(jnp.float32), axis=1)
    count = reached[:, -1]
    wanted = jnp.floor(jax.random.uniform(key, count.shape) * count)
    return (reached <= wanted[:, None]).sum(axis=1).astype(jnp.int32)


def _slices(init: Any, step: Any, sampler: Sampler, boards: int) -> Callable[[], int]:
    """A function that plays `PLIES` plies on every board."""
    import jax

    def one(state: Any, key: Any) -> tuple[Any, None]:
        choice, chance = jax.random.split(key)
        keys = jax.random.split(chance, boards)
        return jax.vmap(step)(state, sampler(state, choice), keys), None

    def scan(state: Any, key: Any) -> Any:
        return jax.lax.scan(one, state, jax.random.split(key, PLIES))[0]

    many = jax.jit(scan)
    state = jax.jit(jax.vmap(init))(jax.random.split(jax.random.key(0), boards))
    key = jax.random.key(1)

    def play() -> int:
        nonlocal state, key
        key, chance = jax.random.split(key)
        state = many(state, chance)
        _wait(state)
        return boards * PLIES

    return play


def _wait(tree: Any) -> None:
    """Until the arrays of a tree are computed, which a call only begins."""
    import jax

    for array in jax.tree.leaves(tree):
        array.block_until_ready()


# ---- PPO -----------------------------------------------------------------------------------------


def _ppo(make: Callable[[], tuple[Any, Any]], boards: int) -> Callable[[], int]:
    """Updates of a small PPO in self-play: the learner's steps, not its strength, are measured."""
    from boardenvs.bench.jax_ppo import STEPS, new_learner

    learner, update = new_learner(*make(), boards)

    def play() -> int:
        nonlocal learner
        learner = update(learner)
        _wait(learner)
        return boards * STEPS

    return play
