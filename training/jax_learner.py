"""What `training.jax_ppo` compiles: playing on all boards, and the epochs that learn from it.

For PPO itself see https://arxiv.org/abs/1707.06347, for a program of this form
https://github.com/luchris429/purejaxrl.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from boardenvs.agents.jax_players import JaxNetwork, draw_action, forward, network_of
from boardenvs.agents.network import FLAT_WEIGHT, NetworkInputs, flat_planes
from boardenvs.agents.policy import Policy
from boardenvs.game.contract import Game
from boardenvs.game.jax_rules import JaxRules
from training.boards import played_starts
from training.config import Config, PPOSettings
from training.jax_boards import Boards, Games, Pool, Result, Seen
from training.settings import SELF_PLAY, ConfigError

_NEVER = -1e8  # the logit of an illegal action: its probability is 0, its logarithm a number


class Learner(NamedTuple):
    """All that an update changes."""

    network: JaxNetwork  # its first layer takes what `Inputs` makes of an observation
    optimizer: optax.OptState
    games: Games
    key: jax.Array


class Inputs(NetworkInputs):
    """`NetworkInputs` of a game's observations, in JAX."""

    def __init__(self, game: Game) -> None:
        super().__init__(game.observation_shape[2], flat_planes(game))

    def __call__(self, planes: jax.Array) -> jax.Array:
        """The inputs (B, I) float32 of planes (B, C * 64)."""
        if not self.flat:
            return planes.astype(jnp.float32)
        by_plane = planes.reshape(len(planes), self.planes, 64)
        full = by_plane[:, np.array(self.full)].reshape(len(planes), -1).astype(jnp.float32)
        flat = by_plane[:, np.array(self.flat), 0] * FLAT_WEIGHT
        return jnp.concatenate([full, flat], axis=1)


def new_network(inputs: int, hidden: Sequence[int], actions: int, key: jax.Array) -> JaxNetwork:
    """Untrained layers, orthogonal, of the gains that Stable-Baselines3 has."""
    keys = iter(jax.random.split(key, len(hidden) + 2))

    def layer(inputs: int, outputs: int, gain: float) -> tuple[jax.Array, jax.Array]:
        weights = jax.nn.initializers.orthogonal(gain)(next(keys), (inputs, outputs), jnp.float32)
        return weights, jnp.zeros(outputs)

    sizes = [inputs, *hidden]
    layers = [layer(*pair, 2**0.5) for pair in zip(sizes, hidden, strict=False)]
    return JaxNetwork(tuple(layers), layer(hidden[-1], actions, 0.01), layer(hidden[-1], 1, 1.0))


class Step(NamedTuple):
    """What was seen and done in one step of all games, and later of an update, first axis time."""

    view: Seen
    actions: jax.Array
    log_chances: jax.Array  # the logarithm of each action's probability
    values: jax.Array
    result: Result


class Samples(NamedTuple):
    """Steps to learn from, one a row."""

    view: Seen
    actions: jax.Array
    log_chances: jax.Array
    advantages: jax.Array
    returns: jax.Array


