"""What a text "MODULE:NAME" names in Python."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from boardenvs.utils.checks import unknown


def import_object(target: str) -> Any:
    """What "MODULE:NAME" names, from a module on Python's path or in the current folder.

    NAME may have dots. ValueError where there is no such module or name; what the module raises
    when it is imported passes through.
    """
    module_name, separator, name = target.partition(":")
    if not separator or not module_name or not name:
        raise ValueError(f"{target!r} names nothing in Python: write MODULE:NAME")
    add_current_folder()
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ValueError(f"cannot import {module_name!r}: {error}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            known = [n for n, x in vars(found).items() if _is_from(x, module_name)]
            raise ValueError(unknown(f"name in {module_name}", part, known))
        found = getattr(found, part)
    return found


def _is_from(thing: object, module_name: str) -> bool:
    """Whether a public class or function is defined in the module, not imported there."""
    name = getattr(thing, "__name__", "_")
    return getattr(thing, "__module__", None) == module_name and not name.startswith("_")


def add_current_folder() -> None:
    """Have imports look in the current folder too: a console script has only its own there."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
