"""A process that does one task at a time, and may die of it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import random
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, Self

import numpy as np

from boardenvs.game.errors import StopPlayError
from boardenvs.kernel import set_backend
from boardenvs.utils.ending import serve_parent, start_worker

# Libraries that would otherwise start a thread a core in every process; read when they are loaded.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

NOBODY = 0  # where the code that runs is not an entrant's
_NOT_STARTED = -1
_MOST_STARTS = 3  # of processes in a row that die before they play


class WorkerError(RuntimeError):
    """Workers cannot even start."""


class Died(NamedTuple):
    """In the place of what comes of a task: its process died."""

    begun: bool  # whether with the task, or before it
    side: int  # whose code ran


class Job(NamedTuple):
    """A task as it is sent, pickled."""

    task: bytes
    shared: Any  # what it has in common with others, as `share` gave it
    number: int  # of what is shared: it is sent once
    alone: bool  # in a process that has done nothing before


class ProcessWorker:
    """Does jobs, each in its process, which is started anew where it has died."""

    ready = True  # for a job

    def __init__(self, backend: str) -> None:
        self._backend = backend
        self._failures = 0  # processes in a row that died before they played
        self._process: BaseProcess | None = None

    dumps = staticmethod(pickle.dumps)

    @staticmethod
    def share(pickled: bytes) -> bytes:
        """What many jobs have in common, as these take it."""
        return pickled

    @staticmethod
    def wait(workers: Sequence[ProcessWorker]) -> list[ProcessWorker]:
        """Those of these that have something to `receive`, at least one."""
        by_pipe = {worker._pipe: worker for worker in workers}
        return [by_pipe[pipe] for pipe in wait(list(by_pipe)) if isinstance(pipe, Connection)]

    def start(self) -> None:
        """Have a process."""
        if self._process is not None:
            return
        context = multiprocessing.get_context("spawn")  # works everywhere, threads or not
        self._side = context.RawValue("b", _NOT_STARTED)
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._side, self._backend))
        self._known = 0  # the number of what is shared that it has
        with _one_thread_each():
            start_worker(self._process)
        theirs.close()  # so that the pipe ends with the process

    def send(self, job: Job) -> None:
        """Have it done; `receive` says what came of it."""
        if job.alone:
            self.end()
        self.start()
        with contextlib.suppress(OSError):  # of a process that died, which `receive` says
            self._pipe.send_bytes(b"" if job.number == self._known else job.shared)
            self._pipe.send_bytes(job.task)
        self._known = job.number

    def receive(self) -> bytes | Died:
        """The result or the exception, and the CPU seconds that the task took, pickled; WorkerError
        where several processes in a row died before they could do anything.
        """
        try:
            return self._pipe.recv_bytes()
        except (EOFError, OSError):
            side = int(self._side.value)
        begun = side != _NOT_STARTED
        self._failures = 0 if begun else self._failures + 1
        if self._failures == _MOST_STARTS:
            how = self._how_it_ended()
            raise WorkerError(f"{_MOST_STARTS} worker processes died before they played, {how}")
        self.end()
        return Died(begun, side)

    def _how_it_ended(self) -> str:
        assert self._process is not None
        self._process.join(30)  # it is about to end, however busy the machine
        code = self._process.exitcode
        if code is not None and code < 0:
            reason = "something killed it, or there was too little memory"
            return f"the last by signal {-code} ({_name(-code)}): {reason}"
        return (
            f"the last with exit code {code}; what it printed says why. A script that starts a "
            'tournament must do so under `if __name__ == "__main__":`, since the processes import '
            "it"
        )

    def end(self) -> None:
        """End the process, whatever it does; the next job is for another one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # one of those between SIGRTMIN and SIGRTMAX
        return "a real-time signal"


def _work(pipe: Connection, side: Any, backend: str) -> None:
    """What a worker process does; `side` is memory that outlives it."""
    serve_parent()
    set_backend(backend)
    side.value = NOBODY
    shared: Any = None
    while True:
        found: object
        began = time.process_time()
        try:
            if sent := pipe.recv_bytes():
                shared = pickle.loads(sent)
            task = pickle.loads(pipe.recv_bytes())
            _seed_global_generators(task.seed)
            found = task.run(shared, lambda running: setattr(side, "value", running))
        except EOFError:
            return
        except StopPlayError as stop:
            found = stop
        except Exception as error:
            error.add_note(traceback.format_exc())
            found = error
        side.value = NOBODY
        pipe.send_bytes(pickle.dumps((found, time.process_time() - began)))


def _seed_global_generators(seed: int) -> None:
    """Have agents that draw from a library's own generator repeat themselves too."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002  # it is theirs, not ours
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed % 2**63)


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that start within this context compute on one thread, unless the user says else."""
    unset = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]
