"""Tasks on the nodes of a Ray cluster; Ray repeats those whose node is lost."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from boardenvs.arena.executor import NOBODY, Task, WorkerError, do
from boardenvs.kernel import get_backend, set_backend
from boardenvs.utils.checks import cut

_RETRIES = 2  # of a task whose process or node is lost
_PATIENCE = 5.0  # seconds to wait for a cluster's answer
_LOOK = 30.0  # seconds between two looks whether there are nodes at all


@contextlib.contextmanager
def joined(address: str, cpus: float = 1) -> Iterator[None]:
    """Within this context this process belongs to the cluster at `address`: "HOST:PORT",
    "ray://HOST:PORT", "auto" for one that runs on this machine, or "local" for a new one.

    All nodes run this code, whatever version they have installed. WorkerError if it cannot be
    joined or has fewer cores than `cpus`.
    """
    try:
        import ray
    except ImportError as error:
        raise WorkerError(
            f"--address needs Ray, which cannot be imported ({error}): pip install 'boardenvs[ray]'"
        ) from None
    _check_address(address)
    here = Path(__file__).parents[2]
    packages = [str(here / name) for name in ("boardenvs", "training") if name in sys.modules]
    options: dict[str, Any] = {"runtime_env": {"py_modules": packages}}
    host = address.rpartition(":")[0]
    if address == "local":
        # Ray replaces 127.0.0.1 by an address that is reached from outside.
        host = "127.0.0.2" if sys.platform == "linux" else ""
        options = {"num_cpus": max(os.cpu_count() or 1, int(cpus)), "include_dashboard": False}
    if host.startswith("127."):
        options["_node_ip_address"] = host
    try:
        # Ray would print what its processes print into this command's output.
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except Exception as error:  # of any kind
        said = cut(" ".join(str(error).split()) or type(error).__name__, 600)
        raise WorkerError(f"the cluster at {address} cannot be joined: {said}") from None
    try:
        cores = ray.cluster_resources().get("CPU", 0)
        if cores < cpus:
            raise WorkerError(
                f"the cluster at {address} has {cores:g} cores, and {cpus:g} are needed: start "
                "more nodes"
            )
        yield
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


def run_on_nodes(tasks: Sequence[Task[Any]], shared: Any) -> Generator[tuple[int, Any], None, None]:
    """Yield each task's number, and its result or exception, as they come.

    WorkerError if no node is left, or a node cannot load a task.
    """
    import ray

    remote: Any = ray.remote(num_cpus=1, max_retries=_RETRIES)(_do)
    sent, backend = ray.put(shared), get_backend()
    coming = {remote.remote(task, sent, backend): number for number, task in enumerate(tasks)}
    try:
        while coming:
            done, _ = ray.wait(list(coming), timeout=_LOOK)
            if not done and ray.cluster_resources().get("CPU", 0) < 1:
                raise WorkerError("the cluster has no node left with a core to play on")
            for reference in done:
                number = coming.pop(reference)
                try:
                    yield number, ray.get(reference)
                except (ray.exceptions.RayTaskError, ray.exceptions.RuntimeEnvSetupError) as error:
                    raise WorkerError(f"a node cannot do the task: {error}") from None
                except ray.exceptions.RayError:  # its process was lost each time
                    yield number, tasks[number].lost(NOBODY)
    finally:
        for reference in coming:
            with contextlib.suppress(Exception):  # the cluster may be gone
                ray.cancel(reference, force=True)


def _do(task: Task[Any], shared: Any, backend: str) -> Any:
    set_backend(backend)
    return do(task, shared, lambda side: None)
