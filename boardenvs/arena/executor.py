"""Tasks, such as games to play, and who does them: this process, others, or those of a cluster.

What comes of a task depends on the task alone, not on where it is done, nor on what dies meanwhile.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol, Self, TypeVar

from boardenvs.arena.processes import Died, Job, ProcessWorker
from boardenvs.kernel import get_backend

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

Running = Callable[[int], None]


class Task(Protocol[Result_co]):
    """What can be done in another process: it is pickled, and so is its result."""

    @property
    def seed(self) -> int:
        """Of the global generators of the process that does it."""

    def run(self, shared: Any, running: Running) -> Result_co:
        """Do it; `running` is told whose code is about to run, NOBODY where it is ours."""

    def lost(self, side: int) -> Result_co:
        """What comes of it where its process died twice, at last in the code of this side."""


class Executor:
    """Does tasks here or, within a `with` statement, by so many `workers`: processes of this
    machine or, with an `address`, of the nodes of the Ray cluster there, by default one a core.

    Where a process dies, its task is done again after all others, alone and in a process of its
    own, lest it fell with another's fault or for want of memory. If that dies too, the task is
    lost. What a node was at when it died is done again on another one, as if it had not begun.

    WorkerError where the cluster cannot be joined, or where several processes in a row die while
    they start.
    """

    def __init__(self, workers: int | None = 0, address: str | None = None) -> None:
        self.elsewhere = address is not None
        self._count, self._address = workers or 0, address
        self._kind: Any = ProcessWorker
        self._workers: list[Any] = []
        self._stack = contextlib.ExitStack()
        self._runs = 0
        self.cpu_seconds = 0.0  # that tasks took so far in other processes

    @property
    def parallel(self) -> bool:
        """Whether others than this process do the tasks."""
        return bool(self._workers)

    def __enter__(self) -> Self:
        if self._address is not None:
            from boardenvs.arena.nodes import NodeWorker, joined

            cores = self._stack.enter_context(joined(self._address))
            self._count, self._kind = self._count or cores, NodeWorker
        self._workers = [self._kind(get_backend()) for _ in range(self._count)]
        for worker in self._workers:
            self._stack.callback(worker.end)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def run(
        self,
        tasks: Sequence[Task[Result]],
        shared: Any = None,
        cost: Callable[[Any], float] = lambda task: 0.0,
    ) -> Generator[tuple[int, Result], None, None]:
        """What comes of each task, with its number, as it comes: without workers in their order.

        All are given what is `shared`, which workers are sent once. Those go first that cost most.
        StopPlayError where a player cannot go on now. When the iteration ends early, so does what
        is being done.
        """
        if not self._workers:
            for number, task in enumerate(tasks):
                yield number, task.run(shared, lambda side: None)
            return
        self._runs += 1
        again: list[int] = []
        dumps = self._kind.dumps
        sent = self._kind.share(dumps(shared))

        def job(number: int, alone: bool) -> Job:
            return Job(dumps(tasks[number]), sent, self._runs, alone)

        def put_off(number: int, died: Died) -> None:
            again.append(number)

        first = [number for number, _ in enumerate(tasks)]
        yield from self._run(first, lambda n: job(n, False), lambda n: cost(tasks[n]), put_off)
        for number in again:
            lost: list[Result] = []

            def lose(number: int, died: Died) -> None:
                lost.append(tasks[number].lost(died.side))  # noqa: B023 - called within this turn

            yield from self._run([number], lambda n: job(n, True), lambda n: 0.0, lose)
            yield from ((number, result) for result in lost)

    def _run(
        self,
        waiting: list[int],
        job: Callable[[int], Job],
        cost: Callable[[int], float],
        died: Callable[[int, Died], None],
    ) -> Generator[tuple[int, Any], None, None]:
        """What comes of those that wait; `died` is told of those that had begun."""
        at_work: dict[Any, int] = {}
        try:
            for worker in self._workers[: len(waiting)]:
                worker.start()
            while waiting or at_work:
                for worker in self._workers:
                    if waiting and worker.ready and worker not in at_work:
                        number = max(waiting, key=cost)
                        waiting.remove(number)
                        worker.send(job(number))
                        at_work[worker] = number
                busy = [w for w in self._workers if w in at_work or not w.ready]
                for worker in self._kind.wait(busy):
                    answer = worker.receive()
                    if worker not in at_work:
                        continue
                    number = at_work.pop(worker)
                    if not isinstance(answer, Died):
                        found, seconds = pickle.loads(answer)
                        self.cpu_seconds += seconds
                        if isinstance(found, BaseException):
                            raise found
                        yield number, found
                    elif answer.begun:
                        died(number, answer)
                    else:
                        waiting.append(number)
        finally:
            for worker in at_work:
                worker.end()


HERE = Executor()
