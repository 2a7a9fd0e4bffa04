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

_MOST_TEXT = 1 << 18  # characters of YAML
_MOST_KEYS = 10_000
_MOST_PARTS = 50_000  # of JSON: keys, values and signs
_LARGE = re.compile(r"[eE]\+?\d{3}|\d{309}")  # what may be a number that is too large


def decode(kind: type[T], value: Any, whole: str) -> T:
    """Return a value of JSON or YAML as this type, such as a pydantic model.

    whole: how errors call the value, such as "a record". ValueError, in one line, names the first
    part that does not fit, what it is and what would be right.
    """
    from pydantic import ValidationError

    try:
        return _adapter(cast("Any", kind)).validate_python(value)
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
    return getattr(model, "model_fields", ())


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

    ValueError if it is not YAML, has other values, such as dates, or too many of them.
    """
    import yaml

    if len(text) > _MOST_TEXT:
        raise ValueError(f"there are more than {_MOST_TEXT:,} characters")
    if text.count(":") > _MOST_KEYS:  # or digits of a number such as 1:30:00, to the base 60
        raise ValueError(f"there are more than {_MOST_KEYS:,} keys")
    try:
        value = yaml.safe_load(text)
        # A few aliases of aliases can stand for billions of values, so it is written part by part.
        for count, part in enumerate(json.JSONEncoder(ensure_ascii=False).iterencode(value)):
            part.encode()  # UnicodeEncodeError for lone surrogates
            if count > _MOST_PARTS:
                raise ValueError("its aliases stand for too many values")
            if '"' not in part and re.search(r"\d{20}", part):
                raise ValueError(f"{cut(part)} is too large for a whole number")
    except RecursionError:
        raise ValueError("lists and groups are nested too deeply") from None
    except Exception as error:  # PyYAML also raises its own faults, as for `!!bool "x"`
        why = " ".join(str(error).split())
        raise ValueError(f"this is not plain YAML: {cut(why, 300)}") from None
    return value
