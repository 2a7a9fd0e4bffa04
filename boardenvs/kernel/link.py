"""Loops over rules: modules of plain functions, compiled together with one game's rules.

Search walks from position to position, one at a time: there a call from Python for every node would
cost more than the rules. So the search is written once, in the part of Python that Numba compiles
(see `loops`), and linked for each game: to machine code in one module with the rules, or, without
Numba, to plain Python on ints, whose tracebacks show the lines of the source.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from boardenvs.kernel import loops
from boardenvs.kernel.backend import Kernel, get_backend

Array = np.ndarray[Any, np.dtype[Any]]

# Loops make no arrays, so Numba need not count references to them (`_nrt`): to count those of the
# arrays in a tuple would take a fifth of the time.
_INNER = "@njit(nogil=True, error_model='numpy', _nrt=False)"
_MARKED = {
    # With all that they call.
    "entry": "@njit(cache=True, nogil=True, error_model='numpy', _nrt=False)",
    "inline": "@njit(nogil=True, error_model='numpy', _nrt=False, forceinline=True)",
}

# `loops` as machine code has it.
_NATIVE = f"""
from numba import int64 as number, uint64 as word
wrap = word
ZERO, ONE = word({loops.ZERO}), word({loops.ONE})
"""
_IN_PYTHON = (
    "entry",
    "inline",
    "word",
    "number",
    "wrap",
    "popcount",
    "trailing_zeros",
    "ZERO",
    "ONE",
)


def link(
    entry: ModuleType, rules: Mapping[str, Kernel], constants: Mapping[str, int]
) -> SimpleNamespace:
    """The functions of a module, compiled with these rules by the backend in use.

    What it imports by name is compiled with it, module by module, but for what `loops` declares:
    `rules` and `constants` give that, a constant as a function without arguments. Python may call
    the functions marked with `loops.entry`. ValueError where two modules define the same name.
    """
    modules = _modules(entry)
    _check_names(modules)
    if get_backend() == "numba":
        return _link_native(modules, rules, constants)
    namespace: dict[str, Any] = {name: getattr(loops, name) for name in _IN_PYTHON}
    namespace |= {name: kernel.compile_one() for name, kernel in rules.items()}
    exec(_given(constants, ""), namespace)
    for module in modules:
        code = ast.Module(_statements(module), [])
        exec(compile(code, str(module.__file__), "exec"), namespace)
    return SimpleNamespace(**namespace)


def array_for_loops(array: Array) -> Any:
    """A flat array as linked functions take it."""
    return array if get_backend() == "numba" else memoryview(array)  # type: ignore[arg-type]


def _link_native(
    modules: list[ModuleType], rules: Mapping[str, Kernel], constants: Mapping[str, int]
) -> SimpleNamespace:
    from boardenvs.kernel.generated import load_source
    from boardenvs.kernel.numba_writer import write_functions

    programs = {name: kernel.program() for name, kernel in rules.items()}
    parts = [write_functions(programs), _NATIVE, _given(constants, _INNER)]
    parts += [_native(statement) for module in modules for statement in _statements(module)]
    namespace: SimpleNamespace = load_source("\n".join(parts))
    return namespace


def _given(constants: Mapping[str, int], decorator: str) -> str:
    """The functions that follow from the game's constants."""
    lines = []
    for name, value in constants.items():
        lines += [decorator, f"def {name}():", f"    return {value}", ""]
    words = range(constants["legal_words"])
    lines += [
        decorator,
        "def read_legal(array, start):",
        f"    return ({', '.join(f'array[start + {k}]' for k in words)},)",
        "",
        decorator,
        "def write_legal(array, start, legal):",
        *(f"    array[start + {k}] = legal[{k}]" for k in words),
        "",
    ]
    return "\n".join(lines)


def _modules(entry: ModuleType) -> list[ModuleType]:
    """The module and those that it imports functions or constants from, each after what it uses."""
    found: dict[str, ModuleType] = {}

    def visit(module: ModuleType) -> None:
        for statement in ast.parse(inspect.getsource(module)).body:
            if isinstance(statement, ast.ImportFrom) and _is_linked(statement):
                visit(sys.modules[str(statement.module)])
        found.setdefault(module.__name__, module)

    visit(entry)
    return list(found.values())


def _is_linked(statement: ast.ImportFrom) -> bool:
    """Whether an import brings in more than classes and what `loops` declares."""
    if statement.module in ("__future__", "typing", loops.__name__):
        return False
    source = sys.modules[str(statement.module)]
    return not all(inspect.isclass(getattr(source, name.name)) for name in statement.names)


def _check_names(modules: list[ModuleType]) -> None:
    """All modules become one: a name defined twice would silently be that of the later module."""
    owners: dict[str, str] = {}
    for module in modules:
        for name in sorted(_defined(module)):
            if name in owners:
                raise ValueError(f"{owners[name]} and {module.__name__} both define {name!r}")
            owners[name] = module.__name__


def _defined(module: ModuleType) -> set[str]:
    """The names of a module's own functions and constants."""
    names: set[str] = set()
    for statement in _statements(module):
        if isinstance(statement, ast.FunctionDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign):
            targets = (node for target in statement.targets for node in ast.walk(target))
            names |= {node.id for node in targets if isinstance(node, ast.Name)}
    return names


def _statements(module: ModuleType) -> list[ast.stmt]:
    """What a module says, without annotations and without imports of what is linked.

    Its classes are imported from it: the ones that Python passes are the ones that loops know.
    """
    statements: list[ast.stmt] = []
    for statement in ast.parse(inspect.getsource(module)).body:
        if isinstance(statement, ast.FunctionDef):
            for argument in ast.walk(statement):
                if isinstance(argument, ast.arg):
                    argument.annotation = None
            statement.returns = None
            statements.append(statement)
        elif isinstance(statement, ast.ClassDef):
            name = ast.alias(statement.name)
            statements.append(ast.ImportFrom(module.__name__, [name], 0, lineno=1, col_offset=0))
            ast.fix_missing_locations(statements[-1])
        elif isinstance(statement, (ast.Assign, ast.Import)) or (
            isinstance(statement, ast.ImportFrom) and _is_import_of_classes(statement)
        ):
            statements.append(statement)
    return statements


def _is_import_of_classes(statement: ast.ImportFrom) -> bool:
    return statement.module not in ("__future__", "typing", loops.__name__) and not _is_linked(
        statement
    )


def _native(statement: ast.stmt) -> str:
    """A statement of a module as Numba reads it."""
    if isinstance(statement, ast.FunctionDef):
        marks = [ast.unparse(mark) for mark in statement.decorator_list]
        decorator = _MARKED.get(marks[0], _INNER) if marks else _INNER
        statement.decorator_list = []
        return f"{decorator}\n{ast.unparse(statement)}\n"
    if isinstance(statement, ast.ImportFrom):
        # With the fields, so that code compiled for others is not taken for this.
        source = sys.modules[str(statement.module)]
        fields = [getattr(getattr(source, name.name), "_fields", ()) for name in statement.names]
        return f"{ast.unparse(statement)}  # {fields}"
    return ast.unparse(statement)
