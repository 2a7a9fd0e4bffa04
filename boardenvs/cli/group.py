"""How commands end: the user's errors in one line and exit code 2, Ctrl-C with 130."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from boardenvs.utils.checks import cut
from boardenvs.utils.signals import interrupting

_MOST = 2000  # characters of a message

# What wrong input, files and machines raise. Anything else is a fault of ours, and needs its
# traceback.
_EXPECTED = (ValueError, OSError, RuntimeError, MemoryError, ImportError)


class ErrorsGroup(TyperGroup):
    """A group of commands whose expected errors need no traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            with interrupting():
                return super().invoke(ctx)
        except (
            BrokenPipeError,
            typer.Exit,
            typer.Abort,
        ):  # the reader has seen enough: typer ends quietly
            raise
        except _EXPECTED as error:
            typer.secho(f"error: {cut(message_of(error), _MOST)}", err=True, fg="red")
            raise typer.Exit(2) from error
        except KeyboardInterrupt as error:
            typer.secho("interrupted", err=True)
            raise typer.Exit(130) from error


def message_of(error: BaseException) -> str:
    """What an expected error tells its user."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{cut(str(error.filename), 200)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"there is too little memory for this. {error}".strip()
    return str(error) or type(error).__name__
