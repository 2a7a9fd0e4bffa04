"""What a rule became, for people to read: its trace, or the source of one of its compiled forms."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from boardenvs.kernel.backend import Kernel, check_backend
from boardenvs.kernel.jax_writer import write_jax
from boardenvs.kernel.numba_writer import write_batch
from boardenvs.kernel.numpy_writer import NumpyProgram
from boardenvs.kernel.python_writer import write_python

Form: TypeAlias = Literal["trace", "python", "numpy", "numba", "jax"]


class Listing(NamedTuple):
    """A text and its size in a few words."""

    source: str
    summary: str


def write_listing(kernel: Kernel, form: Form) -> Listing:
    """The traced operations, or the source that is run: "python" and "jax" for one board, "numpy"
    and "numba" for a batch, as the trace is. ImportError for "numba" where that is not installed.
    """
    program = kernel.program("scalar" if form == "python" else "batch")
    summary = (
        f"{program.num_inputs} words in, {len(program.outputs)} out, {program.size()} operations"
    )
    match form:
        case "trace":
            return Listing(f"{program}\n", summary)
        case "python":
            return Listing(write_python(program, kernel.name)[0], f"{summary}; for one board")
        case "numpy":
            compiled = NumpyProgram(program, kernel.name)
            return Listing(
                compiled.source, f"{summary}; for a batch, {compiled.num_buffers} buffers"
            )
        case "numba":
            check_backend("numba")
            return Listing(write_batch(program, kernel.name), f"{summary}; for a batch")
        case "jax":
            return Listing(write_jax(program, kernel.name), f"{summary}; for one board")
