"""A run of any trainer: updates, and between them evaluations, snapshots and checkpoints."""

from __future__ import annotations

import csv
import io
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from rich.console import Console
from rich.progress import Progress
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from boardenvs.agents.policy import Policy
from boardenvs.game.state import FloatArray
from boardenvs.utils.ending import ENDING, handling
from boardenvs.utils.files import write_atomically
from training.folder import load_newest, save_checkpoint, to_arrays
from training.run_settings import POOL_SIZE, RunSettings

if TYPE_CHECKING:
    from boardenvs.agents.pool import OpponentPool
    from training.evaluation import SuiteResult

# Seeds of openings, far from each other: the policy is chosen on the first, judged on the second.
SUITE_SEED, REPORT_SEED = 10_000, 20_000


class Run(ABC):
    """A training in progress, in its folder.

    A subclass defines an update, the policy learnt so far, and what a checkpoint must hold.
    """

    keeps_pool: ClassVar[bool] = True  # False if earlier policies are kept elsewhere

    def __init__(self, config: RunSettings, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.game = config.make_game()
        self.steps = 0
        self.results: list[SuiteResult] = []
        self.metrics: list[dict[str, float]] = []  # of each update
        self.logger = Logger(str(folder), [])
        self.seconds_elsewhere = 0.0  # CPU time of other processes
        self._before: FloatArray = np.zeros(2)  # wall and CPU seconds of earlier parts of the run
        self._began = _clocks()
        self._saved = 0  # steps of the last checkpoint
        self._best: Policy
        self._display: Display

    # ---- what a trainer defines ------------------------------------------------------------------

    @abstractmethod
    def _update(self) -> dict[str, float]:
        """Play, learn and count the steps; returns the metrics."""

    @abstractmethod
    def _policy(self) -> Policy:
        """Return a copy of the policy learnt so far."""

    @abstractmethod
    def _snapshot(self) -> dict[str, Any]:
        """Return everything else that the rest of the run depends on."""

    @abstractmethod
    def _restore(self, snapshot: dict[str, Any]) -> list[str]:
        """Go on from a `_snapshot`, whose arrays are tensors now; returns warnings."""

    def is_finished(self) -> bool:
        """Whether the steps or the minutes of the run are used up."""
        limit = self.config.minutes
        return self.steps >= self.config.steps or (limit is not None and self.minutes >= limit)

    # ---- the run ---------------------------------------------------------------------------------

    def whole(self, resume: bool, console: Console) -> bool:
        """Train, judge the best policy and write the report; False if interrupted."""
        if not self.train(resume, console):
            return False
        self.conclude(console)
        return True

    def train(self, resume: bool, console: Console) -> bool:
        """Train to the end, from the newest checkpoint if resumed; False if interrupted."""
        with stop_requests() as stop_requested:
            if resume:
                self.resume(console)
            self._began = _clocks()
            self.logger.output_formats = [TensorBoardOutputFormat(str(self.folder / "tensorboard"))]
            with Display(console, self.config, self.steps) as self._display:
                while not (self.is_finished() or stop_requested()):
                    self._step()
                if self._saved < self.steps:
                    self.save()
            return not stop_requested()

    def conclude(self, console: Console) -> None:
        """Judge the best policy, and write the report."""
        from boardenvs.agents.policy_file import save_policy
        from training.report import write_report

        save_policy(self._best, self.folder / "policy.npz")
        write_report(self, console)

    def _step(self) -> None:
        """Update, and do what is due then."""
        config, before, began = self.config, self.steps, time.monotonic()
        if not before:
            self._add_to_pool()
        metrics = self._update()
        speed = (self.steps - before) / (time.monotonic() - began)
        metrics = {"speed/steps_per_second": speed, **metrics}
        self.metrics.append({"steps": self.steps, **metrics})
        self._display.update(self.steps, metrics)
        is_last = self.is_finished()
        if is_last or not self.results or is_due(before, self.steps, config.evaluation.every):
            metrics = metrics | self._evaluate()
        for name, value in metrics.items():
            self.logger.record(name, value)
        self.logger.dump(self.steps)
        if is_due(before, self.steps, config.self_play.pool.every):
            self._add_to_pool()
        if not is_last and is_due(self._saved, self.steps, config.checkpoint_every):
            self.save()

    def _evaluate(self) -> dict[str, float]:
        from boardenvs.agents.policy_file import save_policy
        from training.evaluation import evaluate

        policy = self._policy()
        seed = SUITE_SEED + self.config.seed
        result = evaluate(self.config, policy, seed, self.steps, self.minutes)
        self.results.append(result)
        self._display.evaluated(result, self.best is result)
        rows = [{"steps": r.steps, "minutes": r.minutes, **r.metrics} for r in self.results]
        write_csv(self.folder / "evaluations.csv", rows)
        if self.best is result:
            self._best = policy
            save_policy(policy, self.folder / "policy.npz")
        return result.metrics

    @property
    def best(self) -> SuiteResult:
        """The evaluation that ranks highest, the latest of equal ones."""
        return max(reversed(self.results), key=lambda result: result.rank)

    @cached_property
    def pool(self) -> OpponentPool:
        """The earlier policies that are opponents."""
        from boardenvs.agents.pool import OpponentPool

        return OpponentPool(self.folder / "pool", POOL_SIZE, self.config.seed)

    @property
    def _has_pool(self) -> bool:
        return self.keeps_pool and bool(self.config.self_play.pool.share)

    def _add_to_pool(self) -> None:
        if self._has_pool:
            self.pool.add(self._policy(), self.steps)

    def notes(self) -> dict[str, Any]:
        """Return what a policy's file says about its origin."""
        return {"run": self.config.name, "seed": self.config.seed, "steps": self.steps}

    # ---- checkpoints and time --------------------------------------------------------------------

    def save(self) -> None:
        """Write a checkpoint."""
        content = {
            "steps": self.steps,
            "seconds": self._seconds(),
            "metrics": self.metrics,
            "results": [r.model_dump() for r in self.results],
            "best": self._best.layers,
            "pool": self.pool.snapshot() if self._has_pool else None,
            **self._snapshot(),
        }
        save_checkpoint(self.folder / "checkpoints", self.steps, content)
        self._saved = self.steps

    def resume(self, console: Console) -> None:
        """Go on from the newest checkpoint; CheckpointError if there are only damaged ones."""
        saved, warnings = load_newest(self.folder / "checkpoints")
        if saved is None:
            warnings.append(f"{self.folder} has no checkpoint yet: the run begins again")
        else:
            warnings += self._load(saved)
        for warning in warnings:
            console.print(f"warning: {warning}", markup=False, soft_wrap=True)

    def _load(self, saved: dict[str, Any]) -> list[str]:
        from training.evaluation import SuiteResult

        self.steps = self._saved = saved["steps"]
        self._before = to_arrays(saved["seconds"])
        self.metrics = saved["metrics"]
        self.results = [SuiteResult.model_validate(r) for r in saved["results"]]
        *hidden, policy, value = to_arrays(saved["best"])
        notes = self.notes() | {"steps": self.best.steps}
        self._best = Policy(self.game, tuple(hidden), policy, value, notes)
        problems = self.pool.restore(saved["pool"]) if self._has_pool else []
        return problems + self._restore(saved)

    @property
    def minutes(self) -> float:
        """The wall time of the run so far, evaluations included."""
        return float(self._seconds()[0] / 60)

    @property
    def cpu_minutes(self) -> float:
        """The CPU time of the run so far, evaluations included."""
        return float(self._seconds()[1] / 60)

    def _seconds(self) -> FloatArray:
        found: FloatArray = self._before + _clocks() - self._began + (0, self.seconds_elsewhere)
        return found


def _clocks() -> FloatArray:
    """Return the wall clock and the CPU clock, in seconds."""
    return np.array([time.monotonic(), time.process_time()])


def is_due(before: int, now: int, every: int) -> bool:
    """Whether a multiple of `every` lies above `before`, up to `now`."""
    return now // every > before // every


def write_csv(path: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Write rows with the same names as a table, with the names of the first row as its heading."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode())


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C, SIGTERM and SIGHUP into requests: the update in progress is finished and saved.

    Yields a function that tells whether there was a request. A second signal interrupts.
    """
    received: list[int] = []
    with handling((signal.SIGINT, *ENDING), received.append):
        yield lambda: bool(received)


class Display:
    """A progress bar in a terminal, and a line for each evaluation everywhere."""

    def __init__(self, console: Console, config: RunSettings, done: int) -> None:
        self._name = config.name
        self._bar = Progress(console=console)
        self._task = self._bar.add_task(config.name, total=config.steps, completed=done)

    def __enter__(self) -> Display:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def update(self, steps: int, metrics: Mapping[str, float]) -> None:
        """Show the metrics of an update."""
        speed, entropy = metrics["speed/steps_per_second"], metrics["train/entropy"]
        text = f"{self._name}: {steps:,} steps, {speed:,.0f} steps/s, entropy {entropy:.2f}"
        self._bar.update(self._task, completed=steps, description=text)

    def evaluated(self, result: SuiteResult, is_best: bool) -> None:
        """Print an evaluation."""
        best = "   best so far" if is_best else ""
        self.say(f"{result.steps:>11,} steps {result.minutes:6.2f} min   {result}{best}")

    def say(self, text: str) -> None:
        """Print a line above the progress bar."""
        self._bar.console.print(text, highlight=False, markup=False, soft_wrap=True)
