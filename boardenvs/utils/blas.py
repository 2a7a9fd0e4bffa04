"""NumPy's products of matrices by one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Have the libraries behind NumPy's products of matrices use one thread for a while.

    Small networks take longer with several: by default these libraries start as many as there are
    cores, which spin while they wait for one another. It costs some microseconds, so it may stand
    at every product. The libraries know one number for the whole process, also in other threads.
    """
    changed = []
    for library in _libraries():
        number = library.get_num_threads()
        if number is not None and number > 1:
            library.set_num_threads(1)
            changed.append((library, number))
    try:
        yield
    finally:
        for library, number in changed:
            library.set_num_threads(number)


@lru_cache(maxsize=1)
def _libraries() -> tuple[Any, ...]:
    """Those of this process, which NumPy loads when it is imported; to find them takes a while."""
    import numpy  # noqa: F401 - loads its library
    from threadpoolctl import ThreadpoolController

    return tuple(x for x in ThreadpoolController().lib_controllers if x.user_api == "blas")
