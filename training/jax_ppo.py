"""Train a policy by self-play, as one program of JAX: `python -m training.jax_ppo CONFIG`.

The recipe is that of `training.ppo`, see README.md, and so are settings, files and report. Playing
and learning are one compiled function, `Trainer.update` in `jax_learner.py`: on a processor that
saves the way between libraries, on a GPU nothing leaves it. Opponents must play in JAX too.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field, model_validator
from rich.console import Console

from boardenvs.agents.jax_players import JaxNetwork, jax_agent, network_of
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.policy_file import save_policy
from boardenvs.agents.pool import OpponentPool
from training.checkpoint import save_checkpoint, to_arrays, to_tensors
from training.command import TrainingCommand
from training.config import Config
from training.folder import resume_from
from training.history import History, is_due, policy_notes
from training.interrupt import InterruptRequest
from training.jax_boards import Pool
from training.jax_learner import Trainer
from training.progress import TrainingDisplay
from training.report import conclude
from training.settings import POOL, ConfigError, RunSettings


class JaxConfig(Config):
    """Settings of a run in JAX: those of `training.ppo`, with opponents that play in JAX."""

    packages: ClassVar = (*RunSettings.packages, "jax", "jaxlib", "optax")

    device: Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$")] = "auto"
    precision: Literal["float32"] = "float32"

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


class Run:
    """A training in progress: updates, and between them evaluations, snapshots and checkpoints."""

    def __init__(self, config: JaxConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.history = History(config)
        self.steps = 0
        self._trainer = Trainer(config)
        self._learner = self._trainer.new(config.seed)
        self._best = self._learner.network
        settings = config.self_play.pool
        self._pool = OpponentPool(folder / "pool", settings.size, config.seed)
        self._saved = 0  # steps of the last checkpoint

    def go_on(self, display: TrainingDisplay, interrupt: InterruptRequest) -> None:
        """Train to the end of the run, or until an interruption is asked for."""
        config, self._display = self.config, display
        self.history.start_clocks()
        if not self.history.results:
            self._evaluate()
            self._add_to_pool()
            self._try("the first checkpoint", self.save)
        while not (self.history.is_finished(self.steps) or interrupt.requested):
            before = self.steps
            self._update()
            is_last = self.history.is_finished(self.steps)
            if is_last or is_due(before, self.steps, config.evaluation.every):
                self._evaluate()
            if is_due(before, self.steps, config.self_play.pool.every):
                self._add_to_pool()
            if is_last or interrupt.requested:
                self.save()
            elif is_due(self._saved, self.steps, config.checkpoint_every):
                self._try("a checkpoint", self.save)

    def _update(self) -> None:
        began, config = time.monotonic(), self.config
        taken = config.self_play.boards * config.ppo.steps_per_update
        self.steps += taken
        done = self.steps / config.steps
        rate, bonus = config.ppo.learning_rate_at(done), config.ppo.entropy_bonus_at(done)
        learner = self._learner
        self._learner, found = self._trainer.update(learner, self._opponents(), rate, bonus)
        figures = {name: float(value) for name, value in jax.device_get(found).items()}
        seconds = time.monotonic() - began
        figures = {
            "speed/steps_per_second": taken / seconds,
            **{name: figures[name] for name in sorted(figures)},
            "train/learning_rate": rate,
            "train/entropy_bonus": bonus,
        }
        self.history.add_figures(self.steps, figures)
        self._display.update(self.steps, figures)

    def _opponents(self) -> Pool | None:
        """Other snapshots for the boards of the pool; the learner itself where none was written."""
        count = sum(group.name == POOL for group in self._trainer.boards.groups)
        if not count:
            return None
        drawn = self._pool.draw(count) if len(self._pool) else []
        policies = [agent.policy for agent in drawn if isinstance(agent, PolicyAgent)]
        networks = [network_of(p) for p in policies or [self._policy()] * count]
        pool: Pool = jax.tree.map(lambda *layers: jnp.stack(layers), *networks)
        return pool

    def _evaluate(self) -> None:
        result, is_best = self.history.evaluate(self._policy(), self.steps)
        self._display.evaluated(result, is_best)
        if is_best:
            # A copy: an update takes the memory back.
            self._best = jax.tree.map(np.array, self._learner.network)
            self._try("the best policy", self.write_best)

    def write_best(self) -> None:
        """Write the best policy to its file; OSError where that cannot be."""
        policy = self._policy(self._best, self.history.best.steps)
        save_policy(policy, self.folder / "policy.npz")

    def _policy(self, network: JaxNetwork | None = None, steps: int | None = None) -> Policy:
        """The policy of a network after so many steps, or of the learner now."""
        layers = jax.tree.map(np.array, self._learner.network if network is None else network)
        (first, biases), *rest = layers.hidden
        hidden = ((self._trainer.inputs.for_all_squares(first), biases), *rest)
        notes = policy_notes(self.config, self.steps if steps is None else steps)
        return Policy(self.history.game, hidden, layers.policy_head, layers.value_head, notes)

    def _add_to_pool(self) -> None:
        if self.config.self_play.pool.share:
            policy = self._policy()
            self._try("an opponent of the pool", lambda: self._pool.add(policy, self.steps))

    def _try(self, what: str, write: Callable[[], object]) -> None:
        """Write a file that the training can go on without: what it holds is also in memory."""
        try:
            write()
        except OSError as error:
            self._display.say(f"warning: {what} could not be written ({error}); the run goes on")

    # ---- checkpoints -------------------------------------------------------------------------

    def save(self) -> None:
        """Write a checkpoint; OSError where that cannot be, and then those before it are kept."""
        content = {
            "config": self.config.model_dump(mode="json"),
            "steps": self.steps,
            "learner": to_tensors(_leaves(self._learner)),
            "best": to_tensors(_leaves(self._best)),
            "pool": self._pool.snapshot(),
            "history": self.history.snapshot(),
        }
        save_checkpoint(self.folder / "checkpoints", self.steps, content)
        self._saved = self.steps

    def load(self, content: dict[str, Any]) -> list[str]:
        """Go on from what `save` has written; returns what could not be restored."""
        self._best = _like(self._best, to_arrays(content["best"]))
        self._learner = _like(self._learner, to_arrays(content["learner"]))
        self.history.restore(content["history"])
        self.steps = self._saved = content["steps"]
        return self._pool.restore(content["pool"])


def _leaves(tree: Any) -> list[Any]:
    """The arrays of a tree in NumPy, keys of random generators among them."""
    return [np.array(jax.random.key_data(x) if _is_key(x) else x) for x in jax.tree.leaves(tree)]


def _like(tree: Any, leaves: list[Any]) -> Any:
    """A tree like this one with other arrays; ValueError where they do not fit."""
    old, structure = jax.tree.flatten(tree)
    new = [
        jax.random.wrap_key_data(jnp.asarray(y)) if _is_key(x) else jnp.asarray(y)
        for x, y in zip(old, leaves, strict=True)
    ]
    for x, y in zip(old, new, strict=True):
        if x.shape != y.shape or x.dtype != y.dtype:
            raise ValueError(f"an array is {y.dtype} {y.shape}: it must be {x.dtype} {x.shape}")
    return jax.tree.unflatten(structure, new)


def _is_key(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def train(config: JaxConfig, folder: Path, resume: bool, console: Console) -> bool:
    """Train, judge the best policy and write the results; False where it was interrupted."""
    _limit_threads(config.threads)
    with jax.default_device(_device(config.device)), InterruptRequest() as interrupt:
        run = Run(config, folder)
        if resume:
            resume_from(folder, config, run.load, console)
        with TrainingDisplay(
            console, folder / "tensorboard", config.name, config.steps, run.steps
        ) as display:
            run.go_on(display, interrupt)
        if interrupt.requested:
            return False
    run.write_best()
    conclude(folder, config, run.history, console)
    return True


def _device(name: str) -> Any:
    """The device of a setting; ConfigError where there is none."""
    platform, _, index = name.partition(":")
    try:
        devices = jax.devices(None if platform == "auto" else platform)
        return devices[int(index or 0)]
    except (RuntimeError, IndexError):
        there = ", ".join(map(str, jax.devices()))
        raise ConfigError(f"device is {name!r}: JAX has {there}") from None


def _limit_threads(threads: int) -> None:
    """Let XLA use so many threads of the processor; it reads this once, with the first array."""
    if threads == 1:
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false".strip()
    os.environ["NPROC"] = str(threads)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code, see `training.command`."""
    return TrainingCommand("training.jax_ppo", JaxConfig, train)(arguments)


if __name__ == "__main__":
    sys.exit(main())
