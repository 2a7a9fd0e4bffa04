"""What happens between two updates of SB3: metrics, evaluations, checkpoints, the end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from boardenvs.agents.export import policy_from_sb3
from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import save_policy
from boardenvs.agents.pool import OpponentPool
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.utils.files import write_atomically
from training.boards import game_metrics
from training.callbacks import Callbacks
from training.checkpoint import save_checkpoint
from training.config import Config
from training.history import History, is_due, policy_notes
from training.interrupt import InterruptRequest
from training.model import capture, model_file, restore
from training.panel import PanelResult
from training.progress import TrainingDisplay
from training.run import write_or_warn
from training.settings import POOL


class StopTraining(Exception):  # noqa: N818 - no error, as StopIteration
    """Raised between two updates to leave `MaskablePPO.learn`, after a checkpoint."""


class Training(BaseCallback):
    """The callback of a run.

    SB3 calls it at the start of each rollout. There the last update is complete, so what is saved
    is all there is, and a run that resumes there goes on as if it had not been interrupted.
    """

    def __init__(self, config: Config, folder: Path, env: BoardVecEnv, others: Callbacks) -> None:
        super().__init__()
        self.config = config
        self.folder = folder
        self.env = env
        self.history = History(config)
        self.best_weights: dict[str, Any] = {}
        self.others = others
        self.display: TrainingDisplay  # both are there while it runs
        self.interrupt: InterruptRequest
        self._pool = OpponentPool(folder / "pool", config.self_play.pool.size, config.seed)
        self._steps_saved = 0
        self._steps_seen = 0  # at the start of the update
        self._updates_seen = 0

    # ---- state for checkpoints ---------------------------------------------------------------

    def save(self) -> None:
        """Write a checkpoint; OSError where that cannot be, and then those before it are kept."""
        steps = self.model.num_timesteps
        content = {
            "config": self.config.model_dump(mode="json"),
            "model": capture(_maskable(self.model), self.env),
            "pool": self._pool.snapshot(),
            "history": self.history.snapshot(),
            "best_weights": self.best_weights,
        }
        save_checkpoint(self.folder / "checkpoints", steps, content)
        self._steps_saved = steps

    def load(self, model: MaskablePPO, content: dict[str, Any]) -> list[str]:
        """Go on from what `save` has written; returns what could not be restored."""
        restore(model, self.env, content["model"])
        self.history.restore(content["history"])
        self.best_weights = content["best_weights"]
        self._steps_saved = self._steps_seen = model.num_timesteps
        self._updates_seen = model._n_updates
        return self._pool.restore(content["pool"])

    # ---- SB3's hooks -------------------------------------------------------------------------

    def _on_training_start(self) -> None:
        self.history.start_clocks()
        if not self.history.results:
            self._log(self._evaluate().metrics)
            self._add_to_pool()
            write_or_warn("the first checkpoint", self.save, self.display)

    def _on_rollout_start(self) -> None:
        if self.model.num_timesteps > self._steps_seen:
            self._between_updates()
        self._steps_seen = self.model.num_timesteps
        self._updates_seen = _maskable(self.model)._n_updates
        self._update_began = time.monotonic()
        self._draw_opponents()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        done = self.model.num_timesteps / self.config.steps
        _maskable(self.model).ent_coef = self.config.ppo.entropy_bonus_at(done)

    def _on_training_end(self) -> None:
        self._on_rollout_start()

    def _between_updates(self) -> None:
        steps = self.model.num_timesteps
        metrics = self._metrics()
        self.history.add_metrics(steps, metrics)
        self.display.update(steps, metrics)
        is_last = self.history.is_finished(steps) or self.others.stop_requested
        if is_last or is_due(self._steps_seen, steps, self.config.evaluation.every):
            metrics |= self._evaluate().metrics
        self._log(metrics)
        if is_due(self._steps_seen, steps, self.config.self_play.pool.every):
            self._add_to_pool()
        if is_last or self.interrupt.requested:
            self.save()
            raise StopTraining
        if is_due(self._steps_saved, steps, self.config.checkpoint_every):
            write_or_warn("a checkpoint", self.save, self.display)

    # ---- inside ------------------------------------------------------------------------------

    def _metrics(self) -> dict[str, float]:
        """The metrics of the update that has just been made; README.md explains each."""
        model = _maskable(self.model)
        steps, logged = model.num_timesteps, model.logger.name_to_value
        seconds = time.monotonic() - self._update_began
        return {
            "speed/steps_per_second": (steps - self._steps_seen) / seconds,
            **game_metrics(self.env.take_ended()),
            "train/entropy": -float(logged["train/entropy_loss"]),
            "train/explained_variance": float(logged["train/explained_variance"]),
            "train/policy_loss": float(logged["train/policy_gradient_loss"]),
            "train/value_loss": float(logged["train/value_loss"]),
            "train/approx_kl": float(logged["train/approx_kl"]),
            "train/clip_fraction": float(logged["train/clip_fraction"]),
            "train/epochs": float(model._n_updates - self._updates_seen),
            "train/learning_rate": float(logged["train/learning_rate"]),
            "train/entropy_bonus": float(model.ent_coef),
        }

    def _log(self, metrics: dict[str, float]) -> None:
        """Give the metrics to SB3's logger, in whose formats callbacks have them written."""
        logger = self.model.logger
        logger.name_to_value.clear()  # what SB3 records itself is among them, by other names
        for name, value in metrics.items():
            logger.record(name, value)
        logger.dump(self.model.num_timesteps)

    def _evaluate(self) -> PanelResult:
        model = _maskable(self.model)
        result, is_best = self.history.evaluate(self._policy(model), model.num_timesteps)
        self.display.evaluated(result, is_best)
        if is_best:
            # A copy: the optimiser changes the tensors in place.
            self.best_weights = {k: v.clone() for k, v in model.policy.state_dict().items()}
            write_or_warn("the best policy", lambda: self.write_best(model), self.display)
        return result

    def write_best(self, model: MaskablePPO) -> None:
        """Write the best policy, which the model must hold, for players and for SB3."""
        save_policy(self._policy(model, self.history.best.steps), self.folder / "policy.npz")
        write_atomically(self.folder / "best_model.zip", model_file(model))

    def _policy(self, model: MaskablePPO, steps: int | None = None) -> Policy:
        """The model's policy, to play with, of these steps or now."""
        steps = model.num_timesteps if steps is None else steps
        return policy_from_sb3(model, self.env.game, policy_notes(self.config, steps))

    def _add_to_pool(self) -> None:
        if self.config.self_play.pool.share:
            model, steps = _maskable(self.model), self.model.num_timesteps
            policy = self._policy(model)
            write_or_warn(
                "an opponent of the pool", lambda: self._pool.add(policy, steps), self.display
            )

    def _draw_opponents(self) -> None:
        """Other snapshots on the boards of the pool, for the rollout that begins."""
        boards = self.env.boards
        batches = [
            batch
            for group, batch in zip(boards.groups, boards.batches, strict=True)
            if group.name == POOL
        ]
        if batches and len(self._pool):
            for batch, opponent in zip(batches, self._pool.draw(len(batches)), strict=True):
                batch.opponent = opponent


def _maskable(model: object) -> MaskablePPO:
    assert isinstance(model, MaskablePPO)
    return model
