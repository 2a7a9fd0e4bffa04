"""How many threads other libraries take: NumPy's products of matrices, JAX on the processor."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Have the libraries behind NumPy's products of matrices use one thread within a `with`.

    Small networks take longer with several: by default these libraries start as many as there are
    cores, which spin while they wait for one another. It costs some microseconds, so it may stand
    at every product. The libraries know one number for the whole process, also in other threads.
    """
    limit: AbstractContextManager[Any] = _libraries().limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _libraries() -> Any:
    """Those of this process, which NumPy loads when it is imported; to find them takes a while."""
    import numpy  # noqa: F401 - loads its library
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def limit_jax(threads: int) -> None:
    """Have JAX take so many threads of the processor: before it looks for devices, which is when it
    reads this.
    """
    flags, one_thread = os.environ.get("XLA_FLAGS", ""), "--xla_cpu_multi_thread_eigen=false"
    if threads == 1 and one_thread not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {one_thread}".strip()
    os.environ["NPROC"] = str(threads)
