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
    """All texts in nested dicts and lists, keys too; `parse_yaml` bounds how many there are."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.items():
            yield from _texts(list(item))
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
