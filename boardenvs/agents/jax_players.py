"""Players in JAX: uniformly random play, and policies, whose networks run in the same program.

Their functions take one board; `jax.vmap` makes functions of batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from boardenvs.utils.imports import extra

with extra("jax"):
    import jax
    import jax.numpy as jnp

import numpy as np

from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_network import PolicyNetwork, array_library
from boardenvs.agents.shield import Shield
from boardenvs.agents.simple import RandomAgent
from boardenvs.agents.spec import agent_for
from boardenvs.agents.trained import TrainedAgent
from boardenvs.game.game import Game
from boardenvs.game.jax_rules import JaxPosition, JaxRules
from boardenvs.utils.checks import quote

# Draws a legal action, () int32, on a board by a random key.
JaxPlayer: TypeAlias = Callable[[JaxPosition, jax.Array], jax.Array]

# Returns the logits of the actions, (A,) float32, and the value to the side to move, () float32.
JaxEvaluator: TypeAlias = Callable[[JaxPosition], tuple[jax.Array, jax.Array]]

# The logits of illegal actions: their probability is 0, and a search may add to them.
NEVER = float(np.finfo(np.float32).min)


def forward(
    game: Game, network: PolicyNetwork, inputs: jax.Array, legal: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return the logits (..., A) float32, `NEVER` where an action is not legal, and the values
    (...,) float32, for the planes' bits (..., C * R * F) and legal actions (..., A).
    """
    ranks, files, planes = game.observation_shape
    logits, values = network.outputs(inputs.reshape(-1, planes, ranks, files), array_library(jnp))
    return jnp.where(legal, logits.reshape(legal.shape), NEVER), values.reshape(legal.shape[:-1])


def draw_action(logits: jax.Array, key: jax.Array) -> jax.Array:
    """Draw an action by the probabilities of logits (A,), () int32, with one random number;
    `jax.random.categorical` draws one for every action.
    """
    reached = jnp.cumsum(jax.nn.softmax(logits))
    height = (1 - jax.random.uniform(key)) * reached[-1]  # above 0, and never too high
    return (reached < height).sum().astype(jnp.int32)


def jax_evaluator(rules: JaxRules, player: object) -> JaxEvaluator:
    """Return the network of a policy agent or its text; the value is from -1 to 1.

    ValueError for an agent without such a network.
    """
    agent = _agent(rules.game, player)
    inner = agent.agent if isinstance(agent, Shield) else agent
    if not isinstance(inner, PolicyAgent) or inner.symmetries:
        raise ValueError(
            f"{quote(player)} has no network in JAX: 'trained' and 'policy:PATH' have one, without "
            "symmetries"
        )
    policy = inner.policy
    own, before = JaxRules(policy.game), policy.plies_before(rules.game)

    def evaluate(board: JaxPosition) -> tuple[jax.Array, jax.Array]:
        seen, places = board._replace(ply=board.ply + before), jnp.arange(own.game.num_actions)
        if policy.mover_view:
            seen, places = own.by_mover(seen)
        legal = own.legal(seen).at[own.game.noop].max(board.terminated)
        logits, value = forward(own.game, policy.network, own.planes(seen), legal)
        return logits[places], jnp.clip(value, -1, 1)

    return evaluate


def jax_player(rules: JaxRules, player: object) -> JaxPlayer:
    """Return the player in JAX of an agent or its text; ValueError if it does not play in JAX."""
    agent = _agent(rules.game, player)
    if isinstance(agent, RandomAgent):
        return rules.sample
    if not isinstance(agent, PolicyAgent) or agent.symmetries:
        raise ValueError(
            f"{quote(player)} does not play in JAX: 'random', 'trained' and 'policy:PATH' do, "
            "without a shield or symmetries"
        )
    evaluate, sample = jax_evaluator(rules, agent), agent.sample

    def act(board: JaxPosition, key: jax.Array) -> jax.Array:
        logits, _ = evaluate(board)
        return draw_action(logits, key) if sample else logits.argmax().astype(jnp.int32)

    return act


def _agent(game: Game, player: object) -> object:
    agent = agent_for(game, player)
    return agent.player(game) if isinstance(agent, TrainedAgent) else agent
