"""Loops over rules: a module of plain functions, joined with one game's compiled rules.

Search walks from position to position, one at a time: there a call from Python for every node would
cost more than the rules. So the search is written once, in the part of Python that Numba compiles
(see `loops`), and linked for each game: to machine code in one module with the rules, or, without
Numba, to plain Python on ints.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from boardenvs.kernel import loops
from boardenvs.kernel.backend import Kernel, get_backend

Array = np.ndarray[Any, np.dtype[Any]]

_INNER = "@njit(nogil=True, error_model='numpy')"
# The last module holds the functions that Python calls; cached with all that they call.
_OUTER = "@njit(cache=True, nogil=True, error_model='numpy')"

_NATIVE = """
import math
from numba import int64 as number, uint64 as word
wrap = word
ZERO, ONE = np.uint64(0), np.uint64(1)
"""

_NODE = """
{decorator}
def load(array, index):
    return ({elements},)

{decorator}
def store(array, index, node):
    {assignments}

{decorator}
def draw(node, random):
    return sample({legal}, random)[0]
"""


def link(
    sources: Sequence[ModuleType], kernels: Mapping[str, Kernel], constants: Mapping[str, int]
) -> Any:
    """The functions of these modules, compiled with these rules by the backend in use.

    Later modules may use the functions of earlier ones; only those of the last one are called from
    Python. `kernels` and `constants` give the names that `loops` declares; a constant also replaces
    one of that name in a module. ValueError where two modules define the same name.
    """
    _check_names(sources)
    if get_backend() == "numba":
        return _link_native(sources, kernels, constants)
    namespace = {name: getattr(loops, name) for name in _HELPERS} | {
        "ZERO": 0,
        "ONE": 1,
        "math": math,
    }
    namespace |= {name: kernel.compile_one() for name, kernel in kernels.items()}
    namespace |= constants
    bodies = [_body(source, constants, "") for source in sources]
    code = "".join([_node(constants["WIDTH"], ""), *bodies])
    exec(compile(code, f"<{sources[-1].__name__}>", "exec"), namespace)
    return SimpleNamespace(**namespace)


def array_for_loops(array: Array) -> Any:
    """A flat array as linked functions take it."""
    return array if get_backend() == "numba" else memoryview(array)  # type: ignore[arg-type]


_HELPERS = ("word", "number", "wrap", "popcount", "trailing_zeros")


def _link_native(
    sources: Sequence[ModuleType], kernels: Mapping[str, Kernel], constants: Mapping[str, int]
) -> Any:
    from boardenvs.kernel.generated import load_source
    from boardenvs.kernel.numba_writer import write_functions

    programs = {name: kernel.program() for name, kernel in kernels.items()}
    parts = [
        write_functions(programs),
        _NATIVE,
        *(f"{name} = {value}\n" for name, value in constants.items()),
        _node(constants["WIDTH"], _INNER),
        *(_body(source, constants, _INNER) for source in sources[:-1]),
        _body(sources[-1], constants, _OUTER),
    ]
    return load_source("".join(parts))


def _node(width: int, decorator: str) -> str:
    """What handles the words of a node of this width."""
    return _NODE.format(
        decorator=decorator,
        elements=", ".join(f"array[index + {k}]" for k in range(width)),
        assignments="\n    ".join(f"array[index + {k}] = node[{k}]" for k in range(width)),
        legal=", ".join(f"node[{k}]" for k in range(2, width - 1)),
    )


def _check_names(sources: Sequence[ModuleType]) -> None:
    """All modules become one: a name defined twice would silently be that of the later module."""
    owners: dict[str, str] = {}
    for source in sources:
        for name in sorted(_defined(source)):
            if name in owners:
                raise ValueError(f"{owners[name]} and {source.__name__} both define {name!r}")
            owners[name] = source.__name__


def _defined(source: ModuleType) -> set[str]:
    """The names of a module's own functions and constants."""
    names: set[str] = set()
    for statement in _statements(source):
        if isinstance(statement, ast.FunctionDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign):
            targets = (node for target in statement.targets for node in ast.walk(target))
            names |= {node.id for node in targets if isinstance(node, ast.Name)}
    return names


def _statements(source: ModuleType) -> list[ast.stmt]:
    """What a module says, without its imports."""
    body = ast.parse(inspect.getsource(source)).body
    return [s for s in body if not isinstance(s, (ast.Import, ast.ImportFrom))]


def _body(source: ModuleType, given: Mapping[str, int], decorator: str) -> str:
    """The module's constants and functions, each function decorated."""
    parts = []
    for statement in _statements(source):
        if _is_given(statement, given):
            continue
        if isinstance(statement, ast.FunctionDef):
            for argument in ast.walk(statement):
                if isinstance(argument, ast.arg):
                    argument.annotation = None
            statement.returns = None
            parts.append(decorator)
        parts.append(ast.unparse(statement))
    return "\n".join(["", *parts, ""])


def _is_given(statement: ast.stmt, given: Mapping[str, int]) -> bool:
    """Whether a statement sets one of these names."""
    return isinstance(statement, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id in given for target in statement.targets
    )
