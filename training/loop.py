"""What happens between two updates of a training: figures, evaluations, checkpoints, the end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.files import write_atomically
from training.checkpoint import save_checkpoint
from training.config import Config
from training.evaluation import PanelResult, evaluate
from training.interrupt import InterruptRequest
from training.model import capture, model_file, restore
from training.policy import PolicyAgent
from training.progress import Display

# Seeds of openings, away from one another: the policy is chosen on the first, judged on the second.
PANEL_SEED, FINAL_SEED = 10_000, 20_000


class StopTraining(Exception):  # noqa: N818 - no error, as StopIteration
    """Raised between two updates to leave `MaskablePPO.learn`, after a checkpoint."""


class Training(BaseCallback):
    """The callback of a run, and its record: results so far, the best policy and the time spent.

    SB3 calls it at the start of each rollout. There the last update is complete, so what is saved
    is all there is, and a run that resumes there goes on as if it had not been interrupted.
    """

    def __init__(
        self, config: Config, folder: Path, env: BoardVecEnv, interrupt: InterruptRequest
    ) -> None:
        super().__init__()
        self.config = config
        self.folder = folder
        self.env = env
        self.results: list[PanelResult] = []
        self.best: PanelResult | None = None
        self.best_policy: dict[str, Any] = {}
        self.display: Display
        self._interrupt = interrupt
        self._seconds_before = 0.0  # of earlier parts of the run
        self._clock = time.monotonic()
        self._steps_saved = 0
        self._steps_seen = 0  # at the start of the update
        self._plies: list[int] = []  # lengths of the games that ended in this rollout

    # ---- state for checkpoints ---------------------------------------------------------------

    @property
    def minutes(self) -> float:
        return (self._seconds_before + time.monotonic() - self._clock) / 60

    def is_finished(self, steps: int) -> bool:
        """Whether the steps or the minutes of the run are used up."""
        limit = self.config.minutes
        return steps >= self.config.steps or (limit is not None and self.minutes >= limit)

    def save(self) -> Path:
        """Write a checkpoint."""
        steps = self._steps_saved = self.model.num_timesteps
        content = {
            "config": self.config.model_dump(mode="json"),
            "model": capture(_maskable(self.model), self.env),
            "minutes": self.minutes,
            "results": [r.model_dump() for r in self.results],
            "best": self.best and self.best.model_dump(),
            "best_policy": self.best_policy,
        }
        return save_checkpoint(self.folder / "checkpoints", steps, content)

    def load(self, model: MaskablePPO, content: dict[str, Any]) -> None:
        """Go on from what `save` has written."""
        restore(model, self.env, content["model"])
        self._seconds_before = 60 * content["minutes"]
        self.results = [PanelResult.model_validate(r) for r in content["results"]]
        self.best = content["best"] and PanelResult.model_validate(content["best"])
        self.best_policy = content["best_policy"]
        self._steps_saved = self._steps_seen = model.num_timesteps

    # ---- SB3's hooks -------------------------------------------------------------------------

    def _on_training_start(self) -> None:
        self._clock = time.monotonic()
        self._update_began = self._clock
        if not self.results:
            self._evaluate()
            self.save()

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        self._plies += [infos[row]["plies"] for row in np.flatnonzero(self.locals["dones"])]
        return True

    def _on_rollout_start(self) -> None:
        if self.model.num_timesteps > self._steps_seen:
            self._between_updates()
        self._steps_seen = self.model.num_timesteps
        self._update_began = time.monotonic()

    def _on_training_end(self) -> None:
        self._on_rollout_start()

    def _between_updates(self) -> None:
        steps = self.model.num_timesteps
        self.display.update(steps, self._figures())
        self._plies.clear()
        is_last = self.is_finished(steps)
        if is_last or _is_due(self._steps_seen, steps, self.config.evaluation.every):
            self._evaluate()
        stops = is_last or self._interrupt.requested
        if stops or _is_due(self._steps_saved, steps, self.config.checkpoint_every):
            self.save()
        if stops:
            raise StopTraining

    # ---- inside ------------------------------------------------------------------------------

    def _figures(self) -> dict[str, float]:
        """The figures of the update that has just been made; README.md explains each."""
        steps, logged = self.model.num_timesteps, self.model.logger.name_to_value
        seconds = time.monotonic() - self._update_began
        return {
            "speed/steps_per_second": (steps - self._steps_seen) / seconds,
            "games/plies": float(np.mean(self._plies)) if self._plies else float("nan"),
            "train/entropy": -logged["train/entropy_loss"],
            "train/explained_variance": float(logged["train/explained_variance"]),
            "train/policy_loss": logged["train/policy_gradient_loss"],
            "train/value_loss": logged["train/value_loss"],
            "train/approx_kl": logged["train/approx_kl"],
            "train/clip_fraction": logged["train/clip_fraction"],
            "train/learning_rate": logged["train/learning_rate"],
        }

    def _evaluate(self) -> None:
        settings, model = self.config.evaluation, _maskable(self.model)
        scores = evaluate(
            self.env.game,
            PolicyAgent(model.policy),
            settings.opponents,
            pairs=settings.pairs,
            opening_plies=settings.opening_plies,
            seed=PANEL_SEED + self.config.seed,
        )
        result = PanelResult(steps=model.num_timesteps, minutes=self.minutes, scores=scores)
        self.results.append(result)
        is_best = self.best is None or result.worst > self.best.worst
        if is_best:
            self.best = result
            # A copy: the optimiser changes the tensors in place.
            self.best_policy = {k: v.clone() for k, v in model.policy.state_dict().items()}
            write_atomically(self.folder / "best_model.zip", model_file(model))
        self.display.evaluated(result, is_best)


def _is_due(before: int, now: int, every: int) -> bool:
    """Whether a multiple of `every` lies in what has passed."""
    return now // every > before // every


def _maskable(model: object) -> MaskablePPO:
    assert isinstance(model, MaskablePPO)
    return model
