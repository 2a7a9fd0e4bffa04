"""Uses `loops_perft`, and defines what it defines."""

from __future__ import annotations

from loops_perft import bits_of

from boardenvs.kernel.loops import entry


@entry
def walk(steps: int) -> int:
    """Nothing."""
    return bits_of(steps)
