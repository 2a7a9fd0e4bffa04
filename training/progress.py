"""What a training shows while it runs: a progress bar, lines in the terminal, TensorBoard."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from torch.utils.tensorboard import SummaryWriter

from training.evaluation import SuiteResult


class _Bar(Progress):
    """A progress bar with a line of metrics below it, where narrow terminals have room for it."""

    metrics = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        yield self.metrics


class TrainingDisplay:
    """The progress bar of a training of `total` steps, of which `done` are behind it.

    TensorBoard's metrics go to `folder`; those of steps after `done`, from a part of the run that
    was lost, are discarded.
    """

    def __init__(self, console: Console, folder: Path, name: str, total: int, done: int) -> None:
        self._console = console
        self._bar = _Bar(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("steps"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self._task = self._bar.add_task(name, total=total, completed=done)
        self._scores = ""
        self._excepthook = threading.excepthook
        threading.excepthook = self._thread_failed
        self._writer: SummaryWriter | None = None
        try:
            self._writer = SummaryWriter(str(folder), purge_step=done + 1)
        except OSError as error:
            self._warn(error)

    def __enter__(self) -> TrainingDisplay:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()
        threading.excepthook = self._excepthook
        if self._writer is not None:
            with contextlib.suppress(OSError):  # only what is left in its buffer is lost
                self._writer.close()

    def update(self, steps: int, metrics: Mapping[str, float]) -> None:
        """Show and log the metrics of an update."""
        self._log(metrics, steps)
        self._bar.metrics = (
            f"{metrics['speed/steps_per_second']:,.0f} steps/s  {self._scores}"
            f"entropy {metrics['train/entropy']:.2f}  "
            f"explained variance {metrics['train/explained_variance']:.2f}  "
            f"game {metrics['games/plies']:.0f} plies"
        )
        self._bar.update(self._task, completed=steps)

    def evaluated(self, result: SuiteResult, is_best: bool) -> None:
        """Show and log an evaluation."""
        self._log(result.metrics, result.steps)
        self._scores = "".join(f"{name} {s.score:.2f}  " for name, s in result.scores.items())
        self.say(
            f"{result.steps:>11,} steps {result.minutes:6.2f} min   {result}"
            + ("   best so far" if is_best else "")
        )

    def _log(self, metrics: Mapping[str, float], steps: int) -> None:
        """Metrics for TensorBoard, until its file cannot be written to."""
        if self._writer is None:
            return
        try:
            for name, value in metrics.items():
                self._writer.add_scalar(name, value, steps)
        except OSError as error:
            self._writer = None
            self._warn(error)

    def _warn(self, error: OSError) -> None:
        self.say(f"warning: TensorBoard's file cannot be written ({error}); the run goes on")

    def _thread_failed(self, what: threading.ExceptHookArgs) -> None:
        """TensorBoard writes in a thread, and raises what failed there at the next metric too."""
        if not isinstance(what.exc_value, OSError):
            self._excepthook(what)

    def say(self, text: str) -> None:
        """A line above the progress bar."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)
