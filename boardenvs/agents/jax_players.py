"""Players in JAX: uniformly random play, and policies, whose networks run in the same program.

Their functions take one board; `jax.vmap` makes them functions of batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from boardenvs.agents.jax_shield import shielded
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.shield import Shield
from boardenvs.agents.simple import RandomAgent
from boardenvs.agents.spec import agent_for
from boardenvs.agents.trained import TrainedAgent
from boardenvs.game.contract import Game
from boardenvs.game.jax_rules import JaxPosition, JaxRules
from boardenvs.utils.checks import quote

JaxLayer: TypeAlias = tuple[jax.Array, jax.Array]  # weights (inputs, outputs), biases (outputs,)

# (A,) float32, and the value to the side to
# move, () float32.
Evaluator: TypeAlias = Callable[[JaxPosition], tuple[jax.Array, jax.Array]]

ACTIVATIONS = {"relu": jax.nn.relu, "tanh": jnp.tanh}

# The logits of illegal actions. Their probability is 0, and a search may add to them.
NEVER = float(np.finfo(np.float32).min)


class JaxPlayer(NamedTuple):
    """A player, by how it draws its actions."""

    act: Callable[[JaxPosition, jax.Array], jax.Array]  # (board, key): a legal action, () int32
    probabilities: Callable[[JaxPosition], jax.Array]  # (A,) float32


class JaxNetwork(NamedTuple):
    """The layers of a `Policy`."""

    hidden: tuple[JaxLayer, ...]
    policy_head: JaxLayer
    value_head: JaxLayer


def network_of(policy: Policy) -> JaxNetwork:
    """A policy's layers in JAX."""
    layers = JaxNetwork(policy.hidden, policy.policy_head, policy.value_head)  # type: ignore[arg-type]
    network: JaxNetwork = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), layers)
    return network


def forward(
    network: JaxNetwork, inputs: jax.Array, legal: jax.Array, activation: str = "relu"
) -> tuple[jax.Array, jax.Array]:
    """The outputs for inputs (..., I), as the first layer takes them, where actions (..., A) are
    legal: logits (..., A) float32, `NEVER` for illegal actions, and values (...,) float32.
    """
    x = inputs.astype(jnp.float32)
    for weights, biases in network.hidden:
        x = ACTIVATIONS[activation](x @ weights + biases)
    (policy, policy_bias), (value, value_bias) = network.policy_head, network.value_head
    return jnp.where(legal, x @ policy + policy_bias, NEVER), (x @ value + value_bias)[..., 0]


def jax_player(rules: JaxRules, given: object) -> JaxPlayer:
    """The player in JAX of an agent or its text; ValueError as of `jax_agent`."""
    agent, has_shield = jax_agent(rules.game, given)
    if isinstance(agent, PolicyAgent):
        evaluate = _policy_evaluator(rules, agent.policy)
        shield = rules if has_shield else None
        return network_player(evaluate, sample=agent.sample, shield=shield)

    def probabilities(board: JaxPosition) -> jax.Array:
        legal = _legal_or_noop(rules, board)
        return legal / legal.sum()

    return JaxPlayer(rules.sample, probabilities)


def jax_evaluator(rules: JaxRules, given: object) -> Evaluator:
    """The network of a policy, an agent or its text; ValueError as of `jax_agent`, and for an agent
    without a network.
    """
    agent, _ = jax_agent(rules.game, given)
    if isinstance(agent, RandomAgent):
        raise ValueError(f"{quote(given)} has no network: 'trained' and 'policy:PATH' have one")
    return _policy_evaluator(rules, agent.policy)


def _policy_evaluator(rules: JaxRules, policy: Policy) -> Evaluator:
    return network_evaluator(rules, network_of(policy), policy.activation)


def network_evaluator(rules: JaxRules, network: JaxNetwork, activation: str = "relu") -> Evaluator:
    """The outputs of a network for a board; the value is from -1 to 1."""

    def evaluate(board: JaxPosition) -> tuple[jax.Array, jax.Array]:
        legal = _legal_or_noop(rules, board)
        logits, value = forward(network, rules.planes(board), legal, activation)
        return logits, jnp.clip(value, -1, 1)

    return evaluate


def jax_agent(game: Game, given: object) -> tuple[RandomAgent | PolicyAgent, bool]:
    """The agent that plays in JAX of an object or a text, "random", "trained" or "policy:PATH" with
    the parameters that it has, and whether it has a shield.

    ValueError for any other agent, or one that cannot play the game.
    """
    agent = agent_for(game, given)
    if isinstance(agent, TrainedAgent):
        agent = agent.player(game)
    has_shield = isinstance(agent, Shield)
    inner = agent.agent if isinstance(agent, Shield) else agent
    if isinstance(inner, PolicyAgent) or (isinstance(inner, RandomAgent) and not has_shield):
        return inner, has_shield
    raise ValueError(
        f"{quote(given)} does not play in JAX: those that do are 'random', 'trained' and "
        "'policy:PATH'"
    )


def network_player(
    evaluate: Evaluator, *, sample: bool, shield: JaxRules | None = None
) -> JaxPlayer:
    """The network's most probable action or, where it samples, one by its probabilities; with the
    shield by these rules, if any.
    """

    def act(board: JaxPosition, key: jax.Array) -> jax.Array:
        logits, _ = evaluate(board)
        action = draw_action(logits, key) if sample else logits.argmax().astype(jnp.int32)
        return action if shield is None else shielded(shield, board, action, logits)

    def probabilities(board: JaxPosition) -> jax.Array:
        logits, _ = evaluate(board)
        share = jax.nn.softmax(logits) if sample else jax.nn.one_hot(logits.argmax(), len(logits))
        if shield is None:
            return share

        def played(action: jax.Array) -> jax.Array:
            found: jax.Array = jax.lax.cond(
                share[action] > 0,
                lambda: shielded(shield, board, action, logits),
                lambda: action,
            )
            return found

        # One by one: an action that is never chosen is passed over then.
        actions = jax.lax.map(played, jnp.arange(len(share), dtype=jnp.int32))
        return jnp.zeros_like(share).at[actions].add(share)

    return JaxPlayer(act, probabilities)


def draw_action(logits: jax.Array, key: jax.Array) -> jax.Array:
    """An action by the probabilities of logits (A,), () int32: the first at which their sum reaches
    a random height. `jax.random.categorical` draws a number for every action, this one for all.
    """
    reached = jnp.cumsum(jax.nn.softmax(logits))
    height = (1 - jax.random.uniform(key)) * reached[-1]  # above 0, and never too high
    return (reached < height).sum().astype(jnp.int32)


def _legal_or_noop(rules: JaxRules, board: JaxPosition) -> jax.Array:
    """The legal actions, (A,) bool, and noop where the game is terminated."""
    return rules.legal(board).at[rules.game.noop].max(board.terminated)
