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
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from boardenvs.kernel import loops
from boardenvs.kernel.backend import Backend, Kernel, get_backend

_Modules = list[tuple[ModuleType, list[ast.stmt]]]  # each with its statements

# Loops make no arrays, so Numba need not count references to them (`_nrt`): to count them for the
# arrays in a tuple would take a fifth of the time. What only loops call needs no wrapper for Python
# or C, and each conversion takes as long to compile as a short function.
_OPTIONS = "nogil=True, error_model='numpy', _nrt=False"
_NO_WRAPPERS = "no_cpython_wrapper=True, no_cfunc_wrapper=True"
_INNER = f"@njit({_OPTIONS}, {_NO_WRAPPERS})"
_MARKED = {
    "entry": f"@njit({_OPTIONS}, cache=True)",  # with all that they call
    "inline": f"@njit({_OPTIONS}, forceinline=True, {_NO_WRAPPERS})",
}

_NOT_LINKED = ("__future__", "typing", loops.__name__)

# `loops` as machine code has it.
_NATIVE = f"""
from numba import int64 as number, uint64 as word
from boardenvs.kernel.simd import add_words, prefetch, sum_weights  # in groups of {loops.GROUP}
wrap = word
ZERO, ONE = word({loops.ZERO}), word({loops.ONE})
"""


def link(
    entry: ModuleType,
    rules: Mapping[str, Kernel],
    constants: Mapping[str, int],
    parts: Mapping[str, Callable[..., Any]] | None = None,
    backend: Backend | None = None,
) -> SimpleNamespace:
    """Return the entries of a module, compiled with these rules by the backend, or the one in use.

    Functions that the module imports by name are compiled with it, module by module. `rules` and
    `constants` define the names that `loops` only declares; a constant's value replaces its name.
    Entries are the functions marked with
    `loops.entry`, which Python may call with flat arrays, also in named tuples. `parts` define
    functions that a module only declares, by name. ValueError if two modules define the same name.
    """
    chosen = dict(parts or {})
    modules = _modules(*(sys.modules[part.__module__] for part in chosen.values()), entry)
    statements = [(module, _with_parts(_statements(module), chosen)) for module in modules]
    body = [*chain.from_iterable(body for _, body in statements)]
    functions = [x for x in body if isinstance(x, ast.FunctionDef)]
    names = [ast.unparse(name) for x in body if isinstance(x, ast.Assign) for name in x.targets]
    names += [function.name for function in functions]
    twice = {name for name in names if names.count(name) > 1}
    if twice:  # the later definition would silently win
        raise ValueError(f"more than one module defines {', '.join(sorted(twice))}")
    entries = [f.name for f in functions if "entry" in map(ast.unparse, f.decorator_list)]
    if (backend or get_backend()) == "numba":
        namespace = _link_native(statements, rules, constants)
        return SimpleNamespace(**{name: namespace[name] for name in entries})
    namespace = _link_python(statements, rules, constants)
    return SimpleNamespace(**{name: partial(_on_views, namespace[name]) for name in entries})


def _on_views(entry: Callable[..., Any], *args: Any) -> Any:
    """Call an entry in Python with memoryviews of arrays, whose elements are Python's numbers."""
    return entry(*map(_view, args))


