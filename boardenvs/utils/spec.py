"""Texts that name a thing and its parameters: "name", "name:key=value,key=value", "name:VALUE".

Agents ("alphabeta:depth=4") and games ("wolf_and_sheep:rules=described") are written so. Commas
between double quotes belong to a value, and so do these quotes.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args, get_origin

from boardenvs.utils.checks import check_name, cut

T = TypeVar("T")

_BOOLS = {"true": True, "false": False}
_WANTED = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def parse_parameters(
    spec: str,
    name: str,
    parameters: str | None,
    factory: Callable[..., object],
    hidden: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return the values of a factory's parameters in a text such as "depth=4,endgame=10".

    parameters: the part of the text `spec` behind its colon, None without a colon. hidden:
    parameters that texts cannot set. ValueError for unknown names, with the nearest known
    one, and for wrong values.
    """
    if parameters == "":
        raise ValueError(f'{spec!r} ends in ":" without a parameter: write {name!r} for defaults')
    items = _split(parameters) if parameters else ()
    kinds = parameters_of(factory) if items else {}
    # Hidden ones that lack a type stay: `_parse` says which types there are.
    kinds = {key: kind for key, kind in kinds.items() if key not in hidden or kind not in _WANTED}
    values: dict[str, Any] = {}
    for index, item in enumerate(items):
        key, separator, text = item.partition("=")
        if index == 0 and kinds and not (separator and key.isidentifier()):
            key, text = next(iter(kinds)), item
        if not text:
            raise ValueError(
                f"{cut(item)!r} in {cut(spec)!r} is not a parameter: write it as key=value, "
                "where no value has a comma"
            )
        check_name(f"parameter of {name}", key, kinds)
        if key in values:
            raise ValueError(f"{key} is given twice in {cut(spec)!r}")
        values[key] = _parse(key, text, kinds[key])
    for key, parameter in signature_of(factory).items():
        if parameter.default is parameter.empty and key not in hidden and key not in values:
            raise ValueError(f"{cut(spec)!r} lacks {key}: write {name}:{key.upper()}")
    return values


def check_colon(spec: str, is_name: Callable[[str], object]) -> None:
    """Raise ValueError for a text with a comma in place of the colon after its name."""
    name, comma, rest = spec.partition(",")
    if comma and is_name(name):
        raise ValueError(f"{cut(spec)!r} has no colon before its parameters: write {name}:{rest}")


def write_spec(name: str, values: Mapping[str, bool | int | float | str | None]) -> str:
    """Return the text that names a thing with these parameters."""
    items = [f"{key}={write_value(value)}" for key, value in values.items()]
    return f"{name}:{','.join(items)}" if items else name


def write_value(value: bool | int | float | str | None) -> str:
    """Return a parameter's value as `parse_parameters` reads it."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def parameters_of(factory: Callable[..., object]) -> dict[str, Any]:
    """Return the names and types of a factory's parameters; None for an unknown type."""
    function = getattr(factory, "func", factory)  # of a partial
    function = function.__init__ if inspect.isclass(function) else function
    names = getattr(function, "__globals__", {})
    return {key: _type_of(p.annotation, names) for key, p in signature_of(factory).items()}


def _type_of(annotation: Any, names: dict[str, Any]) -> Any:
    """Return the type of an annotation, or None if it cannot be evaluated."""
    try:
        return eval(annotation, names) if isinstance(annotation, str) else annotation
    except Exception:  # any expression may be an annotation
        return None


def _split(parameters: str) -> list[str]:
    """Split at commas outside of quotes."""
    items = [""]
    for place, part in enumerate(parameters.split('"')):
        first, *others = [part] if place % 2 else part.split(",")
        items[-1] += f'"{first}' if place else first
        items += others
    return items


def signature_of(factory: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a factory by name, less `*args` and `**options`."""
    parameters = inspect.signature(factory).parameters.items()
    return {name: p for name, p in parameters if "VAR" not in p.kind.name}


def _parse(key: str, text: str, kind: Any) -> Any:
    """Return the value of a text as `kind`: bool, int, float, str, or one of them or None."""
    kinds = get_args(kind) if get_origin(kind) is types.UnionType else (kind,)
    optional = type(None) in kinds
    if optional and text == "none":
        return None
    kind, *others = [k for k in kinds if k is not type(None)] or [None]
    if others or kind not in _WANTED:
        raise ValueError(
            f"{key} cannot be given in a text: it must be annotated as bool, int, float or str"
        )
    try:
        return _BOOLS[text] if kind is bool else kind(text)
    except (ValueError, KeyError):
        wanted = _WANTED[kind] + (" or none" if optional else "")
        raise ValueError(f"{key} is {cut(text)!r}: it must be {wanted}") from None
