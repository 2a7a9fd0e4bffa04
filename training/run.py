"""A run, whatever learns in it: updates, and between them evaluations and checkpoints; the end."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import save_policy
from training.checkpoint import save_checkpoint, to_arrays, to_tensors
from training.folder import resume_from
from training.history import History, is_due, policy_notes
from training.interrupt import InterruptRequest
from training.progress import TrainingDisplay
from training.report import conclude
from training.settings import RunSettings


class Run(ABC):
    """A training in progress, in its folder.

    A subclass says what an update is, which policy has been learnt by now, and what it needs of a
    checkpoint to go on.
    """

    def __init__(self, config: RunSettings, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.history = History(config)
        self.steps = 0
        self._saved = 0  # steps of the last checkpoint
        self._best: Policy  # of the evaluations so far
        self._display: TrainingDisplay  # while it trains

    # ---- what learns -------------------------------------------------------------------------

    @abstractmethod
    def _update(self) -> dict[str, float]:
        """Play and learn, and count the steps; the metrics, which README.md explains, but for the
        speed.
        """

    @abstractmethod
    def _policy(self) -> Policy:
        """A copy of what has been learnt by now."""

    @abstractmethod
    def _snapshot(self) -> dict[str, Any]:
        """What else it needs to go on: tensors and plain values."""

    @abstractmethod
    def _restore(self, snapshot: dict[str, Any]) -> list[str]:
        """Go on from a `_snapshot`, the rest being there; returns what could not be restored."""

    def _between_updates(self, before: int) -> None:  # noqa: B027 - few have something to do
        """What else is due since there were so many steps, -1 where there was no update yet."""

    # ---- the run -----------------------------------------------------------------------------

    def train(self, resume: bool, console: Console) -> bool:
        """Train to the end, from the newest checkpoint where it is to resume; False where it was
        interrupted.

        Errors are those of `resume_from`, and OSError where the last checkpoint cannot be written.
        """
        config, folder = self.config, self.folder / "tensorboard"
        with InterruptRequest() as interrupt:
            if resume:
                resume_from(self.folder, config, self.load, console)
            with TrainingDisplay(
                console, folder, config.name, config.steps, self.steps
            ) as self._display:
                self._go_on(interrupt)
            return not interrupt.requested

    def conclude(self, console: Console) -> None:
        """Judge the best policy and write the results; OSError where that cannot be."""
        self.write_best()
        conclude(self.folder, self.config, self.history, console)

    def _go_on(self, interrupt: InterruptRequest) -> None:
        config = self.config
        self.history.start_clocks()
        if not self.history.results:
            self._evaluate()
            self._between_updates(-1)
            write_or_warn("the first checkpoint", self.save, self._display)
        while not (self.history.is_finished(self.steps) or interrupt.requested):
            before = self.steps
            self._timed_update()
            is_last = self.history.is_finished(self.steps)
            if is_last or is_due(before, self.steps, config.evaluation.every):
                self._evaluate()
            self._between_updates(before)
            if not is_last and is_due(self._saved, self.steps, config.checkpoint_every):
                write_or_warn("a checkpoint", self.save, self._display)
        if self._saved < self.steps:
            self.save()

    def _timed_update(self) -> None:
        before, began = self.steps, time.monotonic()
        metrics = self._update()
        speed = (self.steps - before) / (time.monotonic() - began)
        metrics = {"speed/steps_per_second": speed, **metrics}
        self.history.add_metrics(self.steps, metrics)
        self._display.update(self.steps, metrics)

    def _evaluate(self) -> None:
        policy = self._policy()
        result, is_best = self.history.evaluate(policy, self.steps)
        self._display.evaluated(result, is_best)
        if is_best:
            self._best = policy
            write_or_warn("the best policy", self.write_best, self._display)

    def write_best(self) -> None:
        """Write the best policy to its file; OSError where that cannot be."""
        save_policy(self._best, self.folder / "policy.npz")

    # ---- checkpoints -------------------------------------------------------------------------

    def save(self) -> None:
        """Write a checkpoint; OSError where that cannot be, and then those before it are kept."""
        best = self._best
        layers = [*best.hidden, best.policy_head, best.value_head]
        content = {
            "config": self.config.model_dump(mode="json"),
            "steps": self.steps,
            "best": to_tensors([array for layer in layers for array in layer]),
            "history": self.history.snapshot(),
            **self._snapshot(),
        }
        save_checkpoint(self.folder / "checkpoints", self.steps, content)
        self._saved = self.steps

    def load(self, content: dict[str, Any]) -> list[str]:
        """Go on from what `save` has written; returns what could not be restored."""
        self.history.restore(content["history"])
        self.steps = self._saved = content["steps"]
        best = to_arrays(content["best"])
        *hidden, policy, value = zip(best[::2], best[1::2], strict=True)
        notes = policy_notes(self.config, self.history.best.steps)
        self._best = Policy(self.history.game, tuple(hidden), policy, value, notes)
        return self._restore(content)


def write_or_warn(what: str, write: Callable[[], object], display: TrainingDisplay) -> None:
    """Write a file that the training can go on without: what it holds is also in memory."""
    try:
        write()
    except OSError as error:
        display.say(f"warning: {what} could not be written ({error}); the run goes on")
