"""What is wrong with the words of a command, in a line that names the value: typer's need not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from boardenvs.utils.checks import cut, quote, unknown

# typer has its own copy of click, or click itself, by version: this is the base of both's errors.
_UsageError: type[Any] = typer.BadParameter.__bases__[0]

# What Pydantic, which typer checks values with, says of them; by the kinds of its errors.
_WANTED = {
    "int_parsing": "a whole number",
    "float_parsing": "a number",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
}


@contextmanager
def usage_errors_as_values() -> Iterator[None]:
    """Have wrong words raise ValueError with a message in one line."""
    try:
        yield
    except _UsageError as error:
        raise ValueError(describe_usage_error(error)) from error


def describe_usage_error(error: Any) -> str:
    """What typer's error is about: the option or argument, the value, and what would be right."""
    parameter, context = getattr(error, "param", None), error.ctx
    if hasattr(error, "possibilities") and context is not None:
        known = [name for option in context.command.params for name in option.opts]
        known += context.help_option_names
        return unknown("option", error.option_name, (n for n in known if n.startswith("--")))
    if hasattr(error, "param_type") and parameter is not None:
        return f"{_name(parameter)} is missing. {_usage(context)}"
    problems = getattr(error.__cause__, "errors", None)
    if problems is not None and parameter is not None:
        return _wrong_value(_name(parameter), problems()[0])
    message = cut(error.format_message(), 300)
    if parameter is not None or context is None:
        return message
    return f"{message.rstrip('.')}. {_usage(context)}"


def _wrong_value(name: str, problem: Mapping[str, Any]) -> str:
    wanted = _WANTED.get(problem["type"])
    value, more = problem["input"], problem.get("ctx", {})
    if wanted is None:
        return f"{name} is {quote(value)}: {problem['msg'].removeprefix('Value error, ')}"
    shown = quote(value) if problem["type"].endswith("parsing") else cut(str(value), 100)
    return f"{name} is {shown}: it must be {wanted.format(**more)}"


def _name(parameter: Any) -> str:
    """An option as it is written, an argument as the usage has it."""
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    return str(parameter.metavar or parameter.name.upper())


def _usage(context: Any) -> str:
    """The usage of the command, in a line."""
    return "" if context is None else " ".join(context.get_usage().split())
