"""Checks of values, and messages that name the value, what was wrong and what would be right."""

from __future__ import annotations

import difflib
import numbers
import re
import reprlib
from collections.abc import Iterable
from typing import Any


def cut(text: str, most: int = 60) -> str:
    """Shorten a long text in its middle, for messages."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}...{text[len(text) - most // 4 :]}"


# Control characters except tabs and line ends, lone surrogates, and what reorders text.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Return a text, which others may have written, as a terminal may get it.

    Characters that could move the cursor, change the screen or reorder text become "�".
    """
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


# Writes no more than what is shown: a value that others sent can be billions of times as long.
_SHORT = reprlib.Repr()
_SHORT.maxlevel = 4
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = 10
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 200


def quote(value: object) -> str:
    """Return a value as messages show it: its repr, shortened if it is long."""
    try:
        return cut(_SHORT.repr(value), 100)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return f"a {type(value).__name__} too long to be written"


def unknown(kind: str, name: object, names: Iterable[str]) -> str:
    """Return the message for an unknown name, with the nearest of the names that there are."""
    names = sorted(names)
    near = _nearest(str(name)[:100], names)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    listing = ", ".join(map(repr, names)) or "none"
    return f"unknown {kind} {quote(name)}.{hint} Known: {listing}."


def _nearest(name: str, names: list[str]) -> list[str]:
    """Return the name that was probably meant, if any: "loa" means "lines_of_action"."""
    for other in names:
        if name.lower() == "".join(word[0] for word in other.split("_") if word):
            return [other]
    # The dashes of options are alike in all of them.
    bare, shown = name.lstrip("-"), {other.lstrip("-"): other for other in names}
    begun = [other for other in shown if bare and other.startswith(bare)]
    near = begun[:1] or difflib.get_close_matches(bare, shown, n=1, cutoff=0.51)
    return [shown[other] for other in near]


def is_whole(value: object, low: int, high: int | None = None) -> bool:
    """Return whether a value is an int, but not a bool, from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    return value >= low and (high is None or value <= high)


def check_whole(
    name: str, value: Any, low: int, high: int | None = None, even: bool = False
) -> None:
    """ValueError if a value is not a whole number from `low` to `high`, or not even."""
    if not is_whole(value, low, high) or (even and value % 2):
        right = f"{low} or more" if high is None else f"{low} to {high}"
        raise ValueError(
            f"{name} is {quote(value)}: it must be {right}, and {'even' if even else 'whole'}"
        )


def is_number(value: object, low: float, high: float = float("inf")) -> bool:
    """Return whether a value is an int or float, but no bool and no nan, from `low` to `high`."""
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def check_name(kind: str, value: object, names: Iterable[str]) -> None:
    """Raise ValueError unless the value is one of the names."""
    names = list(names)
    if value not in names:
        raise ValueError(unknown(kind, value, names))


def check_seed(seed: object) -> None:
    """Raise TypeError or ValueError for what is neither None nor a whole number, 0 or more."""
    if seed is None:
        return
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral):
        raise TypeError(f"seed is {quote(seed)}: it must be a whole number, 0 or more, or None")
    if seed < 0:
        raise ValueError(f"seed is {quote(seed)}: it must be 0 or more")
