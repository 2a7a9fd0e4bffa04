"""Tasks, such as games to play, done by this process or by others.

The result of a task depends on the task alone, not on the process.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from boardenvs.game.errors import StopPlayError
from boardenvs.kernel import get_backend, set_backend
from boardenvs.utils.child import CONTEXT, ChildFunction, answer_calls
from boardenvs.utils.threads import one_thread

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

# Libraries read these when they are loaded; they would start a thread a core in every process.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

# Whose code runs in a process: one of the two players', or no player's.
NOBODY, FIRST, SECOND = 0, 1, 2
_NOT_STARTED = -1
_sides: list[Any] = []  # in a worker the memory for it, which outlives the process


class WorkerError(RuntimeError):
    """Workers cannot even start."""


class Task(Protocol[Result_co]):
    """A piece of work for any process: it is pickled, and so is its result."""

    def run(self) -> Result_co:
        """Do it; `note_running` says whose code runs."""

    def lost(self, side: int) -> Result_co:
        """Return the result if its process died twice, the last time in the code of this side."""


def note_running(side: int) -> None:
    """Note whose code runs next, in case it ends this process."""
    for memory in _sides:
        memory.value = side


class Executor:
    """Does tasks in this process, or in `workers` others, which end with the `with` statement.

    If a process dies, `report` gets a line, and its task is repeated after all others, alone and in
    a new process, in case another task was the cause or memory was short. If that dies too, the
    task is lost; WorkerError if it dies as it starts.
    """

    def __init__(
        self, workers: int | None = None, report: Callable[[str], None] = lambda line: None
    ) -> None:
        self._report = report
        self._workers = [_Worker() for _ in range(workers or 0)]
        self.parallel = bool(self._workers)  # whether other processes do the tasks

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.end()

    def run(self, tasks: Sequence[Task[Result]]) -> Iterator[tuple[int, Result]]:
        """Yield each task's number and result, as they come; without workers in their order.

        Workers begin at once, with the last tasks, since strong and slow players are often named
        last. StopPlayError if a player cannot go on now. When the iteration ends early, so do the
        tasks in progress.
        """
        results = self._results(tasks)
        next(results)
        return results

    def _results(self, tasks: Sequence[Task[Result]]) -> Generator[Any, None, None]:
        """Yield None when workers have begun, and then as `run` does."""
        if not self.parallel:
            yield None
            for number, task in enumerate(tasks):
                yield number, task.run()
            return
        left, died, idle = list(range(len(tasks))), list[int](), list(self._workers)
        at_work: dict[Any, tuple[_Worker, int, bool]] = {}

        def begin() -> None:
            while idle and (left or (died and not at_work)):
                worker, alone = idle.pop(), not left
                if alone:
                    worker.end()
                number = (left or died).pop()
                at_work[worker.send(tasks[number])] = worker, number, alone

        try:
            begin()
            yield None
            while at_work:
                for pipe in wait(list(at_work)):
                    worker, number, alone = at_work.pop(pipe)
                    idle.append(worker)
                    result = worker.receive()
                    if isinstance(result, BaseException):
                        raise result
                    if not isinstance(result, _Died):
                        yield number, result
                    elif not alone:
                        self._report(f"a worker died, {result.how}: its work is repeated")
                        died.append(number)
                    elif result.side == _NOT_STARTED:
                        raise WorkerError(
                            f"a worker process died before it played, {result.how}. Something "
                            "killed it, there was too little memory, or what it printed says why; "
                            "a script that starts a tournament must do so under "
                            '`if __name__ == "__main__":`, since the processes import it'
                        )
                    else:
                        yield number, tasks[number].lost(result.side)
                begin()
        finally:
            for worker, _, _ in at_work.values():
                worker.end()


HERE = Executor()


@dataclass(frozen=True)
class _Died:
    """The end of a worker in the code of this side, and how, such as "by signal 9"."""

    side: int
    how: str


class _Worker:
    """Does one task at a time in a child process; when that has died, the next task starts another
    one.
    """

    _child: ChildFunction | None = None

    def send(self, task: Task[Any]) -> Connection:
        """Have a task done; `receive` has its result when the pipe has something to read."""
        if self._child is None:
            self._side = CONTEXT.RawValue("b", _NOT_STARTED)
            self._child = ChildFunction(answer_calls, _begin, self._side, get_backend())
        with contextlib.suppress(OSError):  # if it has died, which `receive` finds
            self._child.pipe.send((do, (task,)))
        return self._child.pipe

    def receive(self) -> Any:
        """Return the result or exception of the task, or `_Died`."""
        assert self._child
        try:
            return self._child.pipe.recv()
        except (EOFError, OSError):
            died = _Died(int(self._side.value), self._child.how_it_ended())
        self.end()
        return died

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._child:
            self._child.close()
            self._child = None


def _begin(side: Any, backend: str) -> None:
    """Prepare this process, a worker; `side` is memory that outlives it."""
    for name in _THREADS:
        os.environ.setdefault(name, "1")
    # Managers of services send it to all processes; the one that started this one handles it.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    set_backend(backend)
    _sides.append(side)
    note_running(NOBODY)


def seed_libraries(seed: int) -> None:
    """Seed the generators of Python, NumPy and torch, from which agents of others may draw."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - agents may use it
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed % 2**63)


def do(task: Task[Any]) -> Any:
    """Return the result of a task, or the exception that it raised."""
    try:
        with one_thread():
            return task.run()
    except (Exception, StopPlayError) as error:
        error.add_note(traceback.format_exc())
        return error
    finally:
        note_running(NOBODY)
