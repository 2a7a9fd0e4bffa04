"""One source of rules, several speeds.

A rule is a plain function on *words*: unsigned 64-bit values, one a board. `operations` is the
table of what can be done with them, `flow` has choices, loops and tables, and `wide` sets of more
than 64 squares; such a function runs directly on Python ints and on uint64 arrays. `trace` runs it
once on symbols and records a straight-line program; `python_writer` writes that program as Python
for one board, `numpy_writer` as NumPy calls on preallocated buffers for a batch, `numba_writer` for
both as machine code: `simd` are its words, `rows` its loop over a batch, `threads` share large
ones. `jax_writer` makes a function of JAX of it, on `jax_words`. `layout` says how words lie in
arrays, `generated` runs what is written, and `backend` chooses between NumPy and Numba. `python -m
boardenvs.kernel GAME RULE` shows it.
"""

from boardenvs.kernel.backend import Kernel, get_backend, set_backend
from boardenvs.kernel.flow import Table, guard, repeat, spread, when
from boardenvs.kernel.operations import ALL, Bits, less, nonzero, popcount
from boardenvs.kernel.threads import get_num_threads, set_num_threads
from boardenvs.kernel.trace import Program, Word, trace

__all__ = [
    "ALL",
    "Bits",
    "Kernel",
    "Program",
    "Table",
    "Word",
    "get_backend",
    "get_num_threads",
    "guard",
    "less",
    "nonzero",
    "popcount",
    "repeat",
    "set_backend",
    "set_num_threads",
    "spread",
    "trace",
    "when",
]
