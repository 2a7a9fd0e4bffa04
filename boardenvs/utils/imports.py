"""What a text "MODULE:NAME" names in Python."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from boardenvs.utils.checks import cut, unknown
from boardenvs.utils.raised import describe


def import_object(target: str) -> Any:
    """What "MODULE:NAME" names, from a module on Python's path or in the current folder.

    NAME may have dots. ValueError where there is no such module or name, or the module raises when
    it is imported: that is the error's cause.
    """
    module_name, separator, name = target.partition(":")
    parts = f"{module_name}.{name}".split(".")
    if not separator or not all(part.isidentifier() for part in parts):
        raise ValueError(f"{cut(target)!r} names nothing in Python: write MODULE:NAME")
    add_current_folder()
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # anything may be in a module
        missing = isinstance(error, ModuleNotFoundError)
        reason = str(error) if missing else describe(error, top_level(target))
        raise ValueError(f"cannot import {module_name!r}: {reason}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            known = [n for n, x in vars(found).items() if _is_from(x, module_name)]
            raise ValueError(unknown(f"name in {module_name}", part, known))
        found = getattr(found, part)
    return found


def top_level(target: str) -> str:
    """The package, or the module in none, of a text "MODULE:NAME"."""
    return target.partition(":")[0].partition(".")[0]


def _is_from(thing: object, module_name: str) -> bool:
    """Whether a public class or function is defined in the module, not imported there."""
    name = getattr(thing, "__name__", "_")
    return getattr(thing, "__module__", None) == module_name and not name.startswith("_")


def add_current_folder() -> None:
    """Have imports look in the current folder too: a console script has only its own there."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
