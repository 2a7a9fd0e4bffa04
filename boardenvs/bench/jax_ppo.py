"""A small PPO in self-play over any environment whose states are as Pgx's, to be timed.

One policy plays both sides: the next state's value counts against the mover.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import lax

STEPS, BATCHES, LAMBDA, CLIP = 32, 16, 0.9, 0.2
HIDDEN = (128, 128)
_NEVER = -1e8


def new_learner(init: Any, step: Any, boards: int) -> tuple[Any, Callable[[Any], Any]]:
    """A learner over so many boards, and the compiled update that makes the next one of it:
    `STEPS` steps on each board, and one pass over them in `BATCHES` gradient steps.
    """
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3, eps=1e-5))
    states = jax.jit(jax.vmap(init))(jax.random.split(jax.random.key(0), boards))
    inputs, actions = states.observation[0].size, states.legal_action_mask.shape[1]
    layers = _new_layers((inputs, *HIDDEN, actions + 1))

    def play(carry: Any, key: Any) -> tuple[Any, Any]:
        layers, states = carry
        choice, chance = jax.random.split(key)
        seen, legal, mover = states.observation, states.legal_action_mask, states.current_player
        chances, values = _judged(layers, seen, legal)
        chosen = jax.random.categorical(choice, chances).astype(jnp.int32)
        states = jax.vmap(step)(states, chosen, jax.random.split(chance, boards))
        rewards = jnp.take_along_axis(states.rewards, mover[:, None], axis=1)[:, 0]
        over = states.terminated | states.truncated
        old = jnp.take_along_axis(chances, chosen[:, None], axis=1)[:, 0]
        return (layers, states), (seen, legal, chosen, old, values, rewards, over)

    def learn(carry: Any, part: Any) -> tuple[Any, None]:
        layers, memory = carry
        changes, memory = optimizer.update(jax.grad(_loss)(layers, part), memory, layers)
        return (optax.apply_updates(layers, changes), memory), None

    def update(learner: Any) -> Any:
        layers, memory, states, key = learner
        key, play_key, order_key = jax.random.split(key, 3)
        (_, states), steps = lax.scan(play, (layers, states), jax.random.split(play_key, STEPS))
        *acts, values, rewards, over = steps
        last = _judged(layers, states.observation, states.legal_action_mask)[1]
        start = jnp.zeros_like(last), last
        advantages = lax.scan(_before, start, (values, rewards, over), reverse=True)[1]
        rows = boards * STEPS
        order = jax.random.permutation(order_key, rows).reshape(BATCHES, -1)
        data = [x.reshape(rows, *x.shape[2:]) for x in (*acts, advantages, advantages + values)]
        parts = [x[order] for x in data]
        (layers, memory), _ = lax.scan(learn, (layers, memory), parts)
        return layers, memory, states, key

    learner = (layers, optimizer.init(layers), states, jax.random.key(2))
    return learner, jax.jit(update)


def _new_layers(sizes: Sequence[int]) -> list[tuple[Any, Any]]:
    """Weights and biases between layers of these sizes."""
    draw = jax.nn.initializers.orthogonal(2**0.5)
    keys = jax.random.split(jax.random.key(1), len(sizes))
    return [
        (draw(key, shape, jnp.float32), jnp.zeros(shape[1]))
        for key, shape in zip(keys, itertools.pairwise(sizes), strict=False)
    ]


def _judged(layers: Any, seen: Any, legal: Any) -> tuple[Any, Any]:
    """The logarithms of chances, (B, A), and values, (B,)."""
    x = seen.reshape(len(seen), -1).astype(jnp.float32)
    for weights, biases in layers[:-1]:
        x = jax.nn.relu(x @ weights + biases)
    out = x @ layers[-1][0] + layers[-1][1]
    return jax.nn.log_softmax(jnp.where(legal, out[:, 1:], _NEVER)), out[:, 0]


def _before(later: Any, step: Any) -> tuple[Any, Any]:
    """The advantages of a step, by those of the step after it."""
    (advantage, next_value), (value, reward, over) = later, step
    factor = jnp.where(over, 0.0, -1.0)
    advantage = reward + factor * next_value - value + factor * LAMBDA * advantage
    return (advantage, value), advantage


def _loss(layers: Any, part: Any) -> Any:
    """PPO's, of some steps."""
    seen, legal, chosen, old, advantages, returns = part
    chances, values = _judged(layers, seen, legal)
    ratio = jnp.exp(jnp.take_along_axis(chances, chosen[:, None], axis=1)[:, 0] - old)
    scaled = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    gain = jnp.minimum(ratio * scaled, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * scaled).mean()
    return 0.5 * jnp.square(values - returns).mean() - gain
