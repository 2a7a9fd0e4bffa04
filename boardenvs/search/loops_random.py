"""Random bits in loops: splitmix64 (Steele, Lea and Flood 2014), linked before what uses it."""

from __future__ import annotations

from boardenvs.kernel.loops import Word, word, wrap

GOLDEN = 0x9E3779B97F4A7C15  # from one seed to the next


def mix(seed: Word) -> Word:
    """64 random bits."""
    x = wrap((seed ^ (seed >> word(30))) * word(0xBF58476D1CE4E5B9))
    x = wrap((x ^ (x >> word(27))) * word(0x94D049BB133111EB))
    return x ^ (x >> word(31))
