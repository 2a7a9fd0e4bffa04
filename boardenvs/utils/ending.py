"""How commands end: the user's errors in one line and exit code 2, signals with 130."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from boardenvs.utils.checks import cut
from boardenvs.utils.raised import describe, place_of
from boardenvs.utils.signals import interrupting

_MOST = 2000  # characters of a message

# What wrong input, files and machines raise. Anything else is a fault of ours, and needs its
# traceback; or of a user's game or agent, and needs its place.
_EXPECTED = (ValueError, OSError, RuntimeError, MemoryError, ImportError)


@contextmanager
def ending_in_a_line() -> Iterator[None]:
    """Have a command end by expected errors in one line, exit code 2, and by signals with 130."""
    try:
        with interrupting():
            yield
    except (BrokenPipeError, typer.Exit, typer.Abort):  # the reader has seen enough: typer ends
        raise
    except _EXPECTED as error:
        _fail(cut(message_of(error), _MOST), error)
    except Exception as error:
        if place_of(error) is None:
            raise
        _fail(describe(error), error)
    except KeyboardInterrupt as error:
        typer.secho("interrupted", err=True)
        raise SystemExit(130) from error


def _fail(message: str, error: Exception) -> None:
    typer.secho(f"error: {message}", err=True, fg="red")
    raise SystemExit(2) from error


def message_of(error: BaseException) -> str:
    """What an expected error tells its user."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{cut(str(error.filename), 200)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"there is too little memory for this. {error}".strip()
    return str(error) or type(error).__name__
