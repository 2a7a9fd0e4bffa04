"""Workers on the nodes of a Ray cluster: each an actor that has a worker process beside it.

A process that dies there is told of like one that dies here; only with its node, or the actor, is a
job lost to no fault of its own.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from boardenvs.arena.processes import THREADS, Died, Job, ProcessWorker, WorkerError
from boardenvs.utils.checks import cut

_MOST_STARTS = 3  # of actors in a row that are lost before they are ready
_PATIENCE = 5.0  # seconds to wait for a cluster's answer
_LOOK = 30.0  # seconds between two looks whether there are nodes at all


def _ray() -> Any:
    """Ray; WorkerError where it is not installed. What it does at SIGTERM is not left in place."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM)
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise WorkerError(
            f"--address needs Ray, which cannot be imported ({error}): pip install 'boardenvs[ray]'"
        ) from None
    finally:
        if main:
            signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def joined(address: str) -> Iterator[int]:
    """Within this context this process is in the cluster at `address`, which has so many cores.

    All nodes run this code, whatever they have installed. WorkerError where it cannot be joined.
    """
    ray = _ray()
    check_address(address)
    here = Path(__file__).parents[2]
    packages = [here / name for name in ("boardenvs", "training") if name in sys.modules]
    options: dict[str, Any] = {
        "address": address,
        "log_to_driver": False,  # which would print it among what is asked for
        "logging_level": logging.ERROR,
        "runtime_env": {
            "py_modules": [str(package) for package in packages],
            "env_vars": {name: os.environ.get(name, "1") for name in THREADS},
        },
    }
    host = address.rpartition(":")[0]
    if host.startswith("127."):
        options["_node_ip_address"] = host
    try:
        ray.init(**options)
    except Exception as error:  # whatever it raises
        lines = str(error).strip().splitlines() or [type(error).__name__]
        said = cut(" ".join(dict.fromkeys((lines[0], lines[-1]))), 600)  # a traceback left out
        raise WorkerError(f"the cluster at {address} cannot be joined: {said}") from None
    try:
        cores = int(ray.cluster_resources().get("CPU", 0))
        if not cores:
            raise WorkerError(f"the cluster at {address} has no core to play on: start a node")
        yield cores
    finally:
        ray.shutdown()


def check_address(address: str) -> None:
    """WorkerError where nothing listens at "HOST:PORT" or "ray://HOST:PORT": Ray would try for
    minutes. "auto" and others are left to Ray.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise WorkerError(
            f"nothing listens at {address} ({error}): --address must be that of a head node, which "
            "`ray start --head` prints, or of its Ray Client, ray://HOST:10001"
        ) from None


class NodeWorker:
    """Does jobs on whichever node has a core to spare."""

    def __init__(self, backend: str) -> None:
        self._backend = backend
        self._failures = 0  # actors in a row that were lost before they were ready
        self._actor: Any = None
        self._coming: Any = None  # Ray's reference to what comes next
        self.ready = False

    @staticmethod
    def dumps(thing: object) -> bytes:
        """Pickled, with what is defined in the script that was started."""
        pickled: bytes = _ray().cloudpickle.dumps(thing)
        return pickled

    @staticmethod
    def share(pickled: bytes) -> Any:
        """Once a node, however many workers it has."""
        return [_ray().put(pickled)]  # in a list Ray leaves it where it is

    @staticmethod
    def wait(workers: Sequence[NodeWorker]) -> list[NodeWorker]:
        """Those of these that have something to `receive`, at least one; WorkerError where there is
        no node left.
        """
        ray = _ray()
        coming = {worker._coming: worker for worker in workers if worker._coming is not None}
        while True:
            found, _ = ray.wait(list(coming), num_returns=1, timeout=_LOOK)
            if found:
                found, _ = ray.wait(list(coming), num_returns=len(coming), timeout=0)
                return [coming[reference] for reference in found]
            if ray.cluster_resources().get("CPU", 0) < 1:
                raise WorkerError("the cluster has no node left with a core to play on")

    def start(self) -> None:
        """Ask for an actor, which may have to wait for a core."""
        if self._actor is None:
            actor = _ray().remote(num_cpus=1, max_restarts=0)(_Actor)
            self._actor = actor.remote(self._backend)
            self._coming = self._actor.hello.remote()

    def send(self, job: Job) -> None:
        """Have it done; `receive` says what came of it."""
        self._coming = self._actor.do.remote(job)

    def receive(self) -> bytes | Died | None:
        """As of a process; None where there is nothing but it is ready now."""
        ray = _ray()
        try:
            found: bytes | Died | None = ray.get(self._coming)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except (ray.exceptions.RayActorError, ray.exceptions.RuntimeEnvSetupError) as error:
            self._failures += not self.ready
            if self._failures == _MOST_STARTS:
                raise WorkerError(
                    f"{_MOST_STARTS} workers on the cluster's nodes were lost before they were "
                    f"ready, the last so: {error}"
                ) from None
            self.end()
            self.start()
            return Died(begun=False, side=0)
        self._failures, self.ready, self._coming = 0, True, None
        return found

    def end(self) -> None:
        """End the actor and its process, whatever they do."""
        if self._actor is not None:
            with contextlib.suppress(Exception):  # the cluster may be gone
                _ray().kill(self._actor)
            self._actor, self._coming, self.ready = None, None, False


class _Actor:
    """What runs on a node: a worker process, and who tells of it."""

    def __init__(self, backend: str) -> None:
        # Else the process would run Ray's own script again, which imports Ray.
        sys.modules["__main__"].__dict__.pop("__file__", None)
        self._worker = ProcessWorker(backend)
        self._worker.start()

    def hello(self) -> None:
        return None

    def do(self, job: Job) -> bytes | Died:
        import ray

        try:
            self._worker.send(job._replace(shared=self._shared(job, ray)))
            return self._worker.receive()
        except WorkerError as error:
            where = ray.util.get_node_ip_address()
            raise WorkerError(f"on node {where}: {error}") from None

    def _shared(self, job: Job, ray: Any) -> bytes:
        fetched: bytes = ray.get(job.shared[0])
        return fetched
