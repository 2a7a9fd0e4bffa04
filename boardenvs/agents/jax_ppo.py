"""PPO in JAX: a network, and the gradient steps of an update, whatever boards were played on.

For PPO itself see https://arxiv.org/abs/1707.06347, for a program of this form
https://github.com/luchris429/purejaxrl.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import optax
from jax import lax

from boardenvs.agents.jax_players import JaxNetwork, draw_action
from boardenvs.game.jax_rules import choose

# Logits of actions (B, A), very low where illegal, and values (B,), of what is seen of B boards.
Forward: TypeAlias = Callable[[JaxNetwork, Any], tuple[jax.Array, jax.Array]]

METRICS = ("entropy", "policy_loss", "value_loss", "approx_kl", "clip_fraction")


class Result(NamedTuple):
    """What a step brought on B boards."""

    rewards: jax.Array  # (B,) float32, of who acted: +1, 0 or -1
    over: jax.Array  # (B,) bool
    discounts: jax.Array  # (B,): what the next state's value counts
    more: Any = None  # what the caller wants of it


class Samples(NamedTuple):
    """What gradients are computed of, first axis steps of games; `seen` is what `Forward` takes."""

    seen: Any
    actions: jax.Array
    log_probabilities: jax.Array  # of the actions, when they were drawn
    advantages: jax.Array
    returns: jax.Array


def new_network(inputs: int, hidden: Sequence[int], actions: int, key: jax.Array) -> JaxNetwork:
    """Untrained layers, orthogonal, of the gains that Stable-Baselines3 has."""
    keys = iter(jax.random.split(key, len(hidden) + 2))

    def layer(inputs: int, outputs: int, gain: float) -> tuple[jax.Array, jax.Array]:
        weights = jax.nn.initializers.orthogonal(gain)(next(keys), (inputs, outputs), jnp.float32)
        return weights, jnp.zeros(outputs, jnp.float32)

    pairs = zip([inputs, *hidden], hidden, strict=False)
    layers = tuple(layer(*pair, 2**0.5) for pair in pairs)
    return JaxNetwork(layers, layer(hidden[-1], actions, 0.01), layer(hidden[-1], 1, 1.0))


def advantages(
    rewards: jax.Array,
    over: jax.Array,
    values: jax.Array,
    last: jax.Array,
    discounts: jax.Array,
    decay: float,
) -> jax.Array:
    """Generalised advantage estimates, (T, B): https://arxiv.org/abs/1506.02438.

    Of T steps on B boards: rewards, whether the game was over after them, values before them, and
    what the values after them count, -1 where the next state is the other side's, (T, B); `last`
    are the values after the last one, (B,).
    """

    def before(later: tuple[jax.Array, jax.Array], step: Any) -> Any:
        (advantage, next_value), (reward, ended, value, discount) = later, step
        factor = jnp.where(ended, 0.0, discount)
        advantage = reward + factor * next_value - value + factor * decay * advantage
        return (advantage, value), advantage

    first = (jnp.zeros_like(last), last)
    found: jax.Array = lax.scan(before, first, (rewards, over, values, discounts), reverse=True)[1]
    return found


@dataclass(frozen=True)
class PPO:
    """How samples are made and learnt from."""

    forward: Forward
    batch_size: int
    gae_lambda: float = 0.9
    epochs: int = 1
    clip_range: float = 0.2
    value_weight: float = 0.5
    max_gradient: float = 0.5
    target_kl: float | None = None  # the update ends where the policy has moved so far

    @property
    def optimizer(self) -> optax.GradientTransformation:
        """Adam after clipping; its changes still lack the rate and the sign."""
        return optax.chain(
            optax.clip_by_global_norm(self.max_gradient), optax.scale_by_adam(eps=1e-5)
        )

    def play(
        self,
        network: JaxNetwork,
        games: Any,
        view: Callable[[Any], Any],
        step: Callable[[Any, jax.Array, jax.Array], tuple[Any, Result]],
        keys: jax.Array,
    ) -> tuple[Any, Samples, Result]:
        """A step on all boards for each of T keys; the games after them, samples, and the results,
        (T, B).

        `view(games)` is what is seen of games, `step(games, actions, key)` plays on.
        """

        def one(games: Any, key: jax.Array) -> tuple[Any, Any]:
            choice_key, board_key = jax.random.split(key)
            seen = view(games)
            logits, values = self.forward(network, seen)
            actions = jax.vmap(draw_action)(logits, jax.random.split(choice_key, len(values)))
            drawn = of_actions(jax.nn.log_softmax(logits), actions)
            games, result = step(games, actions, board_key)
            return games, (seen, actions, drawn, values, result)

        games, (seen, actions, drawn, values, result) = lax.scan(one, games, keys)
        _, last = self.forward(network, view(games))
        over, discounts = result.over, result.discounts
        gained = advantages(result.rewards, over, values, last, discounts, self.gae_lambda)
        samples = Samples(seen, actions, drawn, gained, gained + values)
        return games, jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), samples), result

    def learn(
        self,
        network: JaxNetwork,
        memory: optax.OptState,
        samples: Samples,
        key: jax.Array,
        rate: jax.Array | float,
        bonus: jax.Array | float = 0.0,
    ) -> tuple[JaxNetwork, optax.OptState, dict[str, jax.Array]]:
        """The epochs of gradient steps; means of `METRICS`, and how many "epochs" began.

        `rate` is the step size, `bonus` that of the entropy.
        """
        rows = len(samples.actions)
        limit = jnp.inf if self.target_kl is None else 1.5 * self.target_kl  # as sb3-contrib has it

        def gradient_step(network: JaxNetwork, memory: Any, part: Samples) -> Any:
            gradients, metrics = jax.grad(self._loss, has_aux=True)(network, part, bonus)
            changes, new_memory = self.optimizer.update(gradients, memory, network)
            new = jax.tree.map(lambda x, change: x - rate * change, network, changes)
            goes_on = metrics["approx_kl"] <= limit
            return (*choose(goes_on, (new, new_memory), (network, memory)), goes_on), metrics

        def one(carry: Any, chosen: jax.Array) -> Any:
            network, memory, goes_on = carry
            return lax.cond(
                goes_on,
                lambda: gradient_step(network, memory, jax.tree.map(lambda x: x[chosen], samples)),
                lambda: (carry, dict.fromkeys(METRICS, jnp.float32(jnp.nan))),
            )

        def epoch(carry: Any, key: jax.Array) -> Any:
            # One sort; `permutation` sorts twice, to be fair where two numbers are the same.
            order = jnp.argsort(jax.random.bits(key, (rows,))).reshape(-1, self.batch_size)
            began = carry[2]
            carry, metrics = lax.scan(one, carry, order)
            return carry, metrics | {"epochs": began.astype(jnp.float32)}

        carry = (network, memory, jnp.bool_(True))
        (network, memory, _), metrics = lax.scan(epoch, carry, jax.random.split(key, self.epochs))
        began = metrics.pop("epochs").sum()
        means = {name: jnp.nanmean(values) for name, values in metrics.items()}
        return network, memory, means | {"epochs": began}

    def _loss(
        self, network: JaxNetwork, part: Samples, bonus: jax.Array | float
    ) -> tuple[jax.Array, dict[str, jax.Array]]:
        """PPO's clipped objective, the value's squared error and the entropy."""
        logits, values = self.forward(network, part.seen)
        log_probabilities = jax.nn.log_softmax(logits)
        change = of_actions(log_probabilities, part.actions) - part.log_probabilities
        ratio = jnp.exp(change)
        gained = part.advantages - part.advantages.mean()
        gained /= part.advantages.std(ddof=1) + 1e-8
        clipped = jnp.clip(ratio, 1 - self.clip_range, 1 + self.clip_range)
        policy = -jnp.minimum(ratio * gained, clipped * gained).mean()
        value = jnp.square(part.returns - values).mean()
        entropy = -(jnp.exp(log_probabilities) * log_probabilities).sum(axis=1).mean()
        moved = (jnp.abs(ratio - 1) > self.clip_range).mean()
        metrics = (entropy, policy, value, (ratio - 1 - change).mean(), moved)
        loss = policy + self.value_weight * value - bonus * entropy
        return loss, dict(zip(METRICS, metrics, strict=True))


def of_actions(values: jax.Array, actions: jax.Array) -> jax.Array:
    """The value of each row's action, (B,), of values (B, A)."""
    return jnp.take_along_axis(values, actions[:, None], axis=1)[:, 0]
