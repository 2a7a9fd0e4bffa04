"""A run, whatever learns in it: updates, and between them evaluations and checkpoints; the end."""

from __future__ import annotations

import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console

from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import save_policy
from boardenvs.agents.pool import OpponentPool
from boardenvs.arena.executor import HERE, Executor
from boardenvs.utils.ending import ENDING, handling
from boardenvs.utils.files import write_atomically
from training.checkpoint import save_checkpoint, to_arrays, to_tensors
from training.folder import resume_from
from training.history import History, is_due, policy_notes
from training.progress import TrainingDisplay
from training.report import conclude, to_csv
from training.settings import RunSettings


class Run(ABC):
    """A training in progress, in its folder.

    A subclass says what an update is, which policy has been learnt by now, and what it needs of a
    checkpoint to go on.
    """

    keeps_pool: ClassVar[bool] = True  # False where earlier policies are kept elsewhere

    def __init__(self, config: RunSettings, folder: Path, executor: Executor = HERE) -> None:
        self.config = config
        self.folder = folder
        self.executor = executor  # of evaluations, and of self-play where that has tasks
        self.history = History(config, executor)
        self.steps = 0
        self.pool = OpponentPool(folder / "pool", config.self_play.pool.size, config.seed)
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

    def _log(self, metrics: dict[str, float]) -> None:  # noqa: B027 - few have somewhere else
        """Give the metrics of an update, and of an evaluation after it, to who else wants them."""

    def _is_finished(self) -> bool:
        return self.history.is_finished(self.steps)

    # ---- the run -----------------------------------------------------------------------------

    def whole(self, resume: bool, console: Console) -> bool:
        """Train, evaluate the best policy and write the results; False where it was interrupted.
        Errors as of `train` and `conclude`.
        """
        if not self.train(resume, console):
            return False
        self.conclude(console)
        return True

    def train(self, resume: bool, console: Console) -> bool:
        """Train to the end, from the newest checkpoint where it is to resume; False where it was
        interrupted.

        Errors are those of `resume_from`, and OSError where the last checkpoint cannot be written.
        """
        config, folder = self.config, self.folder / "tensorboard"
        with stop_requests() as stop_requested:
            if resume:
                resume_from(self.folder, config, self.load, console)
            with TrainingDisplay(
                console, folder, config.name, config.steps, self.steps
            ) as self._display:
                self._go_on(stop_requested)
            return not stop_requested()

    def conclude(self, console: Console) -> None:
        """Evaluate the best policy and write the results; OSError where that cannot be."""
        self.write_best()
        conclude(self.folder, self.config, self.history, console)

    def _go_on(self, stop_requested: Callable[[], bool]) -> None:
        config, pool = self.config, self.config.self_play.pool
        self.history.start_clocks()
        if not self.history.results:
            self._log(self._evaluate())
            self._add_to_pool()
            self._write_or_warn("the first checkpoint", self.save)
        while not (self._is_finished() or stop_requested()):
            before = self.steps
            metrics = self._timed_update()
            is_last = self._is_finished()
            if is_last or is_due(before, self.steps, config.evaluation.every):
                metrics |= self._evaluate()
            self._log(metrics)
            if is_due(before, self.steps, pool.every):
                self._add_to_pool()
            if not is_last and is_due(self._saved, self.steps, config.checkpoint_every):
                self._write_or_warn("a checkpoint", self.save)
        if self._saved < self.steps:
            self.save()

    def _timed_update(self) -> dict[str, float]:
        before, began = self.steps, time.monotonic()
        metrics = self._update()
        speed = (self.steps - before) / (time.monotonic() - began)
        metrics = {"speed/steps_per_second": speed, **metrics}
        self.history.add_metrics(self.steps, metrics)
        self._display.update(self.steps, metrics)
        return dict(metrics)

    def _evaluate(self) -> dict[str, float]:
        policy = self._policy()
        result, is_best = self.history.evaluate(policy, self.steps)
        self._display.evaluated(result, is_best)
        self._write_or_warn("the evaluations", self._write_evaluations)
        if is_best:
            self._best = policy
            self._write_or_warn("the best policy", self.write_best)
        return result.metrics

    def _write_evaluations(self) -> None:
        """Those until now, of which the page in the browser draws the curve of the run."""
        rows = [{"steps": r.steps, "minutes": r.minutes, **r.metrics} for r in self.history.results]
        write_atomically(self.folder / "evaluations.csv", to_csv(rows))

    def _add_to_pool(self) -> None:
        if self.keeps_pool and self.config.self_play.pool.share:
            policy = self._policy()
            self._write_or_warn(
                "an opponent of the pool", lambda: self.pool.add(policy, self.steps)
            )

    def write_best(self) -> None:
        """Write the best policy to its file; OSError where that cannot be."""
        save_policy(self._best, self.folder / "policy.npz")

    def _write_or_warn(self, what: str, write: Callable[[], object]) -> None:
        """Write a file that the run can go on without: what it holds is also in memory."""
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
            "best": to_tensors(self._best.layers),
            "history": self.history.snapshot(),
            "pool": self.pool.snapshot(),
            **self._snapshot(),
        }
        save_checkpoint(self.folder / "checkpoints", self.steps, content)
        self._saved = self.steps

    def load(self, content: dict[str, Any]) -> list[str]:
        """Go on from what `save` has written; returns what could not be restored."""
        self.history.restore(content["history"])
        self.steps = self._saved = content["steps"]
        *hidden, policy, value = to_arrays(content["best"])
        notes = policy_notes(self.config, self.history.best.steps)
        self._best = Policy(self.history.game, tuple(hidden), policy, value, notes)
        problems = self.pool.restore(content["pool"]) if self.keeps_pool else []
        return problems + self._restore(content)


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Within this context Ctrl-C is a request, and so are SIGTERM and SIGHUP: the update in
    progress is finished first, so that it can be saved. The function says whether there was one; a
    second signal interrupts.
    """
    received: list[int] = []
    with handling((signal.SIGINT, *ENDING), received.append):
        yield lambda: bool(received)
