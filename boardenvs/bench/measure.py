"""Timing: interleaved rounds, so that all workloads share whatever else the machine does."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from rich.progress import Progress

from boardenvs.bench.workloads import Workload
from boardenvs.kernel import set_backend


@dataclass
class Measurement:
    """Plies, or what the workload counts, a second; one figure a round."""

    workload: Workload
    cpu: list[float] = field(default_factory=list)  # a second of processor time
    wall: list[float] = field(default_factory=list)  # a second on the clock
    setup: float = 0.0  # seconds on the clock until the first slice was done, compiling included

    @property
    def median(self) -> float:
        """The figure of processor time."""
        return float(np.median(self.cpu))

    @property
    def spread(self) -> float:
        """The interquartile range as a part of the median."""
        low, high = np.percentile(self.cpu, [25, 75])
        return float((high - low) / self.median)


def pin_to_one_core() -> bool:
    """Keep this process, and all threads it starts later, on one core; False where unsupported."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return True


def measure(
    workloads: list[Workload], rounds: int, seconds: float, progress: Progress
) -> tuple[list[Measurement], dict[str, str]]:
    """Run every workload once a round for about so many CPU seconds.

    `progress` gets a task that names each workload before it runs. Returns the measurements and,
    by name, the errors of those that could not be run, which are peers: an error of ours is raised.
    """
    task = progress.add_task("", total=len(workloads) * (rounds + 1))
    running: list[tuple[Measurement, Callable[[], int]]] = []
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
        setup = time.perf_counter() - began
        running.append((Measurement(workload, setup=setup), play))
    for _ in range(rounds):
        for result, play in running:
            progress.update(task, advance=1, description=result.workload.name)
            set_backend(result.workload.backend)
            _run(result, play, seconds)
    set_backend(None)
    return [result for result, _ in running], errors


def _run(result: Measurement, play: Callable[[], int], seconds: float) -> None:
    play()  # after the others had the caches
    done = 0
    cpu, wall = time.process_time(), time.perf_counter()
    while (used := time.process_time() - cpu) < seconds or not done:
        done += play()
    result.cpu.append(done / max(used, 1e-9))
    result.wall.append(done / (time.perf_counter() - wall))
