"""What `training.jax_ppo` compiles: playing on all boards, and learning from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from boardenvs.agents.jax_players import JaxNetwork, forward, network_of
from boardenvs.agents.jax_ppo import PPO, Result, new_network
from boardenvs.agents.network import FLAT_WEIGHT, NetworkInputs, flat_planes
from boardenvs.agents.policy import Policy
from training.config import Config
from training.jax_boards import Boards, Games, Seen
from training.settings import ConfigError


class TrainState(NamedTuple):
    """All that an update changes."""

    network: JaxNetwork  # its first layer takes what `Trainer.inputs` makes of planes
    optimizer: optax.OptState
    games: Games
    key: jax.Array  # the numbers of a random generator


class Trainer:
    """The compiled program of a run."""

    def __init__(self, config: Config) -> None:
        self.boards = Boards(config)
        game = self.boards.rules.game
        self._settings = ppo = config.ppo
        self._inputs = NetworkInputs(game.observation_shape, flat_planes(game))
        self._ppo = PPO(
            self._evaluate,
            ppo.batch_size,
            ppo.gae_lambda,
            ppo.epochs,
            ppo.clip_range,
            ppo.value_weight,
            ppo.max_gradient,
            ppo.target_kl,
        )
        self._untrained = jax.jit(self.untrained)
        self.update = jax.jit(self._update, donate_argnums=0)

    def new(self, seed: int, start: Policy | None = None) -> TrainState:
        """Layers that are untrained or a policy's, and new games; ConfigError where there are no
        openings.
        """
        state: TrainState
        state, there = self._untrained(jax.random.key(seed))
        if not there:
            raise ConfigError("self_play.opening_plies: no game lasts so long; lower them")
        if start is None:
            return state
        network = _with_first(network_of(start), self._inputs.from_all_squares)
        return state._replace(network=jax.tree.map(jnp.asarray, network))

    def layers(self, state: TrainState) -> Any:
        """The layers in NumPy as those of a policy, which takes squares as they are."""
        network = jax.tree.map(np.array, state.network)
        return _with_first(network, self._inputs.for_all_squares)

    def untrained(self, key: jax.Array) -> tuple[TrainState, jax.Array]:
        """What a training begins with, and whether there are openings, () bool."""
        network_key, opening_key, game_key, key = jax.random.split(key, 4)
        actions = self.boards.rules.game.num_actions
        network = new_network(self._inputs.size, self._settings.hidden, actions, network_key)
        openings, there = self.boards.openings(opening_key, ())
        games = self.boards.begin(game_key, openings)
        memory = self._ppo.optimizer.init(network)
        return TrainState(network, memory, games, jax.random.key_data(key)), there

    def _update(
        self, state: TrainState, pool: Sequence[JaxNetwork], rate: jax.Array, bonus: jax.Array
    ) -> tuple[TrainState, dict[str, jax.Array], dict[str, jax.Array]]:
        """Steps on all boards and the epochs that learn from them; the metrics of learning, and by
        the fields of `EndedGames` what became of each board's games, (B,).

        `rate` is the step size, `bonus` that of the entropy.
        """
        keys = jax.random.split(jax.random.wrap_key_data(state.key), 4)
        key, opening_key, play_key, learn_key = keys
        openings, _ = self.boards.openings(opening_key, pool)

        def step(games: Games, actions: jax.Array, key: jax.Array) -> tuple[Games, Result]:
            return self.boards.step(games, actions, key, openings, pool)

        step_keys = jax.random.split(play_key, self._settings.steps_per_update)
        games, samples, result = self._ppo.play(
            state.network, state.games, self.boards.view, step, step_keys
        )
        network, memory, metrics = self._ppo.learn(
            state.network, state.optimizer, samples, learn_key, rate, bonus
        )
        variance = jnp.var(samples.returns)
        unexplained = jnp.where(variance > 0, jnp.var(samples.advantages) / variance, jnp.nan)
        metrics["explained_variance"] = 1 - unexplained
        ended = {name: x.sum(axis=0) for name, x in result.more.items()}
        return TrainState(network, memory, games, jax.random.key_data(key)), metrics, ended

    def _evaluate(self, network: JaxNetwork, seen: Seen) -> tuple[jax.Array, jax.Array]:
        return forward(network, self.inputs(seen.planes), seen.legal)

    def inputs(self, planes: jax.Array) -> jax.Array:
        """The inputs (B, I) float32 of planes (B, C * R * F), see `NetworkInputs`."""
        by_plane = planes.reshape(len(planes), -1, self._inputs.squares).astype(jnp.float32)
        full = by_plane[:, np.array(self._inputs.full, int)].reshape(len(planes), -1)
        flat = by_plane[:, np.array(self._inputs.flat, int), 0] * FLAT_WEIGHT
        return jnp.concatenate([full, flat], axis=1)


def _with_first(network: JaxNetwork, convert: Any) -> JaxNetwork:
    """The network with its first weights converted."""
    (weights, biases), *rest = network.hidden
    return network._replace(hidden=((convert(weights), biases), *rest))
