"""Numbers of threads: NumPy's matrix products, and JAX on the CPU."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Use one thread for NumPy's matrix products within the block.

    Small networks are slower with several threads, which spin while they wait for one another. This
    costs some microseconds. The limit holds for all threads of the process.
    """
    return _libraries().limit(limits=1)


@lru_cache(maxsize=1)
def _libraries() -> Any:
    """Return the BLAS libraries of this process; finding them takes a while."""
    import numpy  # noqa: F401 - loads its library
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def limit_jax() -> None:
    """Limit JAX to one thread of the CPU; call it before JAX looks for devices."""
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ |= {"XLA_FLAGS": f"{flags} --xla_cpu_multi_thread_eigen=false", "NPROC": "1"}
