"""Players in JAX: uniformly random play, and policies, whose networks run in the same program.

Their functions take one board; `jax.vmap` makes them functions of batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.random import RandomAgent
from boardenvs.agents.spec import agent_for
from boardenvs.agents.trained import TrainedAgent, trained_policy
from boardenvs.game.jax_rules import Board, JaxRules

JaxLayer: TypeAlias = tuple[jax.Array, jax.Array]  # weights (inputs, outputs), biases (outputs,)

ACTIVATIONS = {"relu": jax.nn.relu, "tanh": jnp.tanh}

class JaxPlayer(NamedTuple):
    """A player, by how it draws its actions."""

    act: Callable[[Board, jax.Array], jax.Array]  # (board, key): a legal action, () int32
    chances: Callable[[Board], jax.Array]  # the probability of each action, (A,) float32


class Network(NamedTuple):
    """The layers of a `Policy`."""

    hidden: tuple[JaxLayer, ...]
    policy_head: JaxLayer
    value_head: JaxLayer


def network_of(policy: Policy) -> Network:
    """A policy's layers in JAX."""
    hidden = tuple(_layer(*layer) for layer in policy.hidden)
    return Network(hidden, _layer(*policy.policy_head), _layer(*policy.value_head))


def _layer(weights: object, biases: object) -> JaxLayer:
    return jnp.asarray(weights, jnp.float32), jnp.asarray(biases, jnp.float32)


def forward(
    network: Network, planes: jax.Array, activation: str = "relu"
) -> tuple[jax.Array, jax.Array]:
    """The outputs for planes (..., C * 64), as `JaxRules.planes` has them: logits of all actions,
    legal or not, (..., A) float32, and values (...,) float32.
    """
    x = planes.astype(jnp.float32)
    for weights, biases in network.hidden:
        x = ACTIVATIONS[activation](x @ weights + biases)
    (policy, policy_bias), (value, value_bias) = network.policy_head, network.value_head
    return x @ policy + policy_bias, (x @ value + value_bias)[..., 0]


def jax_player(rules: JaxRules, given: object) -> JaxPlayer:
    """The player in JAX of an agent or its text: "random", "trained", "policy:PATH", the last two
    with sample=true or without.

    ValueError for any other agent, or one that cannot play the game.
    """
    agent = agent_for(rules.game, given)
    if isinstance(agent, RandomAgent):
        return _random_player(rules)
    if isinstance(agent, TrainedAgent) and not agent.shield:
        agent = PolicyAgent(trained_policy(rules.game), agent.sample)
    if isinstance(agent, PolicyAgent):
        return _policy_player(rules, agent)
    raise ValueError(
        f"{given!r} does not play in JAX: those that do are 'random', 'trained' and 'policy:PATH', "
        "without a shield"
    )


def _random_player(rules: JaxRules) -> JaxPlayer:
    def chances(board: Board) -> jax.Array:
        legal = legal_or_noop(rules, board)
        return legal / legal.sum()

    return JaxPlayer(rules.sample, chances)


def _policy_player(rules: JaxRules, agent: PolicyAgent) -> JaxPlayer:
    """The policy's most probable action or, where it samples, one by its probabilities."""
    network, activation = network_of(agent.policy), agent.policy.activation

    def logits(board: Board) -> jax.Array:
        found, _ = forward(network, rules.planes(board), activation)
        return jnp.where(legal_or_noop(rules, board), found, -jnp.inf)

    def sample(board: Board, key: jax.Array) -> jax.Array:
        return jax.random.categorical(key, logits(board)).astype(jnp.int32)

    def best(board: Board, key: jax.Array) -> jax.Array:
        return logits(board).argmax().astype(jnp.int32)

    if agent.sample:
        return JaxPlayer(sample, lambda board: jax.nn.softmax(logits(board)))
    return JaxPlayer(best, lambda board: jax.nn.one_hot(logits(board).argmax(), rules.game.num_actions))


def legal_or_noop(rules: JaxRules, board: Board) -> jax.Array:
    """The legal actions, (A,) bool, and noop where the game is terminated."""
    return rules.legal(board).at[rules.game.noop].max(board.terminated)
