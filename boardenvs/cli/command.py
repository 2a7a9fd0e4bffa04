"""Commands of many options: a dataclass of them with a method `run`, and not a long signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol, get_type_hints


class Command(Protocol):
    """The options of a command as fields, annotated as typer wants its parameters; its help."""

    def run(self) -> None:
        """Do what the command is for."""


def function_of(options: type[Command]) -> Callable[..., None]:
    """The function that typer makes a command of: its parameters are the fields of the class."""

    def run(**values: Any) -> None:
        options(**values).run()

    hints = get_type_hints(options, include_extras=True)
    signature = inspect.signature(options)
    fields = [p.replace(annotation=hints[name]) for name, p in signature.parameters.items()]
    vars(run)["__signature__"] = signature.replace(parameters=fields, return_annotation=None)
    run.__name__ = options.__name__.lower()
    run.__doc__ = options.__doc__
    return run
