"""The Ray cluster of a run: one that is there already, or one on this machine for its time."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ray

import boardenvs
from training.folder import RunError
from training.rllib.settings import RLlibSettings

# The memory for what processes hand to each other, in bytes: several updates, and this at least.
_STORE, _UPDATES = 256 << 20, 8

_REACHED = 5.0  # seconds to wait for a cluster's answer

# Ray listens where the machine is reached from outside, also for 127.0.0.1; Linux has all of 127/8.
LOOPBACK = "127.0.0.2" if sys.platform == "linux" else None


@contextlib.contextmanager
def joined(config: RLlibSettings, address: str | None) -> Iterator[None]:
    """The cluster at `address` ("HOST:PORT", or "auto" for one that runs on this machine), or one
    of this machine's own.

    RunError where it cannot be joined, or has too little for the runners and learners.
    """
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    options: dict[str, Any] = {
        "logging_level": logging.ERROR,
        "runtime_env": {"env_vars": _environment(config)},
    }
    if address is None:
        options |= _own(config)
    else:
        _check_reachable(address)
        options["address"] = address
        # The nodes play with this code, whatever version they have.
        options["runtime_env"]["py_modules"] = [str(Path(boardenvs.__file__).parent)]
        host = address.rpartition(":")[0]
        if host.startswith("127."):
            options["_node_ip_address"] = host
    try:
        ray.init(**options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise RunError(f"the cluster at {address} cannot be joined: {error}") from None
    try:
        _check(config, ray.cluster_resources())
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """RunError where nothing listens there; Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        return  # "auto", or something that Ray explains
    try:
        socket.create_connection((host, int(port)), timeout=_REACHED).close()
    except (OSError, OverflowError) as error:
        raise RunError(
            f"nothing listens at {address} ({error}): --address must be that of a head node, which "
            "`ray start --head` prints"
        ) from None


def _own(config: RLlibSettings) -> dict[str, Any]:
    """The options of a cluster on this machine, reached from nowhere else where that can be."""
    observed = 64 * config.make_game().observation_shape[2] + config.make_game().num_actions
    return {
        "address": "local",
        "num_cpus": max(os.cpu_count() or 1, -int(-config.cluster.cpus // 1)),
        "object_store_memory": max(_STORE, _UPDATES * config.steps_per_update * observed),
        "include_dashboard": False,
        "_node_ip_address": LOOPBACK,
    }


def _environment(config: RLlibSettings) -> dict[str, str]:
    """Variables of the runners' and learners' processes: the threads of torch and NumPy."""
    return {"OMP_NUM_THREADS": str(config.threads), "OMP_WAIT_POLICY": "PASSIVE"}


def _check(config: RLlibSettings, there: dict[str, float]) -> None:
    """RunError where Ray would wait for resources that the cluster has not."""
    for name, needed in (("CPU", config.cluster.cpus), ("GPU", config.cluster.gpus)):
        if needed > there.get(name, 0):
            raise RunError(
                f"the cluster has {there.get(name, 0):g} {name}s, and the runners and learners of "
                f"`cluster` take {needed:g}: lower their number, or start more nodes"
            )
