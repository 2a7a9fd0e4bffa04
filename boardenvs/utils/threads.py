"""NumPy's products of matrices by one thread."""

from __future__ import annotations

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
