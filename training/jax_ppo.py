"""Train a policy by self-play, as one program of JAX: `python -m training.jax_ppo CONFIG`.

The recipe is that of `training.ppo`, see README.md, and so are settings, files and report. Playing
and learning are one compiled function, `Trainer.update`: on a processor that saves the way between
libraries, on a GPU nothing leaves it. Opponents must play in JAX too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
import optax
from pydantic import Field, model_validator
from rich.console import Console

from boardenvs.agents.jax_players import JaxNetwork, forward, jax_agent, network_of
from boardenvs.agents.jax_ppo import PPO, Result, new_network
from boardenvs.agents.network import FLAT_WEIGHT, NetworkInputs, flat_planes
from boardenvs.agents.policy import Policy
from boardenvs.envs.batch import EndedGames
from boardenvs.utils.threads import limit_jax
from training.boards import game_metrics
from training.checkpoint import to_arrays, to_tensors
from training.command import training_command
from training.config import Config
from training.history import policy_notes
from training.jax_boards import Boards, Games, Seen
from training.run import Run
from training.settings import ConfigError, RunSettings, between


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


class JaxConfig(Config):
    """Settings of a run in JAX: those of `training.ppo`, with opponents that play in JAX."""

    packages: ClassVar = (*RunSettings.packages, "jax", "jaxlib", "optax")

    device: Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$")] = "auto"
    precision: Literal["float32"] = "float32"

    def check_machine(self) -> None:
        _device(self.device, self.threads)

    @model_validator(mode="after")
    def _in_jax(self) -> Self:
        game = self.make_game()
        for spec in self.self_play.opponents:
            try:
                jax_agent(game, spec)
            except ValueError as error:
                raise ValueError(f"self_play.opponents: {error}") from None
        if self.callbacks:
            raise ValueError("callbacks are for training.ppo: leave them out")
        if self.self_play.threads > 1:
            raise ValueError(
                f"self_play.threads is {self.self_play.threads}: opponents are part of the "
                "compiled program, so it must be 1"
            )
        return self


class JaxRun(Run):
    """A training in JAX in progress."""

    config: JaxConfig

    def __init__(self, config: JaxConfig, folder: Path) -> None:
        super().__init__(config, folder)
        self._trainer = Trainer(config)
        self._state = self._trainer.new(config.seed, config.start_policy())

    def _update(self) -> dict[str, float]:
        ppo = self.config.ppo
        self.steps += self.config.self_play.boards * ppo.steps_per_update
        done = self.steps / self.config.steps
        rate = between(ppo.learning_rate, ppo.final_learning_rate, done)
        bonus = ppo.entropy_bonus_at(done)
        pool = self._opponents()
        self._state, *found = self._trainer.update(self._state, pool, rate, bonus)
        learnt, boards = jax.device_get(found)
        names = self._trainer.boards.names
        ended = {
            name: EndedGames(
                **{field: x[names == name].sum().item() for field, x in boards.items()}
            )
            for name in dict.fromkeys(names.tolist())
        }
        return {
            **game_metrics(ended),
            **{f"train/{name}": float(value) for name, value in learnt.items()},
            "train/learning_rate": rate,
            "train/entropy_bonus": bonus,
        }

    def _opponents(self) -> list[JaxNetwork]:
        """Other snapshots for the groups of the pool; the learner itself where none was written."""
        settings = self.config.self_play.pool
        if not settings.share:
            return []
        if not len(self.pool):
            return [network_of(self._policy())] * settings.at_once
        return [network_of(agent.policy) for agent in self.pool.draw(settings.at_once)]

    def _policy(self) -> Policy:
        hidden, policy, value = self._trainer.layers(self._state)
        notes = policy_notes(self.config, self.steps)
        return Policy(self.history.game, hidden, policy, value, notes)

    def _snapshot(self) -> dict[str, Any]:
        return {"learner": to_tensors([np.array(x) for x in jax.tree.leaves(self._state)])}

    def _restore(self, snapshot: dict[str, Any]) -> list[str]:
        arrays = map(jnp.asarray, to_arrays(snapshot["learner"]))
        self._state = jax.tree.unflatten(jax.tree.structure(self._state), arrays)
        return []


def train(config: JaxConfig, folder: Path, resume: bool, console: Console) -> bool:
    """Train, evaluate the best policy and write the results; False where it was interrupted."""
    with jax.default_device(_device(config.device, config.threads)):
        return JaxRun(config, folder).whole(resume, console)


def _device(name: str, threads: int) -> Any:
    """The device of a setting, where JAX takes so many threads of the processor; ConfigError where
    there is none.
    """
    limit_jax(threads)
    platform, _, index = name.partition(":")
    try:
        devices = jax.devices(None if platform == "auto" else platform)
        return devices[int(index or 0)]
    except (RuntimeError, IndexError):
        there = ", ".join(map(str, jax.devices()))
        raise ConfigError(f"device is {name!r}: JAX has {there}") from None


main = partial(
    training_command, "training.jax_ppo", JaxConfig, train
)  # of the words; the exit code


if __name__ == "__main__":
    sys.exit(main())
