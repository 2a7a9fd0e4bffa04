"""Random bits from a counter: splitmix64, for ints, for arrays and for machine code.

Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014;
https://prng.di.unimi.it/splitmix64.c.
"""

from __future__ import annotations

from typing import Any

GOLDEN = 0x9E3779B97F4A7C15  # from one seed to the next, modulo 2**64
MASK = 0xFFFFFFFFFFFFFFFF


def mix(seed: Any) -> Any:
    """Return 64 random bits of a seed below 2**64; or of each in a uint64 array, of its shape."""
    seed = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    seed = ((seed ^ (seed >> 27)) * 0x94D049BB133111EB) & MASK
    return seed ^ (seed >> 31)
