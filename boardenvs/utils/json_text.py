"""JSON out of files: what can be read can be written again, and all else is a ValueError."""

from __future__ import annotations

import json
import re
from typing import Any

from boardenvs.utils.checks import cut

MAX_DEPTH = 64  # of lists and objects in one another

_MAX_DIGITS = 100
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str) -> Any:
    """The value of a text.

    ValueError where it is not JSON, and for what JSON texts cannot hold or should not: NaN,
    infinite and endless numbers, halves of characters (lone surrogates), and more than `MAX_DEPTH`
    lists and objects in one another.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite, parse_int=_whole)
    except RecursionError:
        raise ValueError(_too_deep()) from None
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _check_depth(value)
    if _SURROGATE.search(text):
        _check_characters(value)
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if abs(value) == float("inf"):
        raise ValueError(f"{cut(text)} is too large for a number")
    return value


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"{cut(text)} has more than {_MAX_DIGITS} digits")
    return int(text)


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            x
            for outer in level
            if isinstance(outer, dict | list)
            for x in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise ValueError(_too_deep())


def _too_deep() -> str:
    return f"more than {MAX_DEPTH} lists and objects are in one another"


def _check_characters(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise ValueError(f"{half} is half of a character: a text cannot be written so") from None
