"""The choice of the rules' compiler: "numpy", always there, or "numba" (extra `fast`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from boardenvs.kernel.numba_writer import NumbaProgram, compile_numba
from boardenvs.kernel.numpy_writer import NumpyProgram
from boardenvs.kernel.python_writer import compile_python
from boardenvs.kernel.trace import Program, Target, trace
from boardenvs.utils.checks import unknown

Backend: TypeAlias = Literal["numpy", "numba"]
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

VARIABLE = "BOARDENVS_BACKEND"

_chosen: Backend | None = None


def set_backend(name: str | None) -> None:
    """Compile rules with "numpy" or "numba" from now on; None goes back to the default.

    The default is $BOARDENVS_BACKEND, else "numba" where it is installed, else "numpy". Results
    are the same. ValueError for another name, ImportError where numba is asked for and missing.

    ```python
    import boardenvs

    boardenvs.set_backend("numpy")
    assert boardenvs.perft(boardenvs.games.make("othello"), 4) == 244
    ```
    """
    global _chosen
    _chosen = None if name is None else check_backend(name)


def get_backend() -> Backend:
    """The backend in use; raises as `set_backend` does where $BOARDENVS_BACKEND is wrong.

    ```python
    import boardenvs

    print(boardenvs.get_backend())  # "numba" where it is installed, else "numpy"
    ```
    """
    global _chosen
    if _chosen is None:
        name = os.environ.get(VARIABLE) or ("numba" if find_spec("numba") else "numpy")
        _chosen = check_backend(name, VARIABLE)
    return _chosen


def check_backend(name: str, what: str = "backend") -> Backend:
    """The backend of this name, which `what` gave; errors as `set_backend`."""
    if name not in get_args(Backend):
        raise ValueError(unknown(what, name, get_args(Backend)))
    if name == "numba" and not find_spec("numba"):
        raise ImportError('numba is not installed: pip install "boardenvs[fast]"')
    backend: Backend = "numba" if name == "numba" else "numpy"
    return backend


class Kernel:
    """A rule function on words, compiled on first use by the backend in use then.

    `function` takes `num_inputs` words and returns one or a sequence of them.
    """

    def __init__(self, function: Callable[..., Any], num_inputs: int, name: str) -> None:
        self.name = name
        self._function = function
        self._num_inputs = num_inputs
        self._one: dict[Backend | None, Callable[..., tuple[int, ...]]] = {}
        self._batch: dict[Backend, Callable[[Sequence[Array], Sequence[Array]], None]] = {}

    def one(self, *inputs: int) -> tuple[int, ...]:
        """For one board: ints in [0, 2**64) in and out."""
        try:  # costs nothing where it succeeds, which is all but once
            function = self._one[_chosen]
        except KeyError:
            function = self._one[get_backend()] = self.compile_one()
        return function(*inputs)

    def batch(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """For a batch: reads arrays (B,), writes arrays (B,); see `numpy_writer.NumpyProgram`."""
        backend = _chosen or get_backend()
        if backend not in self._batch:
            self._batch[backend] = self._compile_batch()
        self._batch[backend](inputs, outputs)

    @cached_property
    def num_outputs(self) -> int:
        return len(self.program().outputs)

    def program(self, target: Target = "batch") -> Program:
        """The function as a straight-line program. Machine code for one board is made of the one
        for a batch too: a pass of the loops in the other costs more than it saves.
        """
        return trace(self._function, self._num_inputs, target)

    def compile_one(self) -> Callable[..., tuple[int, ...]]:
        """The function for one board, by the backend in use."""
        if get_backend() == "numpy":
            return compile_python(self.program("scalar"), self.name)
        return compile_numba(self.program(), self.name)

    def _compile_batch(self) -> Callable[[Sequence[Array], Sequence[Array]], None]:
        writer = NumpyProgram if get_backend() == "numpy" else NumbaProgram
        return writer(self.program(), self.name)
