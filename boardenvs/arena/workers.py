"""How pairings are played: here, or in processes, of which any may die."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import pickle
import random
import signal
import sys
import traceback
from collections.abc import Generator, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np

from boardenvs.arena.pairing import NOBODY, Pairing, Played
from boardenvs.game.errors import StopPlayError
from boardenvs.kernel import get_backend, set_backend
from boardenvs.utils.ending import serve_parent, start_worker

# Libraries that would otherwise start a thread a core in every process; read when they are loaded.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

_NOT_STARTED = -1
_MOST_STARTS = 3  # of processes in a row that die before they play


class WorkerError(RuntimeError):
    """Worker processes cannot even start."""


def play_pairings(
    pairings: Sequence[Pairing], *, workers: int = 0, known: Iterable[Played] = ()
) -> Generator[Played, None, None]:
    """Play pairings, and give each result as it comes; to resume is to leave out what was played.

    Without `workers` they are played here, in their order; else in so many processes, those first
    that will take longest by what is `known` of their entrants. The results are the same.

    Where a process dies, its pairing is played again after all others, alone and in a process of
    its own, lest it fell with another's fault or for want of memory. If it dies once more, the
    entrant whose code was running then forfeits all games; if none was, the pairing is void.
    WorkerError where several processes in a row die while they start; StopPlayError where a player
    cannot go on now. When the iteration ends early, the processes are ended with it.
    """
    if not workers:
        for pairing in pairings:
            yield pairing.play()
        return
    costs: dict[tuple[str, str], float] = {}
    for played in known:
        costs |= _costs(played)

    def cost(pairing: Pairing) -> float:
        """No result depends on it; an entrant that nothing is known of may cost most."""
        return sum(costs.get((pairing.game, label), math.inf) for label in pairing.key[1:])

    waiting, again = list(pairings), list[Pairing]()
    playing: dict[Connection, tuple[_Worker, Pairing]] = {}
    with _one_thread_each(), contextlib.ExitStack() as stack:
        idle = [_Worker() for _ in range(min(workers, len(waiting)))]
        for worker in idle:
            stack.callback(worker.end)
        while playing or waiting:
            while idle and waiting:
                pairing = max(waiting, key=cost)
                waiting.remove(pairing)
                worker = idle.pop()
                worker.send(pairing)
                playing[worker.pipe] = worker, pairing
            for pipe in wait(list(playing)):
                assert isinstance(pipe, Connection)
                worker, pairing = playing.pop(pipe)
                result = worker.result()
                if result is not None:
                    costs |= _costs(result)
                    yield result
                else:
                    (again if worker.had_begun() else waiting).append(pairing)
                    worker.end()
                idle.append(worker)
        for pairing in again:
            yield _play_alone(idle[0], pairing)


def _play_alone(worker: _Worker, pairing: Pairing) -> Played:
    while True:
        worker.end()
        worker.send(pairing)
        played = worker.result()
        if played is not None:
            return played
        if worker.had_begun():
            return pairing.forfeited(worker.side, "the process died, twice")


def _costs(played: Played) -> dict[tuple[str, str], float]:
    """The CPU seconds that each entrant took in the game."""
    if played.match is None:
        return {}
    return {
        (played.game, label): faults.all_cpu_seconds
        for label, faults in zip(played.key[1:], played.match.faults, strict=True)
    }


class _Worker:
    """A process that plays one pairing at a time."""

    def __init__(self) -> None:
        self._failures = 0  # processes in a row that died before they played
        self._process: BaseProcess | None = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # works everywhere, threads or not
        self._side = context.RawValue("b", _NOT_STARTED)
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._side, get_backend()))
        start_worker(self._process)
        theirs.close()  # so that the pipe ends with the process

    @property
    def side(self) -> int:
        """Whose code runs, or ran when the process died."""
        return int(self._side.value)

    def send(self, pairing: Pairing) -> None:
        """Have it played; `pipe` is ready when `result` is."""
        if self._process is None:
            self._start()
        with contextlib.suppress(OSError):  # of a process that died, which `result` says
            self.pipe.send_bytes(pickle.dumps(pairing))

    def result(self) -> Played | None:
        """What came of it; None where the process died."""
        try:
            found: Played | BaseException = self.pipe.recv()
        except (EOFError, OSError):
            return None
        if isinstance(found, BaseException):
            raise found
        return found

    def had_begun(self) -> bool:
        """Whether a process that died could play; WorkerError where several in a row could not."""
        begun = self.side != _NOT_STARTED
        self._failures = 0 if begun else self._failures + 1
        if self._failures == _MOST_STARTS:
            how = self._how_it_ended()
            raise WorkerError(f"{_MOST_STARTS} worker processes died before they played, {how}")
        return begun

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
        """End the process, whatever it does; the next pairing is for another one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self.pipe.close()
            self._process = None


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
    while True:
        found: Played | Exception | StopPlayError
        try:
            pairing: Pairing = pickle.loads(pipe.recv_bytes())
            _seed_global_generators(pairing.seed)
            found = pairing.play(lambda running: setattr(side, "value", running))
        except EOFError:
            return
        except StopPlayError as stop:
            found = stop
        except Exception as error:
            error.add_note(traceback.format_exc())
            found = error
        side.value = NOBODY
        pipe.send(found)


def _seed_global_generators(seed: int) -> None:
    """Have agents that draw from a library's own generator repeat themselves too."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002  # it is theirs, not ours
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed % 2**63)


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
