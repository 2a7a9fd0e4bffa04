"""The order of a tournament's jobs: those that will take longest first, so that none ends late."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from boardenvs.arena.tournament.job import Job, Played


class Schedule:
    """Jobs that wait, run, or are put off to the end, and what has been learnt of their costs.

    The cost of a job is taken to be the sum of its two entrants' mean costs in that game; jobs of
    entrants that nothing is known of come first. The order has no part in any result.
    """

    def __init__(self, jobs: Sequence[Job], known: Sequence[Played] = ()) -> None:
        self.waiting = list(jobs)
        self.running: list[Job] = []
        self.postponed: list[Job] = []
        self._costs: dict[tuple[str, str], list[float]] = defaultdict(list)
        for played in known:
            self._note(played)

    def take(self) -> Job:
        """The next job to play, which then counts as running."""
        job = max(self.waiting, key=self._cost)
        self.waiting.remove(job)
        self.running.append(job)
        return job

    def postpone(self, job: Job) -> None:
        """Put a running job off, to be played after all others."""
        self.running.remove(job)
        self.postponed.append(job)

    def put_back(self, job: Job) -> None:
        """A running job had not begun, and waits again."""
        self.running.remove(job)
        self.waiting.append(job)

    def take_postponed(self) -> Job:
        """The next job that was put off, which then counts as running."""
        job = self.postponed.pop(0)
        self.running.append(job)
        return job

    def learn(self, job: Job, played: Played) -> None:
        """A running job is over."""
        self.running.remove(job)
        self._note(played)

    @property
    def seconds_left(self) -> float:
        """What the jobs not yet over will cost in CPU seconds; infinite while nobody can know."""
        return sum(self._cost(job) for job in (*self.waiting, *self.running, *self.postponed))

    def _cost(self, job: Job) -> float:
        costs = (self._costs.get((job.game, e.label)) for e in (job.first, job.second))
        return sum(sum(c) / len(c) if c else math.inf for c in costs)

    def _note(self, played: Played) -> None:
        if played.match is None:
            return
        for label, conduct in zip((played.first, played.second), played.match.conduct, strict=True):
            per_move = conduct.cpu_seconds / max(1, conduct.timed_moves)
            self._costs[played.game, label].append(per_move * conduct.moves)
