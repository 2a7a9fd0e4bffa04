"""Agents by name: "greedy", or with parameters "name:key=value,key=value"."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from boardenvs.agents.base import Agent
from boardenvs.agents.greedy import GreedyAgent
from boardenvs.agents.random import RandomAgent
from boardenvs.errors import unknown

# What makes each agent; the parameters of its constructor are those of the text.
AGENTS: dict[str, Callable[..., Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
}

_BOOLS = {"true": True, "false": False}


def make_agent(spec: str) -> Agent:
    """The agent that a text such as "greedy" or "name:key=value,key=value" describes.

    ValueError for unknown names, with the nearest one that exists, and for values of a wrong type.
    """
    name, _, rest = spec.partition(":")
    if name not in AGENTS:
        raise ValueError(unknown("agent", name, AGENTS))
    if not rest and spec != name:
        raise ValueError(f'{spec!r} ends in ":" without a parameter: write {name!r} for defaults')
    types = _parameters(AGENTS[name])
    values: dict[str, Any] = {}
    for item in rest.split(",") if rest else ():
        key, separator, text = item.partition("=")
        if not separator or not text:
            raise ValueError(f"{item!r} in {spec!r} is no parameter: write it as key=value")
        if key not in types:
            raise ValueError(unknown(f"parameter of {name}", key, types))
        if key in values:
            raise ValueError(f"{key} is given twice in {spec!r}")
        values[key] = _parse(key, text, types[key])
    return AGENTS[name](**values)


def _parameters(factory: Callable[..., Agent]) -> dict[str, Any]:
    """The names of what an agent can be given, and their types."""
    hints = get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)
    return {name: hints[name] for name in inspect.signature(factory).parameters}


def _parse(key: str, text: str, kind: Any) -> Any:
    if kind is str:
        return text
    try:
        return _BOOLS[text] if kind is bool else kind(text)
    except (ValueError, KeyError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise ValueError(f"{key} is {text!r}: it must be {wanted}") from None
