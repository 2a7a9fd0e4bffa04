"""The Ray cluster of a run: one that is there already, or one on this machine for its time."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ray

import boardenvs
from boardenvs.arena.nodes import check_address
from boardenvs.arena.processes import WorkerError
from training.folder import RunError
from training.rllib.settings import RLlibSettings

# The memory for what processes hand to each other, in bytes: several updates, and this at least.
_STORE, _UPDATES = 256 << 20, 8

# Ray listens where the machine is reached from outside, also for 127.0.0.1; Linux has all of 127/8.
_LOOPBACK = "127.0.0.2" if sys.platform == "linux" else None


@contextlib.contextmanager
def joined(config: RLlibSettings, address: str | None) -> Iterator[None]:
    """The cluster at `address` ("HOST:PORT", or "auto" for one that runs on this machine), or one
    of this machine's own.

    RunError where it cannot be joined, or has too little for the runners and learners.
    """
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    # In the runners' and learners' processes: the threads of torch and NumPy.
    threads = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    environment: dict[str, Any] = {"env_vars": threads}
    options: dict[str, Any] = {"logging_level": logging.ERROR, "runtime_env": environment}
    cluster = config.cluster
    if address is None:  # reached from nowhere else where that can be
        game = config.make_game()
        seen = math.prod(game.observation_shape) + game.num_actions
        options |= {
            "address": "local",
            "num_cpus": max(os.cpu_count() or 1, -int(-cluster.cpus // 1)),
            "object_store_memory": max(_STORE, _UPDATES * config.steps_per_update * seen),
            "include_dashboard": False,
            "_node_ip_address": _LOOPBACK,
        }
    else:
        _check_address(address)
        options["address"] = address
        # The nodes play with this code, whatever version they have.
        environment["py_modules"] = [str(Path(boardenvs.__file__).parent)]
        host = address.rpartition(":")[0]
        if host.startswith("127."):
            options["_node_ip_address"] = host
    try:
        ray.init(**options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise RunError(f"the cluster at {address} cannot be joined: {error}") from None
    try:
        there = ray.cluster_resources()
        for name, needed in (("CPU", cluster.cpus), ("GPU", cluster.gpus)):
            if needed > there.get(name, 0):  # Ray would wait
                raise RunError(
                    f"the cluster has {there.get(name, 0):g} {name}s, and the runners and learners "
                    f"of `cluster` take {needed:g}: lower their number, or start more nodes"
                )
        yield
    finally:
        ray.shutdown()


def _check_address(address: str) -> None:
    """RunError for one that does not do, or where nothing listens: Ray would try for minutes."""
    if "://" in address:
        raise RunError(
            f"--address {address} is not HOST:PORT: through Ray Client (ray://) the learner would "
            "not be in the cluster. Run the command on one of its machines, by `ray job submit "
            "--working-dir . -- python -m training.rllib CONFIG --address auto`"
        )
    try:
        check_address(address)
    except WorkerError as error:
        raise RunError(str(error)) from None
