"""Shows how a tournament proceeds."""

from __future__ import annotations

import math
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from boardenvs.arena.tournament.job import Played
from boardenvs.arena.tournament.schedule import Schedule


class Display:
    """A watcher of `run_tournament`: a bar in a terminal, else a line for each pairing."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(self, console=console, transient=True, refresh_per_second=2)
        self._schedule: Schedule | None = None
        self._done = self._total = 0
        self._workers = 1

    def __enter__(self) -> Display:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def begin(self, schedule: Schedule, done: int, workers: int) -> None:
        """See `boardenvs.arena.tournament.run.Watcher`."""
        self._schedule, self._done, self._workers = schedule, done, workers
        self._total = done + len(schedule.waiting)
        if done:
            self._console.print(f"going on: {done} of {self._total} pairings are in the journal")

    def played(self, played: Played) -> None:
        """See `boardenvs.arena.tournament.run.Watcher`."""
        self._done += 1
        if not self._console.is_terminal:
            self._console.print(
                f"{self._done}/{self._total}  {played.game}  {played.first} - {played.second}  "
                f"{played.match or 'void'}  {played.seconds:.1f} s",
                markup=False,
                soft_wrap=True,
            )

    def __rich__(self) -> RenderableType:
        if self._schedule is None:
            return Text("preparing")
        line = Table.grid(padding=(0, 2))
        bar = ProgressBar(self._total, self._done, width=40)
        line.add_row(bar, f"{self._done}/{self._total} pairings", self._time_left())
        now = [f"{j.game}: {j.first.label} - {j.second.label}" for j in self._schedule.running]
        return Group(line, *(Text(f"  {text}", style="dim") for text in now))

    def _time_left(self) -> str:
        assert self._schedule is not None
        seconds = self._schedule.seconds_left / self._workers
        if math.isinf(seconds):
            return "timing the players"
        return (
            f"about {seconds / 60:.0f} min left" if seconds > 90 else f"about {seconds:.0f} s left"
        )
