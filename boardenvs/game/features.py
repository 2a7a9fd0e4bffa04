"""What a game says of a position to learnt evaluations."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel import Bits


class Feature(NamedTuple):
    """A number that tells something of a position."""

    number: Bits
    size: int  # the number is below it, in every position that is not over
