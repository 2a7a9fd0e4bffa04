"""Tasks done on Ray, which repeats those whose process or machine dies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

import ray

import boardenvs
import training
from boardenvs.arena.executor import Executor, Result, Task, WorkerError, do
from boardenvs.utils.checks import cut


class RayExecutor(Executor):
    """Does tasks on the Ray at RAY_ADDRESS, or on one that it starts for this many processes."""

    def __init__(self, processes: int) -> None:
        super().__init__()
        if "RAY_ADDRESS" in os.environ:
            ray.init(runtime_env={"py_modules": [boardenvs, training]})
        else:  # on Linux no other machine reaches it
            address = {"_node_ip_address": "127.0.0.2"} if sys.platform == "linux" else {}
            cores = max(os.cpu_count() or 1, processes)
            ray.init("local", num_cpus=cores, include_dashboard=False, **address)
        self._do: Any = ray.remote(do)

    def run(self, tasks: Sequence[Task[Result]]) -> Iterator[tuple[int, Result]]:
        """Yield each task's number and result, in their order; all tasks begin at once.

        WorkerError if the processes of a task die again and again.
        """
        return enumerate(map(_result, [self._do.remote(task) for task in tasks]))


def _result(reference: Any) -> Any:
    try:
        result = deepcopy(ray.get(reference))  # its arrays are read-only
    except ray.exceptions.RayError as error:
        why = cut(" ".join(str(error).split()), 400)
        raise WorkerError(f"a process of Ray died: {why}") from None
    if isinstance(result, BaseException):
        raise result
    return result
