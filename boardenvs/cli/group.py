"""How commands end: the user's errors in one line and exit code 2, Ctrl-C with 130."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

from boardenvs.cli.usage import usage_errors_as_values
from boardenvs.utils.checks import check_name
from boardenvs.utils.ending import ending_in_a_line


class ErrorsGroup(TyperGroup):
    """A group of commands whose expected errors need no traceback."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> Any:
        """Read the words before the command; without any there is help, which typer shows."""
        if not args:
            return super().make_context(info_name, args, *rest, **more)
        with ending_in_a_line(), usage_errors_as_values():
            return super().make_context(info_name, args, *rest, **more)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of this name."""
        if not ctx.resilient_parsing and not args[0].startswith("-"):
            check_name("command", args[0], self.commands)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with ending_in_a_line(), usage_errors_as_values():
            return super().invoke(ctx)