def _view(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple.__new__(type(value), map(_view, value))
    is_array = isinstance(value, np.ndarray) and value.dtype != object
    return memoryview(value) if is_array else value


def _link_python(
    statements: _Modules, rules: Mapping[str, Kernel], constants: Mapping[str, int]
) -> dict[str, Any]:
    namespace: dict[str, Any] = dict(vars(loops))
    namespace |= {name: kernel.compile_one("numpy") for name, kernel in rules.items()}
    namespace |= {"new_tuple": tuple.__new__, "popcount": int.bit_count}
    exec(_reading_and_writing(constants, ""), namespace)
    for module, body in statements:
        code = _Constants(constants).visit(ast.Module(body, []))
        code = _ForPython(module).visit(code)
        exec(compile(code, str(module.__file__), "exec"), namespace)
    return namespace


def _link_native(
    statements: _Modules, rules: Mapping[str, Kernel], constants: Mapping[str, int]
) -> dict[str, Any]:
    from boardenvs.kernel.generated import load_source
    from boardenvs.kernel.numba_writer import write_functions

    programs = {name: kernel.program("lanes") for name, kernel in rules.items()}
    parts = [write_functions(programs), _NATIVE, _reading_and_writing(constants, _INNER)]
    write = _Constants({name: _native_constant(name, x) for name, x in constants.items()})
    parts += [_native(write.visit(statement)) for _, body in statements for statement in body]
    return vars(load_source("\n".join(parts)))


class _Constants(ast.NodeTransformer):
    """Writes constants in place of their names."""

    def __init__(self, constants: Mapping[str, int | str]) -> None:
        self._constants = constants

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self._constants:
            return node
        value = ast.parse(str(self._constants[node.id]), mode="eval").body
        for part in ast.walk(value):
            ast.copy_location(part, node)
        return value

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Leaves out what a constant rules out: it would be compiled before it is removed."""
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node


class _ForPython(ast.NodeTransformer):
    """Leaves out what Python's ints need not: to be made a `word` or `number`. And makes
    NamedTuples without their `__new__`, which takes four times as long.
    """

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name):
            return node
        if node.func.id in ("word", "number"):
            return node.args[0]
        if not hasattr(getattr(self._module, node.func.id, None), "_fields"):
            return node
        fields = ast.Tuple(node.args, ast.Load())
        new = ast.Call(ast.Name("new_tuple", ast.Load()), [node.func, fields], [])
        return ast.fix_missing_locations(ast.copy_location(new, node))


def _native_constant(name: str, value: int) -> str:
    """Return a constant as Numba reads it, as a word where `loops` declares one."""
    return f"word({value})" if loops.__annotations__[name] == "Word" else str(value)


def _reading_and_writing(constants: Mapping[str, int], decorator: str) -> str:
    """Return the functions that read and write the words of a position and of its legal actions."""
    counts = {"words": constants["WORD_COUNT"], "legal": constants["LEGAL_WORDS"]}
    return "".join(
        f"""
{decorator}
def read_{name}(array, start):
    return ({", ".join(f"array[start + {k}]" for k in range(count))},)

{decorator}
def write_{name}(array, start, words):
    {"; ".join(f"array[start + {k}] = words[{k}]" for k in range(count))}
"""
        for name, count in counts.items()
    )


def _modules(*entries: ModuleType) -> list[ModuleType]:
    """Return the modules and their dependencies, topologically sorted."""
    modules: dict[str, ModuleType] = {}

    def visit(module: ModuleType) -> None:
        for statement in ast.parse(inspect.getsource(module)).body:
            if isinstance(statement, ast.ImportFrom) and _is_linked(statement):
                visit(sys.modules[str(statement.module)])
        modules.setdefault(module.__name__, module)

    for entry in entries:
        visit(entry)
    return list(modules.values())


def _with_parts(
    statements: list[ast.stmt], parts: Mapping[str, Callable[..., Any]]
) -> list[ast.stmt]:
    """Return the statements, with parts in place of the functions that declare them."""
    return [
        ast.parse(f"{statement.name} = {parts[statement.name].__name__}").body[0]
        if isinstance(statement, ast.FunctionDef) and statement.name in parts
        else statement
        for statement in statements
    ]


def _is_linked(statement: ast.ImportFrom) -> bool:
    """Return whether an import brings in more than classes and what `loops` declares."""
    if statement.module in _NOT_LINKED:
        return False
    source = sys.modules[str(statement.module)]
    return not all(inspect.isclass(getattr(source, name.name)) for name in statement.names)


def _statements(module: ModuleType) -> list[ast.stmt]:
    """Return the statements of a module, without annotations and without imports of linked modules.

    Its classes are imported, so that loops and their callers use the same ones.
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
            isinstance(statement, ast.ImportFrom)
            and statement.module not in _NOT_LINKED
            and not _is_linked(statement)
        ):
            statements.append(statement)
    return statements


def _native(statement: ast.stmt) -> str:
    """Return a statement of a module as Numba reads it."""
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
