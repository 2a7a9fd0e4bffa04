"""How commands end: the user's errors in one line and exit code 2, Ctrl-C with 130."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

from boardenvs.utils.ending import ending_in_a_line


class ErrorsGroup(TyperGroup):
    """A group of commands whose expected errors need no traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with ending_in_a_line():
            return super().invoke(ctx)
