"""User code: finding the object that a text "MODULE:NAME" names, and where an error was raised."""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from boardenvs.utils.checks import cut, unknown

_MOST = 300  # characters of a message
_OURS = str(Path(__file__).parents[1])
_LIBRARIES = tuple(
    sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


def import_object(target: str) -> Any:
    """Return the object that "MODULE:NAME" names, on Python's path or in the current folder.

    NAME may have dots. ValueError if there is no such module or name, or if importing the module
    raises; that is the error's cause.
    """
    module_name, separator, name = target.partition(":")
    if not separator or not all(part.isidentifier() for part in f"{module_name}.{name}".split(".")):
        raise ValueError(f"{cut(target)!r} names nothing in Python: write MODULE:NAME")
    add_current_folder()
    try:
        value = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # anything may be in a module
        missing = isinstance(error, ModuleNotFoundError)
        reason = str(error) if missing else describe(error, top_level(target))
        raise ValueError(f"cannot import {module_name!r}: {reason}") from error
    for part in name.split("."):
        if not hasattr(value, part):
            names = [name for name in dir(value) if not name.startswith("_")]
            raise ValueError(unknown(f"name in {module_name}", part, names))
        value = getattr(value, part)
    return value


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Add to the ModuleNotFoundError of an import the command that installs this extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("boardenvs"):
            raise
        message = f'{error.name} is not installed: pip install "boardenvs[{name}]"'
        raise ModuleNotFoundError(message, name=error.name) from error


def top_level(target: str) -> str:
    """Return the top-level package of a text "MODULE:NAME"."""
    return target.partition(":")[0].partition(".")[0]


def add_current_folder() -> None:
    """Make modules in the current folder importable, as a console script does not."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())


def describe(error: BaseException, package: str = "") -> str:
    """Describe an exception in one line: type, message, and the last line of user code.

    User code is code outside of libraries, and in the `package` given.
    """
    text = cut(" ".join("".join(traceback.format_exception_only(error)).split()), _MOST)
    place = place_of(error, package)
    return f"{text} ({place})" if place else text


def place_of(error: BaseException, package: str = "") -> str | None:
    """Return the last line of user code that ran, "bots.py, line 7", or None."""
    place = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if _is_users(frame, package):
            place = f"{Path(frame.f_code.co_filename).name}, line {number}"
    return place


@contextmanager
def naming_errors(text: str, package: str) -> Iterator[None]:
    """Turn errors of user code, sys.exit() too, into ValueErrors that name `text` and the place.

    Errors without a line of user code pass through.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        if place_of(error, package) is None:
            raise
        raise ValueError(f"{cut(text, 100)!r} raised {describe(error, package)}") from error


def _is_users(frame: FrameType, package: str) -> bool:
    name = frame.f_code.co_filename
    if name.startswith(("<", _OURS)):  # generated, such as the constructor of a dataclass
        return False
    module: str = frame.f_globals.get("__name__", "")
    return module.partition(".")[0] == package or not name.startswith(_LIBRARIES)
