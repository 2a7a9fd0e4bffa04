"""Train a policy by self-play, as one program of JAX: `python -m training.jax_ppo CONFIG`.

The recipe is that of `training.ppo`, see README.md, and so are settings, files and report. Playing
and learning are one compiled function, `Trainer.update` in `jax_learner.py`: on a processor that
saves the way between libraries, on a GPU nothing leaves it. Opponents must play in JAX too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field, model_validator
from rich.console import Console

from boardenvs.agents.jax_players import JaxNetwork, jax_agent, network_of
from boardenvs.agents.policy import Policy
from boardenvs.envs.batch import EndedGames
from training.boards import game_metrics
from training.checkpoint import to_arrays, to_tensors
from training.command import training_command
from training.config import Config
from training.history import policy_notes
from training.jax_learner import Trainer
from training.run import Run
from training.settings import ConfigError, RunSettings, between

_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"  # of XLA


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
        run = JaxRun(config, folder)
        if not run.train(resume, console):
            return False
    run.conclude(console)
    return True


def _device(name: str, threads: int) -> Any:
    """The device of a setting, where JAX takes so many threads of the processor; ConfigError where
    there is none.
    """
    flags = os.environ.get("XLA_FLAGS", "")  # read once, when JAX looks for devices
    if threads == 1 and _ONE_THREAD not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_ONE_THREAD}".strip()
    os.environ["NPROC"] = str(threads)
    platform, _, index = name.partition(":")
    try:
        devices = jax.devices(None if platform == "auto" else platform)
        return devices[int(index or 0)]
    except (RuntimeError, IndexError):
        there = ", ".join(map(str, jax.devices()))
        raise ConfigError(f"device is {name!r}: JAX has {there}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code, see `training.command`."""
    return training_command("training.jax_ppo", JaxConfig, train, arguments)


if __name__ == "__main__":
    sys.exit(main())
