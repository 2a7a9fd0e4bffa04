"""Tasks on the nodes of a Ray cluster; Ray repeats those whose node is lost."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import socket
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from boardenvs.arena.executor import NOBODY, THREADS, Task, WorkerError, do
from boardenvs.kernel import get_backend, set_backend
from boardenvs.utils.checks import cut

_RETRIES = 2  # of a task whose process or node is lost
_PATIENCE = 5.0  # seconds to wait for a cluster's answer
_LOOK = 30.0  # seconds between two looks whether there are nodes at all


@contextlib.contextmanager
def joined(address: str, cpus: float = 1) -> Iterator[float]:
    """Within this context this process belongs to the cluster at `address`: "HOST:PORT",
    "ray://HOST:PORT", "auto" for one that runs on this machine, or "local" for a new one. Returns
    its number of cores.

    All nodes run this code, whatever version they have installed. WorkerError if it cannot be
    joined or has fewer cores than `cpus`.
    """
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        raise WorkerError(
            f"--address needs Ray, which cannot be imported ({error}): pip install 'boardenvs[ray]'"
        ) from None
    _check_address(address)
    here = Path(__file__).parents[2]
    packages = [here / name for name in ("boardenvs", "training") if name in sys.modules]
    environment: dict[str, Any] = {
        "env_vars": {name: os.environ.get(name, "1") for name in THREADS}
    }
    options: dict[str, Any] = {
        "address": address,
        "log_to_driver": False,  # Ray would print it into this command's output
        "logging_level": logging.ERROR,
        "runtime_env": environment,
    }
    host = address.rpartition(":")[0]
    if address == "local":
        # Ray replaces 127.0.0.1 by an address that is reached from outside.
        host = "127.0.0.2" if sys.platform == "linux" else ""
        options |= {"num_cpus": max(os.cpu_count() or 1, int(cpus)), "include_dashboard": False}
    else:
        environment["py_modules"] = [str(package) for package in packages]
    if host.startswith("127."):
        options["_node_ip_address"] = host
    try:
        ray.init(**options)
    except Exception as error:  # of any kind
        lines = str(error).strip().splitlines() or [type(error).__name__]
        said = cut(" ".join(dict.fromkeys((lines[0], lines[-1]))), 600)  # without the traceback
        raise WorkerError(f"the cluster at {address} cannot be joined: {said}") from None
    try:
        cores: float = ray.cluster_resources().get("CPU", 0)
        if cores < cpus:
            raise WorkerError(
                f"the cluster at {address} has {cores:g} cores, and {cpus:g} are needed: start "
                "more nodes"
            )
        yield cores
    finally:
        ray.shutdown()


def _check_address(address: str) -> None:
    """WorkerError if nothing listens at "HOST:PORT" or "ray://HOST:PORT": Ray would try for
    minutes.
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


def run_on_nodes(
    tasks: Sequence[Task[Any]], shared: Any, cost: Callable[[Any], float], at_once: int
) -> Generator[tuple[int, Any, float], None, None]:
    """Yield each task's number, result or exception, and CPU seconds, as they come; `at_once` tasks
    are done at a time.

    WorkerError if no node is left, or a node cannot load a task.
    """
    import ray

    sent, waiting, coming = ray.put(shared), list(range(len(tasks))), dict[Any, int]()
    remote: Any = ray.remote(num_cpus=1, max_retries=_RETRIES)(_do)
    try:
        while waiting or coming:
            while waiting and len(coming) < at_once:
                number = max(waiting, key=lambda number: cost(tasks[number]))
                waiting.remove(number)
                coming[remote.remote(tasks[number], sent, get_backend())] = number
            done, _ = ray.wait(list(coming), num_returns=1, timeout=_LOOK)
            if not done and ray.cluster_resources().get("CPU", 0) < 1:
                raise WorkerError("the cluster has no node left with a core to play on")
            for reference in done:
                number = coming.pop(reference)
                try:
                    yield number, *ray.get(reference)
                except (ray.exceptions.RayTaskError, ray.exceptions.RuntimeEnvSetupError) as error:
                    raise WorkerError(f"a node cannot do the task: {error}") from None
                except ray.exceptions.RayError:  # its process was lost each time
                    yield number, tasks[number].lost(NOBODY), 0.0
    finally:
        for reference in coming:
            with contextlib.suppress(Exception):  # the cluster may be gone
                ray.cancel(reference, force=True)


def _do(task: Task[Any], shared: Any, backend: str) -> tuple[Any, float]:
    set_backend(backend)
    return do(task, shared, lambda side: None)
