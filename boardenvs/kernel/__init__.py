"""One source of rules, several speeds.

A rule is a plain function on *words*: unsigned 64-bit values, one per board. `operations` is the
table of operations on words, `flow` has choices, loops and tables, and `wide` sets of more than 64
squares; a rule runs directly on Python ints and on uint64 arrays. `trace` runs it once on symbols
and records a straight-line program. `python_writer` writes the program as Python for one board,
`numpy_writer` as NumPy calls on preallocated buffers for a batch, and `numba_writer` as machine
code for both: `simd` has its words, `rows` the loop over a batch, `threads` divides large batches.
`products` multiplies the matrices of networks. `jax_writer` writes a JAX function on `jax_words`.
`layout` says how words lie in arrays, `generated` runs generated source, and `backend` chooses
between NumPy and Numba.
"""

from boardenvs.kernel.backend import Kernel, get_backend, set_backend
from boardenvs.kernel.flow import Table, guard, repeat, rounds, spread, when
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
    "rounds",
    "set_backend",
    "set_num_threads",
    "spread",
    "trace",
    "when",
]
