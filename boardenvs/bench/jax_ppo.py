"""A small PPO in self-play over any environment whose states are as Pgx's, to be timed.

One policy plays both sides: the next state's value counts against the mover.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from boardenvs.agents.jax_players import JaxNetwork, draw_action, forward
from boardenvs.agents.jax_ppo import NEVER, PPO, Samples, advantages, new_network, of_actions

STEPS, BATCHES, LAMBDA, RATE = 32, 16, 0.9, 1e-3
HIDDEN = (128, 128)


def new_learner(init: Any, step: Any, boards: int) -> tuple[Any, Callable[[Any], Any]]:
    """A learner over so many boards, and the compiled update that makes the next one of it:
    `STEPS` steps on each board, and one pass over them in `BATCHES` gradient steps.
    """
    ppo = PPO(_evaluate, batch_size=boards * STEPS // BATCHES)
    states = jax.jit(jax.vmap(init))(jax.random.split(jax.random.key(0), boards))
    inputs, actions = states.observation[0].size, states.legal_action_mask.shape[1]
    network = new_network(inputs, HIDDEN, actions, jax.random.key(1))

    def play(carry: Any, key: Any) -> tuple[Any, Any]:
        network, states = carry
        choice, chance = jax.random.split(key)
        seen, mover = (states.observation, states.legal_action_mask), states.current_player
        logits, values = _evaluate(network, seen)
        chosen = jax.vmap(draw_action)(logits, jax.random.split(choice, boards))
        states = jax.vmap(step)(states, chosen, jax.random.split(chance, boards))
        rewards = jnp.take_along_axis(states.rewards, mover[:, None], axis=1)[:, 0]
        over = states.terminated | states.truncated
        old = of_actions(jax.nn.log_softmax(logits), chosen)
        return (network, states), (seen, chosen, old, rewards, over, values)

    def update(learner: Any) -> Any:
        network, memory, states, key = learner
        key, play_key, order_key = jax.random.split(key, 3)
        keys = jax.random.split(play_key, STEPS)
        (_, states), played = lax.scan(play, (network, states), keys)
        seen, chosen, old, rewards, over, values = played
        _, last = _evaluate(network, (states.observation, states.legal_action_mask))
        gained = advantages(rewards, over, values, last, -1.0, LAMBDA)
        samples = Samples(seen, chosen, old, gained, gained + values)
        samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), samples)
        network, memory, _ = ppo.learn(network, memory, samples, order_key, RATE)
        return network, memory, states, key

    learner = (network, ppo.optimizer.init(network), states, jax.random.key(2))
    return learner, jax.jit(update)


def _evaluate(network: JaxNetwork, seen: Any) -> tuple[Any, Any]:
    """The logits of legal actions, (B, A), and values, (B,)."""
    observations, legal = seen
    logits, values = forward(network, observations.reshape(len(observations), -1))
    return jnp.where(legal, logits, NEVER), values
