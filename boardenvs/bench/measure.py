"""Measuring: random play and search in interleaved rounds.

In a round all workloads take turns, so that other load of the machine affects all of them alike.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from rich.progress import Progress

from boardenvs.kernel import set_backend
from boardenvs.kernel.backend import Backend


@dataclass
class Workload:
    """Random play of one game through one interface, or search in it, `boards` at a time.

    `start()` returns a function that does a slice of the work and returns its amount, in plies or
    in another `unit`.
    """

    library: str
    game: str
    interface: str
    boards: int
    backend: Backend | None
    start: Callable[[], Callable[[], int]]
    unit: str = "plies"
    rates: list[float] = field(default_factory=list)  # units per second, of each round
    setup: float = 0.0  # seconds on the clock to set up and do the first slice, with compiling

    @property
    def name(self) -> str:
        backend = f" ({self.backend})" if self.backend else ""
        return f"{self.library} {self.game} {self.interface}{backend} x{self.boards}"

    @property
    def median(self) -> float:
        return float(np.median(self.rates))


def pin_to_one_core() -> bool:
    """Keep this process and its later threads on one core; False if that is not supported."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return True


def measure(
    workloads: Sequence[Workload],
    rounds: int,
    seconds: float,
    progress: Progress,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, str]:
    """Run every workload once a round, for about `seconds` by the clock, and note its `rates`.

    Returns the errors, by name, of other libraries' workloads that did not run; an error of our own
    is raised.
    """
    task = progress.add_task("", total=len(workloads) * (rounds + 1))
    running: list[tuple[Workload, Callable[[], int]]] = []
    errors: dict[str, str] = {}
    for workload in workloads:
        progress.update(task, advance=1, description=f"set up {workload.name}")
        set_backend(workload.backend)
        began = time.perf_counter()
        try:
            play = workload.start()
            play()  # compiles and fills caches
        except Exception as error:
            if workload.library == "boardenvs":
                raise
            errors[workload.name] = f"{type(error).__name__}: {error}"
            continue
        workload.setup = time.perf_counter() - began
        running.append((workload, play))
    for _ in range(rounds):
        for workload, play in running:
            progress.update(task, advance=1, description=workload.name)
            set_backend(workload.backend)
            play()  # the caches are the others'
            done, began = 0, clock()
            while (used := clock() - began) < seconds or not done:
                done += play()
            workload.rates.append(done / max(used, 1e-9))
    set_backend(None)
    return errors
