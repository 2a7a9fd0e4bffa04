"""What `training.jax_ppo` compiles: playing on all boards, and learning from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from boardenvs.agents.jax_players import JaxNetwork, draw_action, forward, network_of
from boardenvs.agents.jax_ppo import NEVER, PPO, Samples, advantages, new_network, of_actions
from boardenvs.agents.network import FLAT_WEIGHT, NetworkInputs, flat_planes
from boardenvs.agents.policy import Policy
from boardenvs.game.contract import Game
from boardenvs.game.jax_rules import JaxRules
from training.boards import played_starts
from training.config import Config
from training.jax_boards import Boards, Games, Pool, Result, Seen
from training.settings import SELF_PLAY, ConfigError


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
        by_plane = planes.reshape(len(planes), self.planes, 64).astype(jnp.float32)
        full = by_plane[:, np.array(self.full, int)].reshape(len(planes), -1)
        flat = by_plane[:, np.array(self.flat, int), 0] * FLAT_WEIGHT
        return jnp.concatenate([full, flat], axis=1)


class Trainer:
    """The compiled program of a run."""

    def __init__(self, config: Config) -> None:
        ppo, game = config.ppo, config.make_game()
        self.boards = Boards(JaxRules(game), config.self_play, played_starts(config))
        self.inputs = Inputs(game)
        self.ppo = PPO(
            self._evaluate,
            ppo.epochs,
            ppo.batch_size,
            ppo.clip_range,
            ppo.value_weight,
            ppo.max_gradient,
            ppo.target_kl,
        )
        self._settings = ppo
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
        policy: Any = network_of(start)
        (first, biases), *rest = policy.hidden
        hidden = ((jnp.asarray(self.inputs.from_all_squares(first)), biases), *rest)
        return learner._replace(network=policy._replace(hidden=hidden))

    def layers(self, learner: Learner) -> Any:
        """The learner's layers in NumPy as those of a policy, which takes squares as they are."""
        network = jax.tree.map(np.array, learner.network)
        (first, biases), *rest = network.hidden
        return network._replace(hidden=((self.inputs.for_all_squares(first), biases), *rest))

    def _untrained(self, key: jax.Array) -> tuple[Learner, jax.Array]:
        network_key, opening_key, game_key, key = jax.random.split(key, 4)
        actions = self.boards.rules.game.num_actions
        network = new_network(self.inputs.size, self._settings.hidden, actions, network_key)
        openings, there = self.boards.openings(opening_key, None)
        games = self.boards.begin(game_key, openings)
        return Learner(network, self.ppo.optimizer.init(network), games, key), there

    def _update(
        self, learner: Learner, pool: Pool | None, rate: jax.Array, bonus: jax.Array
    ) -> tuple[Learner, dict[str, jax.Array]]:
        """Steps on all boards and the epochs that learn from them; the learner and the metrics.

        `rate` is the step size, `bonus` that of the entropy.
        """
        key, opening_key, play_key, learn_key = jax.random.split(learner.key, 4)
        openings, _ = self.boards.openings(opening_key, pool)

        def step(games: Games, key: jax.Array) -> tuple[Games, Any]:
            choice_key, board_key = jax.random.split(key)
            seen = self.boards.view(games)
            logits, values = self._evaluate(learner.network, seen)
            actions = jax.vmap(draw_action)(logits, jax.random.split(choice_key, self.boards.size))
            drawn = of_actions(jax.nn.log_softmax(logits), actions)
            games, result = self.boards.step(games, actions, board_key, openings, pool)
            return games, (seen, actions, drawn, values, result)

        keys = jax.random.split(play_key, self._settings.steps_per_update)
        games, (seen, actions, drawn, values, result) = lax.scan(step, learner.games, keys)
        _, last = self._evaluate(learner.network, self.boards.view(games))
        discounts, decay = self.boards.discounts, self._settings.gae_lambda
        gained = advantages(result.rewards, result.over, values, last, discounts, decay)
        samples = Samples(seen, actions, drawn, gained, gained + values)
        samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), samples)
        network, optimizer, learnt = self.ppo.learn(
            learner.network, learner.optimizer, samples, learn_key, rate, bonus
        )
        variance = jnp.var(samples.returns)
        unexplained = jnp.where(variance > 0, jnp.var(gained) / variance, jnp.nan)
        metrics = {f"train/{name}": value for name, value in learnt.items()}
        metrics |= self._game_metrics(result) | {"train/explained_variance": 1 - unexplained}
        return Learner(network, optimizer, games, key), metrics

    def _evaluate(self, network: JaxNetwork, seen: Seen) -> tuple[jax.Array, jax.Array]:
        """Logits of the actions, those of illegal ones very low, and values."""
        logits, values = forward(network, self.inputs(seen.planes))
        return jnp.where(seen.legal, logits, NEVER), values

    def _game_metrics(self, result: Result) -> dict[str, jax.Array]:
        """The metrics of the games that ended; nan where none did."""
        over = result.over
        metrics = {
            "games/plies": jnp.where(over, result.plies, 0).sum() / over.sum(),
            "games/wiped_out": result.wiped_out.sum() / over.sum(),
        }
        points = jnp.where(over, (1 + result.rewards) / 2, 0).sum(axis=0)
        ended = over.sum(axis=0)
        for name in dict.fromkeys(g.name for g in self.boards.groups if g.name != SELF_PLAY):
            rows = [g.rows for g in self.boards.groups if g.name == name]
            won, games = (jnp.stack([x[own].sum() for own in rows]).sum() for x in (points, ended))
            metrics[f"games/{name}"] = won / games
        return metrics
