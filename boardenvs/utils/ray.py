"""Ray: a cluster, or this machine."""

from __future__ import annotations

import os
import sys
from types import ModuleType


def connect(processes: int, *modules: ModuleType) -> None:
    """Connect to the Ray at RAY_ADDRESS, whose processes get these modules; without an address
    start one for this many processes, which ends with this process.
    """
    import ray

    if "RAY_ADDRESS" in os.environ:
        ray.init(runtime_env={"py_modules": [*modules]})
    else:  # on Linux no other machine reaches it
        address = {"_node_ip_address": "127.0.0.2"} if sys.platform == "linux" else {}
        cores = max(os.cpu_count() or 1, processes)
        ray.init("local", num_cpus=cores, include_dashboard=False, **address)
