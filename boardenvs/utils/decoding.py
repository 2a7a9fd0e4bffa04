"""JSON and YAML of others, read without harm; all that is wrong with them is a ValueError."""

from __future__ import annotations

import itertools
import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from boardenvs.utils.checks import cut, quote, unknown

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")

MAX_DEPTH = 64  # of lists and objects in one another
_MOST_VALUES = 10_000  # of YAML; a name of another part (an alias) counts as that
_MOST_DIGITS = 100
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def decode(kind: type[T], value: Any, whole: str) -> T:
    """A value of JSON or YAML as this kind of value, such as a model of pydantic's; `whole` is what
    errors call all of it, "a record".

    ValueError, in one line, names the first part that does not fit, what it is and what is right.
    """
    from pydantic import ValidationError

    try:
        found: T = _adapter(cast("Any", kind)).validate_python(value)
        return found
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    path = first["loc"]
    where = ".".join(map(str, path)) or whole
    if first["type"] == "missing":
        raise ValueError(f"{where} is missing")
    if first["type"] == "extra_forbidden":
        known = getattr(kind, "model_fields", ()) if len(path) == 1 else ()
        raise ValueError(unknown(f"key of {whole}", path[-1], known))
    if first["type"] in ("model_type", "model_attributes_type", "dict_type"):
        raise ValueError(f"{where} is {quote(first['input'])}: it must be a JSON object")
    wanted = first["msg"].removeprefix("Value error, ").replace("Input should", "it must", 1)
    raise ValueError(f"{where} is {quote(first['input'])}: {wanted}")


@lru_cache(maxsize=64)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def parse_json(text: str) -> Any:
    """The value of a text, which can be written as JSON again.

    ValueError where it is not JSON, and for what JSON texts cannot hold or should not: NaN,
    infinite and endless numbers, halves of characters (lone surrogates), and more than `MAX_DEPTH`
    lists and objects in one another.
    """
    try:
        value = json.loads(text, parse_constant=_number, parse_float=_number, parse_int=_whole)
        if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
            raise RecursionError
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError(f"more than {MAX_DEPTH} lists and objects are in one another") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise ValueError(f"{half} is half of a character: a text cannot be written so") from None
    return value


def _number(text: str) -> float:
    value = float(text)
    if not abs(value) < float("inf"):
        raise ValueError(f"{cut(text)} is not a number of JSON, or too large for one")
    return value


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"{cut(text)} has more than {_MOST_DIGITS} digits")
    return int(text)


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, inner), default=0) if isinstance(value, dict | list) else 0


def parse_yaml(text: str) -> Any:
    """The value of a YAML text, made of plain values alone; needs PyYAML.

    ValueError where it is no YAML, or has more than `MAX_DEPTH` lists and groups in one another or
    10,000 values.
    """
    import yaml

    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:  # PyYAML takes seconds for some thousands, then gives up
                raise ValueError(f"more than {MAX_DEPTH} lists and groups are in one another")
        if _size(yaml.compose(text, Loader=yaml.SafeLoader), {}) > _MOST_VALUES:
            raise ValueError(f"there are more than {_MOST_VALUES:,} values")
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"this is not YAML: {cut(str(error), 300)}") from None


def _size(node: Any, sizes: dict[Any, float]) -> float:
    """How many values a part of a YAML text stands for: a few names of names can be billions, and
    one that is a part of itself is endless.
    """
    if node not in sizes:
        sizes[node] = float("inf")
        parts = node.value if isinstance(getattr(node, "value", None), list) else []
        flat = itertools.chain(*(part if isinstance(part, tuple) else (part,) for part in parts))
        sizes[node] = 1 + sum(_size(part, sizes) for part in flat)
    return sizes[node]
