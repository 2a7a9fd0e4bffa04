"""One source of rules, several speeds.

A rule is a plain function on *words*: unsigned 64-bit values, one a board. `operations` is the
table of what can be done with them; such a function runs directly on Python ints and on uint64
arrays. `trace` runs it once on symbols and records a straight-line program; `python_writer` writes
that program as Python for one board, `numpy_writer` as NumPy calls on preallocated buffers for a
batch, `numba_writer` for both as Python that Numba compiles to machine code, and `jax_writer` as a
function of JAX on the words of `jax_words`. `generated` runs what they write, and `backend` chooses
between NumPy and Numba. `boardenvs kernel GAME RULE` shows it.
"""

from boardenvs.kernel.backend import Kernel, get_backend, set_backend
from boardenvs.kernel.operations import less, nonzero, popcount
from boardenvs.kernel.trace import Program, Word, trace
from boardenvs.kernel.words import ALL, Bits, Table, guard, spread, when

__all__ = [
    "ALL",
    "Bits",
    "Kernel",
    "Program",
    "Table",
    "Word",
    "get_backend",
    "guard",
    "less",
    "nonzero",
    "popcount",
    "set_backend",
    "spread",
    "trace",
    "when",
]
