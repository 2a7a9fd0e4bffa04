"""JSON and YAML that others wrote, read safely: whatever is wrong with them is a ValueError."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from boardenvs.utils.checks import cut, quote, unknown

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")

_MOST_VALUES = 10_000  # of YAML; an alias counts as all that it stands for
_MOST_TEXT = 1 << 18  # characters of YAML
_PLAIN = (int, float, bool, type(None))
_LARGE = re.compile(r"[eE]\+?\d{3}|\d{309}")  # what may be a number that is too large


def decode(kind: type[T], value: Any, whole: str) -> T:
    """Return a value of JSON or YAML as this type, such as a pydantic model.

    whole: how errors call the value, such as "a record". ValueError, in one line, names the first
    part that does not fit, what it is and what would be right.
    """
    from pydantic import ValidationError

    try:
        decoded: T = _adapter(cast("Any", kind)).validate_python(value)
        return decoded
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    path, wrong = first["loc"], first["type"]
    where = cut(".".join(map(str, path))) or whole
    if wrong == "missing":
        raise ValueError(f"{where} is missing")
    if wrong == "extra_forbidden":
        raise ValueError(f"{where}: {unknown('key', path[-1], _keys_of(kind, path[:-1]))}")
    wanted = cut(first["msg"].removeprefix("Value error, "), 600)
    if wrong == "value_error" and not path:
        raise ValueError(wanted)
    wanted = wanted.replace("Input should", "it must", 1)
    if wrong in ("model_type", "model_attributes_type", "dict_type"):
        wanted = "it must be a JSON object"
    raise ValueError(f"{where} is {quote(first['input'])}: {wanted}")


def _keys_of(model: Any, path: Sequence[int | str]) -> Collection[str]:
    """Return the known keys of a group within a pydantic model; none if it is something else."""
    for key in path:
        if field := getattr(model, "model_fields", {}).get(key):
            model, *_ = get_args(field.annotation) or [field.annotation]  # optional, or a list
    keys: Collection[str] = getattr(model, "model_fields", ())
    return keys


@lru_cache(maxsize=64)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def parse_json(text: str) -> Any:
    """Return the value of a JSON text, which can be written as JSON again.

    ValueError if it is not JSON, or holds NaN, infinite or endless numbers, lone surrogates, or
    values nested more than 200 deep.
    """
    from pydantic_core import from_json

    try:
        value = from_json(text.encode(), allow_inf_nan=False)
        if _LARGE.search(text):
            json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"this is not JSON: {cut(str(error), 200)}") from None
    return value


def parse_yaml(text: str) -> Any:
    """Return the plain value of a YAML text: what JSON has, too; needs PyYAML.

    ValueError if it is not YAML, has other values, such as dates, or more than 10,000 of them.
    """
    import yaml

    if len(text) > _MOST_TEXT:
        raise ValueError(f"there are more than {_MOST_TEXT:,} characters")
    if text.count(":") > _MOST_VALUES:  # of keys, or of a number such as 1:30:00, to the base 60
        raise ValueError(f"there are more than {_MOST_VALUES:,} values")
    try:
        value = yaml.safe_load(text)
    except RecursionError:
        raise ValueError("lists and groups are nested too deeply") from None
    except Exception as error:  # PyYAML also raises its own faults, as for `!!bool "x"`
        why = " ".join(str(error).split())
        raise ValueError(f"this is not YAML: {cut(why, 300)}") from None
    # A few aliases of aliases can stand for billions of values, and one can contain itself.
    waiting, count = [value], 0
    while waiting:
        part = waiting.pop()
        count += 1
        if isinstance(part, dict | list):
            waiting += part if isinstance(part, list) else (*part, *part.values())
        elif isinstance(part, str):
            part.encode()  # UnicodeEncodeError, which is a ValueError, for lone surrogates
        elif not isinstance(part, _PLAIN) or (isinstance(part, int) and part.bit_length() > 64):
            raise ValueError(f"{quote(part)} is neither a text, a number of 64 bits, nor a bool")
        if count + len(waiting) > _MOST_VALUES:
            raise ValueError(f"there are more than {_MOST_VALUES:,} values")
    return value
