"""Commands made of dataclasses, plain help, and errors in one line.

A user's error, typer's own included, ends a command with exit code 2 and one line that names the
value; Ctrl-C ends it with 130.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from boardenvs.utils.checks import check_name, cut, quote, unknown
from boardenvs.utils.ending import ending_in_a_line


class Command(Protocol):
    """The options of a command as fields, annotated for typer; the docstring is its help."""

    def run(self) -> None:
        """Run the command."""


def function_of(options: type[Command]) -> Callable[..., None]:
    """Return the function that typer makes a command of: one parameter for each field."""

    def run(**values: Any) -> None:
        options(**values).run()

    hints = get_type_hints(options, include_extras=True)
    signature = inspect.signature(options)
    fields = [p.replace(annotation=hints[name]) for name, p in signature.parameters.items()]
    vars(run)["__signature__"] = signature.replace(parameters=fields, return_annotation=None)
    run.__doc__ = options.__doc__
    return run


# A board of 64 squares, the first one empty.
_BOARD = re.compile(r"-[^\s/]{63}")


class PlainHelp:
    """Help that names values, such as N, instead of their types, such as <int>."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, as the help shows them."""
        parameters = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            shown = parameter.metavar = parameter.metavar or parameter.name.upper()
            if parameter.param_type_name == "argument" or parameter.is_flag:
                shown = None
            parameter.display_type_rich = lambda ctx, shown=shown: shown
        return parameters


class PlainCommand(PlainHelp, TyperCommand):
    """A command with plain help."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the words; a board that begins with an empty square, `-`, is no option."""
        ctx.ignore_unknown_options = any(map(_BOARD.match, args))
        return super().parse_args(ctx, args)


class ErrorsGroup(PlainHelp, TyperGroup):
    """A group of commands whose expected errors need no traceback."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> Any:
        """Read the words before the command; without any words typer shows the help."""
        if not args:
            return super().make_context(info_name, args, *rest, **more)
        with ending_in_a_line(), usage_errors_as_values():
            return super().make_context(info_name, args, *rest, **more)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of this name."""
        if not ctx.resilient_parsing and not args[0].startswith("-"):
            check_name("command", args[0], self.commands)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with ending_in_a_line(), usage_errors_as_values():
            return super().invoke(ctx)


# ---- errors of usage -----------------------------------------------------------------------------

# The base class of usage errors: click's, or the one in typer's own copy.
_UsageError: type[Any] = typer.BadParameter.__bases__[0]

# The wanted value, by the type of Pydantic's error: newer versions of typer validate with Pydantic.
_WANTED = {
    "int_parsing": "a whole number",
    "float_parsing": "a number",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
}


@contextmanager
def usage_errors_as_values() -> Iterator[None]:
    """Raise ValueError with a message in one line for errors of usage."""
    try:
        yield
    except _UsageError as error:
        raise ValueError(describe_usage_error(error)) from error


def describe_usage_error(error: Any) -> str:
    """Return a line that names the option or argument, the value, and what would be right."""
    parameter, context = getattr(error, "param", None), error.ctx
    if hasattr(error, "possibilities") and context:
        options = ["--help", *(name for option in context.command.params for name in option.opts)]
        return unknown("option", error.option_name, (n for n in options if n.startswith("--")))
    if hasattr(error, "param_type") and parameter:
        return f"{_name(parameter)} is missing. {_usage(context)}"
    problems = getattr(error.__cause__, "errors", None)
    if problems and parameter:
        return _wrong_value(_name(parameter), problems()[0])
    message = cut(error.format_message(), 300)
    if parameter or not context:
        return message
    return f"{message.rstrip('.')}. {_usage(context)}"


def _wrong_value(name: str, problem: Mapping[str, Any]) -> str:
    wanted = _WANTED.get(problem["type"])
    value = problem["input"]
    if wanted is None:
        return f"{name} is {quote(value)}: {problem['msg'].removeprefix('Value error, ')}"
    shown = quote(value) if problem["type"].endswith("parsing") else cut(str(value), 100)
    return f"{name} is {shown}: it must be {wanted.format(**problem.get('ctx', {}))}"


def _name(parameter: Any) -> str:
    """Return an option as it is written, an argument as the usage shows it."""
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    return str(parameter.metavar)


def _usage(context: Any) -> str:
    """Return the usage of the command in one line."""
    return "" if context is None else " ".join(context.get_usage().split())
