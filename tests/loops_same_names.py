"""Defines what `loops_perft` defines."""


def walk(steps: int) -> int:
    """Nothing."""
    return steps
