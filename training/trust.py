"""Code that a configuration names is imported only where the user has said so.

A configuration may be of others; `python:` players, and games and callbacks in modules,
"MODULE:NAME", would run what they chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from boardenvs import games
from boardenvs.agents.spec import imports_code
from boardenvs.utils.checks import cut
from boardenvs.utils.decoding import parse_yaml


def code_named(settings: dict[str, Any], overrides: Sequence[str]) -> list[str]:
    """The texts in the settings of a file that have code imported, without those that an override
    says in full: these are the user's own.
    """
    found = [text for text in _texts(settings) if imports_code(text)]
    game = settings.get("game")
    if isinstance(game, str) and games.imports_code(game):
        found.append(game)
    callbacks = settings.get("callbacks")
    if isinstance(callbacks, dict):
        found += map(str, callbacks)
    own = {text for override in overrides for text in _said(override)}
    return [cut(text) for text in dict.fromkeys(found) if text not in own]


def _said(override: str) -> Iterator[str]:
    """All texts in an override such as "evaluation.opponents=[random, greedy]", keys too."""
    key, _, value = override.partition("=")
    yield from key.split(".")
    yield from _texts(parse_yaml(value))


def _texts(value: Any) -> Iterator[str]:
    """All texts in nested dicts and lists, keys too."""
    level = [value]
    seen: set[int] = set()  # YAML may put one value into many places, and into itself
    while level:
        value = level.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list) and id(value) not in seen:
            seen.add(id(value))
            level.extend(value)
            level.extend(value.values() if isinstance(value, dict) else ())
