"""Words: unsigned 64-bit values, one a board.

On ints and in traced programs a flag is the word 0 or 1. Arithmetic is modulo 2**64; code that is
to run directly on ints must AND after every left shift, sum or complement (a traced program cuts by
itself where it matters).
"""

from __future__ import annotations

from typing import Any, TypeAlias

# An int, a uint64 array of shape (B,), a `trace.Word` or a `wide.Wide`. Operators on such a union
# say nothing to a type checker, hence Any; the name is for the reader.
Bits: TypeAlias = Any

ALL = (1 << 64) - 1
ROUNDS = 256  # of a loop of a rule: no board has more squares that could be added one by one
