"""What has happened in a run so far: evaluations, metrics, the best of them and the time spent."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.arena.executor import HERE, Executor
from boardenvs.game.state import FloatArray
from training.evaluation import SuiteResult, evaluate
from training.settings import RunSettings

# Seeds of openings, away from one another: the policy is chosen on the first, judged on the second.
SUITE_SEED, REPORT_SEED = 10_000, 20_000


class History:
    """The record of a run, whatever trains: see `snapshot` for what a checkpoint needs of it."""

    def __init__(self, settings: RunSettings, executor: Executor = HERE) -> None:
        self.settings = settings
        self.executor = executor  # of the games of evaluations
        self.game = settings.make_game()
        self.results: list[SuiteResult] = []
        self.metrics: list[dict[str, float]] = []  # of each update
        # Wall and CPU time in seconds, of earlier parts of the run and when this part began.
        self._before, self._began = np.zeros(2), self._clocks()
        self._ended: FloatArray | None = None

    @property
    def best(self) -> SuiteResult:
        """The evaluation that ranks highest, the latest of equal ones; there must have been one."""
        return max(reversed(self.results), key=lambda result: result.rank)

    @property
    def minutes(self) -> float:
        """The wall time that the run has taken, evaluations included."""
        return self._times()[0]

    @property
    def cpu_minutes(self) -> float:
        """The CPU time that the run has taken, evaluations included: of this process, and what
        the executor and `add_cpu_seconds` know of others.
        """
        return self._times()[1]

    def start_clocks(self) -> None:
        """Count the time of this part of the run from now on."""
        self._began = self._clocks()

    def stop_clocks(self) -> None:
        """Count no time from now on."""
        self._ended = self._clocks()

    def add_cpu_seconds(self, seconds: float) -> None:
        """Count CPU time of other processes that play or learn."""
        self._before[1] += seconds

    def is_finished(self, steps: int) -> bool:
        """Whether the steps or the minutes of the run are used up."""
        limit = self.settings.minutes
        return steps >= self.settings.steps or (limit is not None and self.minutes >= limit)

    def add_metrics(self, steps: int, metrics: dict[str, float]) -> None:
        """Take in the metrics of an update that ended after so many steps."""
        self.metrics.append({"steps": steps, **metrics})

    def evaluate(self, policy: Policy, steps: int) -> tuple[SuiteResult, bool]:
        """A policy's result in the evaluation suite, and whether it is the best so far."""
        seed, player = SUITE_SEED + self.settings.seed, PolicyAgent(policy)
        result = evaluate(self.settings, player, seed, steps, self.minutes, self.executor)
        self.results.append(result)
        return result, self.best is result

    def snapshot(self) -> dict[str, Any]:
        """All of it, as plain values."""
        return {
            "times": self._times(),
            "metrics": self.metrics,
            "results": [r.model_dump() for r in self.results],
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot`."""
        self._before = 60 * np.array(snapshot["times"])
        self.metrics = snapshot["metrics"]
        self.results = [SuiteResult.model_validate(r) for r in snapshot["results"]]

    def _times(self) -> list[float]:
        now = self._clocks() if self._ended is None else self._ended
        times: list[float] = ((self._before + now - self._began) / 60).tolist()
        return times

    def _clocks(self) -> FloatArray:
        """The wall clock and the CPU clock, in seconds."""
        return np.array([time.monotonic(), time.process_time() + self.executor.cpu_seconds])


def policy_notes(settings: RunSettings, steps: int) -> dict[str, Any]:
    """What the file of a policy says of where it comes from."""
    return {"run": settings.name, "seed": settings.seed, "steps": steps}


def is_due(before: int, now: int, every: int) -> bool:
    """Whether a multiple of `every` lies in what has passed."""
    return now // every > before // every