class Trainer:
    """The compiled program of a run."""

    def __init__(self, config: Config) -> None:
        game = config.make_game()
        self.ppo: PPOSettings = config.ppo
        self.inputs = Inputs(game)
        self.boards = Boards(JaxRules(game), config.self_play, played_starts(config))
        self.optimizer = optax.chain(
            optax.clip_by_global_norm(config.ppo.max_gradient), optax.scale_by_adam(eps=1e-5)
        )
        self._new = jax.jit(self._untrained)
        self.update = jax.jit(self._update, donate_argnums=0)

    def new(self, seed: int, start: Policy | None = None) -> Learner:
        """A learner, untrained or with a policy's layers, and new games; ConfigError where there
        are no openings.
        """
        learner: Learner
        learner, there = self._new(jax.random.key(seed))
        if not there:
            raise ConfigError("self_play.opening_plies: no game lasts so long; lower them")
        if start is None:
            return learner
        policy = network_of(start)
        (first, biases), *rest = policy.hidden
        hidden = ((jnp.asarray(self.inputs.from_all_squares(np.array(first))), biases), *rest)
        return learner._replace(network=policy._replace(hidden=hidden))

    def _untrained(self, key: jax.Array) -> tuple[Learner, jax.Array]:
        network_key, opening_key, game_key, key = jax.random.split(key, 4)
        actions = self.boards.rules.game.num_actions
        network = new_network(self.inputs.size, self.ppo.hidden, actions, network_key)
        openings, there = self.boards.openings(opening_key, None)
        games = self.boards.begin(game_key, openings)
        return Learner(network, self.optimizer.init(network), games, key), there

    def _update(
        self, learner: Learner, pool: Pool | None, rate: jax.Array, bonus: jax.Array
    ) -> tuple[Learner, dict[str, jax.Array]]:
        """Steps on all boards and the epochs that learn from them; the learner and the metrics.

        `rate` is the step size, `bonus` that of the entropy.
        """
        key, opening_key, play_key, learn_key = jax.random.split(learner.key, 4)
        openings, _ = self.boards.openings(opening_key, pool)

        def step(games: Games, key: jax.Array) -> tuple[Games, Step]:
            choice_key, board_key = jax.random.split(key)
            view = self.boards.view(games)
            logits, values = self._judged(learner.network, view)
            actions = jax.vmap(draw_action)(logits, jax.random.split(choice_key, self.boards.size))
            chances = _of(jax.nn.log_softmax(logits), actions)
            games, result = self.boards.step(games, actions, board_key, openings, pool)
            return games, Step(view, actions, chances, values, result)

        keys = jax.random.split(play_key, self.ppo.steps_per_update)
        games, steps = lax.scan(step, learner.games, keys)
        _, last = self._judged(learner.network, self.boards.view(games))
        advantages = self._advantages(steps, last)
        returns = advantages + steps.values
        batch = Samples(steps.view, steps.actions, steps.log_chances, advantages, returns)
        batch = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)
        network, optimizer, metrics = self._learn(learner, batch, learn_key, rate, bonus)
        spread = jnp.var(returns)
        unexplained = jnp.where(spread > 0, jnp.var(advantages) / spread, jnp.nan)
        metrics |= self._game_metrics(steps.result)
        metrics["train/explained_variance"] = 1 - unexplained
        return Learner(network, optimizer, games, key), metrics

    def _judged(self, network: JaxNetwork, view: Seen) -> tuple[jax.Array, jax.Array]:
        """Logits of the actions, those of illegal ones very low, and values."""
        logits, values = forward(network, self.inputs(view.planes))
        return jnp.where(view.legal, logits, _NEVER), values

    def _advantages(self, steps: Step, last: jax.Array) -> jax.Array:
        """Generalised advantage estimates, (T, B): https://arxiv.org/abs/1506.02438.

        The factor of the next state's value is the board's: -1 where that is the other side's.
        """
        discounts, decay = self.boards.discounts, self.ppo.gae_lambda

        def before(
            later: tuple[jax.Array, jax.Array], step: Step
        ) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
            advantage, value = later
            factor = jnp.where(step.result.over, 0.0, discounts)
            error = step.result.rewards + factor * value - step.values
            advantage = error + factor * decay * advantage
            return (advantage, step.values), advantage

        first = (jnp.zeros_like(last), last)
        return lax.scan(before, first, steps, reverse=True)[1]

    def _learn(
        self, learner: Learner, batch: Samples, key: jax.Array, rate: jax.Array, bonus: jax.Array
    ) -> tuple[JaxNetwork, optax.OptState, dict[str, jax.Array]]:
        """The epochs of gradient steps, until the policy has moved by `target_kl` where set."""
        ppo, rows = self.ppo, len(batch.actions)
        limit = jnp.inf if ppo.target_kl is None else 1.5 * ppo.target_kl  # as sb3-contrib has it
        gradient = jax.grad(partial(self._loss, bonus=bonus), has_aux=True)

        def gradient_step(
            carry: tuple[JaxNetwork, optax.OptState], part: Samples
        ) -> tuple[tuple[JaxNetwork, optax.OptState, jax.Array], dict[str, jax.Array]]:
            network, optimizer = carry
            gradients, metrics = gradient(network, part)
            changes, new_optimizer = self.optimizer.update(gradients, optimizer, network)
            changes = jax.tree.map(lambda x: -rate * x, changes)
            goes_on = metrics["train/approx_kl"] <= limit
            new = optax.apply_updates(network, changes), new_optimizer
            chosen = jax.tree.map(lambda x, y: jnp.where(goes_on, x, y), new, carry)
            return (*chosen, goes_on), metrics

        def epoch(carry: Any, key: jax.Array) -> tuple[Any, dict[str, jax.Array]]:
            # One sort; `permutation` sorts twice, to be fair where two numbers are the same.
            order = jnp.argsort(jax.random.bits(key, (rows,))).reshape(-1, ppo.batch_size)

            def one(carry: Any, chosen: jax.Array) -> tuple[Any, dict[str, jax.Array]]:
                network, optimizer, goes_on = carry
                part = jax.tree.map(lambda x: x[chosen], batch)
                done: tuple[Any, dict[str, jax.Array]] = lax.cond(
                    goes_on,
                    lambda: gradient_step((network, optimizer), part),
                    lambda: (carry, dict.fromkeys(_LOSSES, jnp.nan)),
                )
                return done

            going = carry[2]
            carry, metrics = lax.scan(one, carry, order)
            return carry, metrics | {"train/epochs": going.astype(jnp.float32)}

        carry = (learner.network, learner.optimizer, jnp.bool_(True))
        (network, optimizer, _), metrics = lax.scan(epoch, carry, jax.random.split(key, ppo.epochs))
        epochs = metrics.pop("train/epochs").sum()
        means = {name: jnp.nanmean(values) for name, values in metrics.items()}
        return network, optimizer, means | {"train/epochs": epochs}

    def _loss(
        self, network: JaxNetwork, part: Samples, bonus: jax.Array
    ) -> tuple[jax.Array, dict[str, jax.Array]]:
        """PPO's clipped objective, the value's squared error and the entropy."""
        logits, values = self._judged(network, part.view)
        log_chances = jax.nn.log_softmax(logits)
        change = _of(log_chances, part.actions) - part.log_chances
        ratio, clip = jnp.exp(change), self.ppo.clip_range
        advantages = part.advantages - part.advantages.mean()
        advantages /= part.advantages.std(ddof=1) + 1e-8
        clipped = jnp.clip(ratio, 1 - clip, 1 + clip)
        policy = -jnp.minimum(ratio * advantages, clipped * advantages).mean()
        value = jnp.square(part.returns - values).mean()
        entropy = -(jnp.exp(log_chances) * log_chances).sum(axis=1).mean()
        loss = policy + self.ppo.value_weight * value - bonus * entropy
        metrics = (entropy, policy, value, (ratio - 1 - change).mean(),
                   (jnp.abs(ratio - 1) > clip).mean())  # fmt: skip
        return loss, dict(zip(_LOSSES, metrics, strict=True))

    def _game_metrics(self, result: Result) -> dict[str, jax.Array]:
        """The metrics of the games that ended; nan where none did."""
        over = result.over
        metrics = {
            "games/plies": jnp.where(over, result.plies, 0).sum() / over.sum(),
            "games/wiped_out": result.wiped_out.sum() / over.sum(),
        }
        for name in dict.fromkeys(g.name for g in self.boards.groups if g.name != SELF_PLAY):
            rows = jnp.concatenate(
                [jnp.arange(*g.rows.indices(self.boards.size)) for g in self.boards.groups
                 if g.name == name]
            )  # fmt: skip
            points = jnp.where(over, (1 + result.rewards) / 2, 0)[:, rows].sum()
            metrics[f"games/{name}"] = points / over[:, rows].sum()
        return metrics


_LOSSES = ("train/entropy", "train/policy_loss", "train/value_loss", "train/approx_kl",
           "train/clip_fraction")  # fmt: skip


def _of(values: jax.Array, actions: jax.Array) -> jax.Array:
    """The value of each row's action."""
    return jnp.take_along_axis(values, actions[:, None], axis=1)[:, 0]
