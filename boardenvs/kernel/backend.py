"""The choice of the rules' compiler: "numpy", always there, or "numba" (extra `fast`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from struct import Struct
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from boardenvs.kernel.layout import Layout
from boardenvs.kernel.numba_writer import NumbaBatch, compile_numba, compile_parts
from boardenvs.kernel.numpy_writer import NumpyBatch
from boardenvs.kernel.python_writer import compile_python
from boardenvs.kernel.trace import Program, Target, trace
from boardenvs.utils.checks import unknown

Backend: TypeAlias = Literal["numpy", "numba"]
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

VARIABLE = "BOARDENVS_BACKEND"

_chosen: Backend | None = None


def set_backend(name: str | None) -> None:
    """Compile rules with "numpy" or "numba" from now on; None goes back to the default.

    The default is $BOARDENVS_BACKEND, else "numba" if installed, else "numpy". Results are the
    same. ValueError for another name, ImportError if Numba is not installed.

    ```python
    import boardenvs

    boardenvs.kernel.set_backend("numpy")
    assert boardenvs.perft(boardenvs.games.make("othello"), 4) == 244
    ```
    """
    global _chosen
    _chosen = None if name is None else check_backend(name)


def get_backend() -> Backend:
    """Return the backend in use; raises like `set_backend` if $BOARDENVS_BACKEND is wrong.

    ```python
    import boardenvs

    print(boardenvs.kernel.get_backend())  # "numba" if it is installed, else "numpy"
    ```
    """
    global _chosen
    if _chosen is None:
        name = os.environ.get(VARIABLE) or ("numba" if find_spec("numba") else "numpy")
        _chosen = check_backend(name, VARIABLE)
    return _chosen


@contextmanager
def no_compiling() -> Iterator[None]:
    """Use NumPy within a `with`, for work that ends before Numba would have compiled the rules.

    $BOARDENVS_BACKEND, if it is set, takes precedence.
    """
    if os.environ.get(VARIABLE):
        yield
        return
    before = get_backend()
    set_backend("numpy")
    try:
        yield
    finally:
        set_backend(before)


def check_backend(name: str, what: str = "backend") -> Backend:
    """Return the backend of this name, which `what` gave; errors as `set_backend`."""
    if name not in get_args(Backend):
        raise ValueError(unknown(what, name, get_args(Backend)))
    if name == "numba" and not find_spec("numba"):
        raise ImportError('numba is not installed: pip install "boardenvs[fast]"')
    backend: Backend = "numba" if name == "numba" else "numpy"
    return backend


class Kernel:
    """A rule as a function of words, compiled by the current backend when it is first called.

    `function` takes words and returns one word or a sequence of words. `inputs` and `outputs` say
    how the words lie in the arrays of a batch, see `Layout`; a number n stands for n arrays (B,),
    one per word, which is also the default of `outputs`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: int | Sequence[int],
        name: str,
        outputs: Sequence[int] | None = None,
    ) -> None:
        self.name = name
        self._function = function
        self._inputs = (1,) * inputs if isinstance(inputs, int) else tuple(inputs)
        self._outputs = outputs
        self._one: dict[Backend | None, Callable[..., tuple[int, ...]]] = {}
        self._parts: dict[Backend | None, Callable[..., tuple[tuple[int, ...], Array]]] = {}
        self._batch: dict[Backend | None, Callable[[Sequence[Array], Sequence[Array]], None]] = {}

    def one(self, *inputs: int) -> tuple[int, ...]:
        """For one board: ints in [0, 2**64) in and out."""
        try:  # costs nothing where it succeeds, which is all but once
            function = self._one[_chosen]
        except KeyError:
            function = self._one[get_backend()] = self.compile_one(get_backend())
        return function(*inputs)

    def as_written(self, *inputs: int) -> Any:
        """Return the function on ints as its author has written it, not compiled."""
        return self._function(*inputs)

    def one_in_parts(self, *inputs: int) -> tuple[tuple[int, ...], Array]:
        """For one board: the outputs that are words in the layout, as ints, and the bits of those
        that are bytes there, which come after them, lowest first, (64 * n,) int8 of 0 and 1.
        """
        try:
            function = self._parts[_chosen]
        except KeyError:
            function = self._parts[get_backend()] = self._compile_parts()
        return function(*inputs)

    def batch(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """For a batch: reads arrays and writes arrays, see `Layout`.

        Arrays that do not fit are not refused: machine code would read and write beyond them. Those
        of others are checked where a method of a game takes them.
        """
        try:
            run = self._batch[_chosen]
        except KeyError:
            run = self._batch[get_backend()] = self._compile_batch()
        run(inputs, outputs)

    @cached_property
    def num_outputs(self) -> int:
        return len(self.program().outputs)

    @cached_property
    def layout(self) -> Layout:
        """How the words lie in the arrays of a batch."""
        return Layout(self._inputs, tuple(self._outputs or (1,) * self.num_outputs))

    def program(self, target: Target = "batch") -> Program:
        """Return the function as a straight-line program. Machine code for one board is made of
        "lanes", not "scalar": a pass of its loops costs more than it saves.
        """
        return trace(self._function, sum(self._inputs), target)

    def compile_one(self, backend: Backend) -> Callable[..., tuple[int, ...]]:
        """Return the function for one board."""
        if backend == "numpy":
            return compile_python(self.program("scalar"), self.name)
        return compile_numba(self.program("lanes"), self.name)

    def _compile_parts(self) -> Callable[..., tuple[tuple[int, ...], Array]]:
        words = sum(width for width in self.layout.outputs if width > 0)
        if get_backend() == "numba":
            return compile_parts(self.program("lanes"), f"{self.name}_in_parts", words)
        function, pack = self.compile_one("numpy"), Struct(f"<{self.num_outputs - words}Q").pack

        def in_parts(*inputs: int) -> tuple[tuple[int, ...], Array]:
            outputs = function(*inputs)
            packed = np.frombuffer(pack(*outputs[words:]), np.uint8)
            return outputs[:words], np.unpackbits(packed, bitorder="little").view(np.int8)

        return in_parts

    def _compile_batch(self) -> Callable[[Sequence[Array], Sequence[Array]], None]:
        compiled = NumpyBatch if get_backend() == "numpy" else NumbaBatch
        return compiled(self.program(), self.name, self.layout)
