"""Tasks, such as games to play, done by this process or by others.

The result of a task depends on the task alone, not on the process.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import sys
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from boardenvs.game.errors import StopPlayError
from boardenvs.kernel import get_backend, set_backend
from boardenvs.utils.child import CONTEXT, ChildFunction
from boardenvs.utils.threads import one_thread

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

# Libraries read these when they are loaded; they would start a thread a core in every process.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

NOBODY = 0  # the side whose code runs, if it is no entrant's
_NOT_STARTED = -1

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
    """Does tasks in this process, or in `workers` others, which end with the `with` statement.

    If a process dies, its task is repeated after all others, alone and in a new process, in case
    another task was the cause or memory was short. If that dies too, the task is lost. WorkerError
    if a process dies as it starts.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._workers = [_Worker() for _ in range(workers or 0)]
        self.parallel = bool(self._workers)  # whether other processes do the tasks

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.end()

    def run(
        self, tasks: Sequence[Task[Result]], shared: Any = None
    ) -> Generator[tuple[int, Result], None, None]:
        """Yield each task's number and result, as they come; without workers in their order.

        All tasks get what is `shared`, which is sent once to each worker. StopPlayError if a player
        cannot go on now. When the iteration ends early, so do the tasks in progress.
        """
        if not self.parallel:
            for number, task in enumerate(tasks):
                yield number, task.run(shared, lambda side: None)
            return
        with contextlib.closing(self._in_processes(tasks, shared)) as found:
            for number, result in found:
                if isinstance(result, BaseException):
                    raise result
                yield number, result

    def _in_processes(
        self, tasks: Sequence[Task[Any]], shared: Any
    ) -> Generator[tuple[int, Any], None, None]:
        died, sent = list[int](), pickle.dumps(shared)
        for number, found in _once(dict(enumerate(tasks)), sent, self._workers):
            if isinstance(found, _Died):
                died.append(number)
            else:
                yield number, found
        for number in died:
            self._workers[0].end()
            for _, found in _once({number: tasks[number]}, sent, self._workers[:1]):
                yield number, tasks[number].lost(found.side) if isinstance(found, _Died) else found


HERE = Executor()


@dataclass(frozen=True)
class _Died:
    """The end of a worker in the code of this side."""

    side: int


def _once(
    waiting: dict[int, Task[Any]], shared: bytes, workers: Sequence[_Worker]
) -> Iterator[tuple[int, Any]]:
    """Do tasks, the last ones first, since strong and slow players are often named last; yield each
    one's number, and its result or `_Died`.
    """
    idle, at_work = list(workers), dict[Any, tuple[_Worker, int]]()
    try:
        while waiting or at_work:
            while waiting and idle:
                worker, (number, task) = idle.pop(), waiting.popitem()
                at_work[worker.send(shared, task)] = worker, number
            for pipe in wait(list(at_work)):
                worker, number = at_work.pop(pipe)
                idle.append(worker)
                yield number, worker.receive()
    finally:
        for worker, _ in at_work.values():
            worker.end()


class _Worker:
    """Does one task at a time in a child process; when that has died, the next task starts another
    one.
    """

    _child: ChildFunction | None = None

    def send(self, shared: bytes, task: Task[Any]) -> Connection:
        """Have a task done; `receive` has its result when the pipe has something to read."""
        if self._child is None:
            self._side, self._known = CONTEXT.RawValue("b", _NOT_STARTED), b""
            self._child = ChildFunction(_serve, self._side, get_backend())
        with contextlib.suppress(OSError):  # if it has died, which `receive` finds
            self._child.pipe.send((None if shared is self._known else shared, task))
        self._known = shared
        return self._child.pipe

    def receive(self) -> Any:
        """The result or exception of the task, or `_Died`. WorkerError if the process died before
        it did anything.
        """
        assert self._child is not None
        try:
            return self._child.pipe.recv()
        except (EOFError, OSError):
            side = int(self._side.value)
        if side == _NOT_STARTED:
            raise WorkerError(
                f"a worker process died before it played, {self._child.how_it_ended()}. Something "
                "killed it, there was too little memory, or what it printed says why; a script "
                'that starts a tournament must do so under `if __name__ == "__main__":`, since '
                "the processes import it"
            )
        self.end()
        return _Died(side)

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._child is not None:
            self._child.close()
            self._child = None


def _serve(pipe: Connection, side: Any, backend: str) -> None:
    """Do the tasks that come through the pipe; `side` is memory that outlives the process."""
    for name in _THREADS:
        os.environ.setdefault(name, "1")
    set_backend(backend)
    side.value = NOBODY
    shared: Any = None
    with one_thread(), contextlib.suppress(EOFError):
        while True:
            sent, task = pipe.recv()
            shared = shared if sent is None else pickle.loads(sent)
            found = _do(task, shared, lambda running: setattr(side, "value", running))
            side.value = NOBODY
            pipe.send(found)


def _do(task: Task[Any], shared: Any, running: Running) -> Any:
    """The result of a task, or the exception that it raised."""
    _seed_global_generators(task.seed)
    try:
        return task.run(shared, running)
    except (Exception, StopPlayError) as error:
        error.add_note(traceback.format_exc())
        return error


def _seed_global_generators(seed: int) -> None:
    """Make agents that draw from a library's own generator repeat themselves too."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - agents may use it
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed % 2**63)
