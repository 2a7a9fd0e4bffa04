"""Random play and PPO in JAX, ours and Pgx's: `python -m boardenvs.bench --jax`.

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

from boardenvs.agents.jax_players import JaxNetwork, forward
from boardenvs.bench.measure import Workload
from boardenvs.envs.jax import JaxEnv
from boardenvs.game.contract import Game
from boardenvs.games import spec_of

PLIES = 16  # on every board, in one compiled scan

# Of PPO: steps on every board in an update, gradient steps, the step size, the layers' widths.
STEPS, BATCHES, RATE, HIDDEN = 32, 16, 1e-3, (128, 128)

# Makes an environment: `init`, `step`, which begins new games, and `sample`, all of one board.
Make: TypeAlias = Callable[[], Any]


def in_jax(games: list[Game], sizes: list[int], *, peers: bool) -> Iterator[Workload]:
    """Random play of these games and PPO, and the same of Pgx's Othello where it is installed."""
    has_pgx, has_optax = bool(find_spec("pgx")), bool(find_spec("optax"))
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
        if has_optax:
            yield row(interface="PPO", start=partial(_ppo, make, size), unit="steps")


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


# ---- PPO -----------------------------------------------------------------------------------------


def _ppo(make: Make, boards: int) -> Callable[[], int]:
    """Updates of a small PPO in self-play: the learner's steps, not its strength, are measured.

    One policy plays both sides: the next state's value counts against the mover.
    """
    from boardenvs.agents.jax_ppo import PPO, Result, new_network

    env = make()
    states = _begin(env, boards)
    ppo = PPO(_evaluate, batch_size=boards * STEPS // BATCHES)
    inputs, actions = states.observation[0].size, states.legal_action_mask.shape[1]
    network = new_network(inputs, HIDDEN, actions, jax.random.key(1))

    def view(states: Any) -> Any:
        return states.observation, states.legal_action_mask

    def step(states: Any, actions: jax.Array, key: jax.Array) -> tuple[Any, Result]:
        mover = states.current_player[:, None]
        states = jax.vmap(env.step)(states, actions, jax.random.split(key, boards))
        rewards = jnp.take_along_axis(states.rewards, mover, axis=1)[:, 0]
        over = states.terminated | states.truncated
        return states, Result(rewards, over, jnp.full(boards, -1.0))

    def update(learner: Any) -> Any:
        network, memory, states, key = learner
        key, play_key, order_key = jax.random.split(key, 3)
        keys = jax.random.split(play_key, STEPS)
        states, samples, _ = ppo.play(network, states, view, step, keys)
        network, memory, _ = ppo.learn(network, memory, samples, order_key, RATE)
        return network, memory, states, key

    learner = (network, ppo.optimizer.init(network), states, jax.random.key(2))
    return _slices(jax.jit(update), learner, boards * STEPS)


def _evaluate(network: JaxNetwork, seen: Any) -> tuple[Any, Any]:
    observations, legal = seen
    return forward(network, observations.reshape(len(observations), -1), legal)
