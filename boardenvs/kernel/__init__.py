"""One source of rules, several speeds.

A rule is a plain function on *words*: unsigned 64-bit values, one a board. `words` holds the few
operations that Python's operators do not spell; with them the same function runs directly on
Python ints and on uint64 arrays. `trace` runs it once on symbols and records a straight-line
program; `scalar` writes that program as Python for one board, `arrays` as NumPy calls on
preallocated buffers for a batch, and `native` as machine code for both, through Numba. `backend`
chooses.
"""

from boardenvs.kernel.backend import Kernel, get_backend, set_backend
from boardenvs.kernel.trace import Program, Word, trace
from boardenvs.kernel.words import ALL, Bits, Table, guard, less, nonzero, popcount, spread, when

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
