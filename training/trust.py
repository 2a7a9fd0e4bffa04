"""Code that a configuration names is imported only where the user has said so.

A configuration may be of others; `python:` players, and games and callbacks in modules,
"MODULE:NAME", would run what they chose.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from boardenvs import games
from boardenvs.agents.spec import runs_code
from boardenvs.utils.checks import cut


def code_named(settings: dict[str, Any], own: list[Any]) -> list[str]:
    """The texts in settings that have code imported, without those that the user has said."""
    found = [text for text in _texts(settings) if runs_code(text)]
    game, callbacks = settings.get("game"), settings.get("callbacks")
    if isinstance(game, str) and games.imports_code(game):
        found.append(game)
    if isinstance(callbacks, dict):
        found += map(str, callbacks)
    trusted = set(_texts(own))
    return [cut(text) for text in dict.fromkeys(found) if text not in trusted]


def _texts(value: Any) -> Iterator[str]:
    """All texts in nested dicts and lists, keys too; `parse_yaml` bounds how many there are."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value:
            yield from _texts(part)
            if isinstance(value, dict):
                yield from _texts(value[part])
