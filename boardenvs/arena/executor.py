"""Tasks, such as games to play, done by this process, by others, or on the nodes of a Ray cluster.

The result of a task depends on the task alone, not on the place.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from boardenvs.game.errors import StopPlayError
from boardenvs.kernel import get_backend, set_backend
from boardenvs.utils.child import CONTEXT, ChildFunction

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

# Libraries that would otherwise start a thread a core in every process; read when they are loaded.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

NOBODY = 0  # the side whose code runs, if it is no entrant's
_NOT_STARTED = -1
_MOST_STARTS = 3  # processes in a row that die before they do anything

Running = Callable[[int], None]


class WorkerError(RuntimeError):
    """Workers cannot even start."""


class Task(Protocol[Result_co]):
    """A piece of work for any process: it is pickled, and so is its result."""

    @property
    def seed(self) -> int:
        """Seed of the global random generators in the process that does it."""

    def run(self, shared: Any, running: Running) -> Result_co:
        """Do it; call `running` with the side whose code runs next, NOBODY for our own."""

    def lost(self, side: int) -> Result_co:
        """The result if its process died twice, the last time in the code of this side."""


class Executor:
    """Does tasks here or, within a `with` statement, in `workers` processes of this machine or,
    with an `address`, on the Ray cluster there, by default one a core.

    If a process dies, its task is repeated after all others, alone and in a new process, in case
    another task was the cause or memory was short. If that dies too, the task is lost. On a cluster
    Ray repeats tasks, and no side is known to be the cause.

    WorkerError if the cluster cannot be joined, or several processes in a row die as they start.
    """

    def __init__(self, workers: int | None = 0, address: str | None = None) -> None:
        self.elsewhere = address is not None
        self._count, self._address = workers or 0, address
        self._workers: list[_Worker] = []
        self._stack = contextlib.ExitStack()
        self.parallel = False  # whether other processes do the tasks
        self.cpu_seconds = 0.0  # of tasks in other processes so far

    def __enter__(self) -> Self:
        if self._address is not None:
            from boardenvs.arena.nodes import joined

            cores = self._stack.enter_context(joined(self._address))
            self._count = self._count or int(cores)
        else:
            self._workers = [_Worker() for _ in range(self._count)]
        self.parallel = self._count > 0
        return self

    def __exit__(self, *error: object) -> None:
        self.parallel = False
        for worker in self._workers:
            worker.end()
        self._stack.close()

    def run(
        self,
        tasks: Sequence[Task[Result]],
        shared: Any = None,
        cost: Callable[[Any], float] = lambda task: 0.0,
    ) -> Generator[tuple[int, Result], None, None]:
        """Yield each task's number and result, as they come; without workers in their order.

        All tasks get what is `shared`, which is sent once to each worker. The most costly tasks go
        first. StopPlayError if a player cannot go on now. When the iteration ends early, so do the
        tasks in progress.
        """
        if not self.parallel:
            for number, task in enumerate(tasks):
                yield number, task.run(shared, lambda side: None)
            return
        if self.elsewhere:
            from boardenvs.arena.nodes import run_on_nodes

            found = run_on_nodes(tasks, shared, cost, self._count)
        else:
            found = self._in_processes(tasks, shared, cost)
        with contextlib.closing(found):
            for number, result, seconds in found:
                self.cpu_seconds += seconds
                if isinstance(result, BaseException):
                    raise result
                yield number, result

    def _in_processes(
        self, tasks: Sequence[Task[Any]], shared: Any, cost: Callable[[Any], float]
    ) -> Generator[tuple[int, Any, float], None, None]:
        pickled, died = pickle.dumps(shared), []
        for number, found in self._round(tasks, range(len(tasks)), pickled, cost):
            if isinstance(found, int):
                died.append(number)
            else:
                yield number, *found
        for number in died:
            self._workers[0].end()
            for _, found in self._round(tasks, [number], pickled, cost):
                lost = isinstance(found, int)
                yield number, *((tasks[number].lost(found), 0.0) if lost else found)

    def _round(
        self,
        tasks: Sequence[Task[Any]],
        numbers: Sequence[int],
        shared: bytes,
        cost: Callable[[Any], float],
    ) -> Iterator[tuple[int, Any]]:
        """Yield the result and CPU seconds of each of these tasks, or the side in whose code its
        process died.
        """
        waiting, at_work = list(numbers), dict[Any, tuple[_Worker, int]]()
        idle = self._workers[: len(waiting)]
        try:
            while waiting or at_work:
                while waiting and idle:
                    number = max(waiting, key=lambda number: cost(tasks[number]))
                    waiting.remove(number)
                    worker = idle.pop(0)
                    at_work[worker.send(shared, pickle.dumps(tasks[number]))] = worker, number
                for pipe in wait(list(at_work)):
                    worker, number = at_work.pop(pipe)
                    found = worker.receive()
                    idle.append(worker)
                    if found == _NOT_STARTED:
                        waiting.append(number)
                    else:
                        yield number, found
        finally:
            for worker, _ in at_work.values():
                worker.end()


HERE = Executor()


class _Worker:
    """Does one task at a time in a child process; when that has died, the next task starts another
    one.
    """

    _child: ChildFunction | None = None
    _failures = 0  # processes in a row that died before they did anything

    def send(self, shared: bytes, task: bytes) -> Connection:
        """Have a task done; `receive` has its result when the pipe has something to read."""
        if self._child is None:
            self._side, self._known = CONTEXT.RawValue("b", _NOT_STARTED), b""
            with _one_thread_each():
                self._child = ChildFunction(_serve, self._side, get_backend())
        with contextlib.suppress(OSError):  # if it has died, which `receive` finds
            self._child.pipe.send_bytes(b"" if shared is self._known else shared)
            self._child.pipe.send_bytes(task)
        self._known = shared
        return self._child.pipe

    def receive(self) -> Any:
        """The result or exception of the task and its CPU seconds, or the side in whose code the
        process died. WorkerError if several in a row died before they did anything.
        """
        assert self._child is not None
        try:
            return pickle.loads(self._child.pipe.recv_bytes())
        except (EOFError, OSError):
            side = int(self._side.value)
        self._failures = self._failures + 1 if side == _NOT_STARTED else 0
        if self._failures == _MOST_STARTS:
            raise WorkerError(
                f"{_MOST_STARTS} worker processes died before they played, the last "
                f"{self._child.how_it_ended()}. Something killed them, there was too little "
                "memory, or what they printed says why; a script that starts a tournament must do "
                'so under `if __name__ == "__main__":`, since the processes import it'
            )
        self.end()
        return side

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._child is not None:
            self._child.close()
            self._child = None


def _serve(pipe: Connection, side: Any, backend: str) -> None:
    """Do the tasks that come through the pipe; `side` is memory that outlives the process."""
    set_backend(backend)
    side.value = NOBODY
    shared: Any = None
    with contextlib.suppress(EOFError):
        while True:
            if sent := pipe.recv_bytes():
                shared = pickle.loads(sent)
            task = pickle.loads(pipe.recv_bytes())
            found = do(task, shared, lambda running: setattr(side, "value", running))
            side.value = NOBODY
            pipe.send_bytes(pickle.dumps(found))


def do(task: Task[Any], shared: Any, running: Running) -> tuple[Any, float]:
    """The result of a task, or the exception that it raised, and the CPU seconds that it took."""
    began = time.process_time()
    found: Any = None
    _seed_global_generators(task.seed)
    try:
        found = task.run(shared, running)
    except StopPlayError as stop:  # no Exception
        found = stop
    except Exception as error:
        error.add_note(traceback.format_exc())
        found = error
    return found, time.process_time() - began


def _seed_global_generators(seed: int) -> None:
    """Make agents that draw from a library's own generator repeat themselves too."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - agents may use it
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
