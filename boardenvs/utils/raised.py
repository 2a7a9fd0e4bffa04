"""What the code of users raises, in one line that says where."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from boardenvs.utils.checks import cut

_MOST = 300  # characters of a message
_OURS = str(Path(__file__).parents[1])
_LIBRARIES = tuple(
    sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


def describe(error: BaseException, package: str = "") -> str:
    """An exception in one line: its type, its message and the last line of users' code that ran.

    Users' code is what stands in no library, and in the `package` named.
    """
    text = cut(" ".join("".join(traceback.format_exception_only(error)).split()), _MOST)
    place = place_of(error, package)
    return f"{text} ({place})" if place else text


def place_of(error: BaseException, package: str = "") -> str | None:
    """The last line of users' code that ran, "bots.py, line 7"; None where none did."""
    place = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if _is_users(frame, package):
            place = f"{Path(frame.f_code.co_filename).name}, line {number}"
    return place


@contextmanager
def naming_errors(text: str, package: str) -> Iterator[None]:
    """Have what users' code raises, sys.exit() too, end as a ValueError that names the `text` for
    which it was called, the exception and where it was raised.

    What is raised without a line of theirs passes through.
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
