"""Jobs in processes, of which any may die without taking more than its job along."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from typing import Any

from boardenvs.arena.tournament.job import NOBODY, Job, Played
from boardenvs.arena.tournament.schedule import Schedule
from boardenvs.kernel import get_backend, set_backend
from boardenvs.utils.ending import serve_parent

# Libraries that would otherwise start a thread a core in every process; read when they are loaded.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

_NOT_STARTED = -1
_MOST_STARTS = 3  # of processes in a row that die before they play


class WorkerError(RuntimeError):
    """Worker processes cannot even start."""


def play_all(schedule: Schedule, workers: int) -> Generator[Played, None, None]:
    """Play the schedule's jobs in so many processes, and give each result as it comes.

    Where a process dies, its job is played again after all others, alone and in a process of its
    own, lest it fell with another's fault or for want of memory. If it dies once more, the entrant
    whose code was running then forfeits all games of the job; if none was, the job is void. Where a
    process dies while it starts another is started; WorkerError after several in a row. When the
    iteration ends early, the processes are ended with it.
    """
    context = multiprocessing.get_context("spawn")  # works everywhere, threads or not
    idle = [_Worker(context) for _ in range(workers)]
    running: dict[Future[Played], tuple[_Worker, Job]] = {}
    with _one_thread_each(), contextlib.ExitStack() as stack:
        for worker in idle:
            stack.callback(worker.end)
        while running or schedule.waiting:
            while idle and schedule.waiting:
                worker, job = idle.pop(), schedule.take()
                running[worker.play(job)] = worker, job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                worker, job = running.pop(future)
                idle.append(worker)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    if worker.replace():
                        schedule.postpone(job)
                    else:
                        schedule.put_back(job)
                else:
                    schedule.learn(job, result)
                    yield result
        while schedule.postponed:
            job = schedule.take_postponed()
            result = _play_alone(idle[0], job)
            schedule.learn(job, result)
            yield result


def _play_alone(worker: _Worker, job: Job) -> Played:
    worker.replace()
    while True:
        try:
            return worker.play(job).result()
        except BrokenProcessPool:
            side = worker.running
            if worker.replace():
                return job.forfeited(side, "the process died, twice")


class _Worker:
    """A process that plays one job at a time."""

    def __init__(self, context: SpawnContext) -> None:
        self._context = context
        self._failures = 0  # processes in a row that died before they played
        self._make()

    def _make(self) -> None:
        self._side = self._context.RawValue("b", _NOT_STARTED)
        self._process: BaseProcess | None = None
        self._executor = ProcessPoolExecutor(
            1,
            mp_context=self._context,
            initializer=_start,
            initargs=(self._side, get_backend()),
        )

    @property
    def running(self) -> int:
        """Whose code runs, or ran when the process died."""
        return int(self._side.value)

    def play(self, job: Job) -> Future[Played]:
        pickled = pickle.dumps(job)
        before = multiprocessing.active_children()
        try:
            future = self._executor.submit(_play, pickled)  # which starts the process
        except BrokenProcessPool:  # it died while it had nothing to do
            self.replace()
            future = self._executor.submit(_play, pickled)
        started = [p for p in multiprocessing.active_children() if p not in before]
        self._process = started[0] if started else self._process
        return future

    def replace(self) -> bool:
        """A new process in the place of this one; whether this one had begun to play, or was not
        asked to. WorkerError where several in a row had not.
        """
        failed = self._process is not None and self.running == _NOT_STARTED
        self._failures = self._failures + 1 if failed else 0
        how = self._how_it_ended() if self._failures >= _MOST_STARTS else ""
        self.end()
        if how:
            raise WorkerError(f"{_MOST_STARTS} worker processes died before they played, {how}")
        self._make()
        return not failed

    def _how_it_ended(self) -> str:
        assert self._process is not None
        self._process.join(30)  # it is about to end, however busy the machine
        code = self._process.exitcode
        if code is not None and code < 0:
            reason = "something killed it, or there was too little memory"
            return f"the last by signal {-code} ({signal.Signals(-code).name}): {reason}"
        return (
            f"the last with exit code {code}; what it printed says why. A script that starts a "
            'tournament must do so under `if __name__ == "__main__":`, since the processes import '
            "it"
        )

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._process:
            self._process.kill()
        self._executor.shutdown(cancel_futures=True)


_side: Any = None  # in a worker: whose code runs, in memory that outlives the process


def _start(side: Any, backend: str) -> None:
    """What a worker process does first."""
    global _side
    _side = side
    serve_parent()
    set_backend(backend)
    side.value = NOBODY


def _play(pickled: bytes) -> Played:
    job: Job = pickle.loads(pickled)
    played = job.play(lambda side: setattr(_side, "value", side))
    _side.value = NOBODY
    return played


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that start within this context compute on one thread, unless the user says else."""
    unset = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]
