"""How commands end: the user's errors in one line and exit code 2, Ctrl-C with 130."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup


class ErrorsGroup(TyperGroup):
    """A group of commands whose expected errors need no traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader has seen enough: typer ends quietly
            raise
        except (ValueError, OSError) as error:
            typer.secho(f"error: {_message(error)}", err=True, fg="red")
            raise typer.Exit(2) from error
        except KeyboardInterrupt as error:
            typer.secho("interrupted", err=True)
            raise typer.Exit(130) from error


def _message(error: ValueError | OSError) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
