"""Writes traced programs as functions of JAX, for one board: `jax.vmap` makes batches of it.

The source is Python on words of either kind that `jax_words` has. XLA compiles what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from boardenvs.kernel.generated import run_source
from boardenvs.kernel.operations import OPERATIONS
from boardenvs.kernel.trace import Node, Program
from boardenvs.kernel.words import Table


def write_jax(program: Program, name: str) -> tuple[str, dict[str, Table]]:
    """The source of a function of words that returns a tuple, and the tables it names.

    The names `constant`, `less`, `nonzero`, `popcount`, `lookup` and `choose` in it are those of
    `jax_words.Words`.
    """
    writer = _Writer()
    writer.function(program, name)
    return "\n".join([*writer.constants, *writer.functions]), writer.tables


def compile_jax(program: Program, name: str, words: Any) -> Callable[..., Sequence[Any]]:
    """A function that JAX can trace, of `program.num_inputs` stored words or small numbers; it
    returns a tuple of stored words. `words` is a `jax_words.Words`.
    """
    source, tables = write_jax(program, name)
    names: dict[str, Any] = dict(tables)
    for given in ("constant", "less", "nonzero", "popcount", "lookup", "choose"):
        names[given] = getattr(words, given)
    run_source(source, f"{name} (jax)", names)

    def run(*inputs: Any) -> tuple[Any, ...]:
        return tuple(words.store(word) for word in names[name](*map(words.load, inputs)))

    return run


class _Writer:
    def __init__(self) -> None:
        self.constants: list[str] = []
        self.functions: list[str] = []
        self.tables: dict[str, Table] = {}
        self._names: dict[int, str] = {}

    def function(self, program: Program, name: str) -> None:
        """Add a function of the program's inputs that returns its outputs."""
        alive = program.live()
        text = [self._operand(i, node) if alive[i] else "" for i, node in enumerate(program.nodes)]
        lines = [
            f"    {text[i]} = {self._expression(program.nodes[i], text, name)}"
            for i in program.steps()
        ]
        inputs = ", ".join(f"i{k}" for k in range(program.num_inputs))
        outputs = ", ".join(text[o] for o in program.outputs)
        self.functions += [f"def {name}({inputs}):", *lines, f"    return ({outputs},)", ""]

    def _operand(self, index: int, node: Node) -> str:
        match node.op:
            case "input":
                return f"i{node.extra}"
            case "const":
                if node.extra not in self._names:
                    self._names[node.extra] = f"c{len(self._names)}"
                    self.constants.append(f"c{len(self._names) - 1} = constant({node.extra:#x})")
                return self._names[node.extra]
            case _:
                return f"t{index}"

    def _expression(self, node: Node, text: list[str], name: str) -> str:
        args = [text[a] for a in node.args]
        if node.op in OPERATIONS:
            return OPERATIONS[node.op].jax.format(*args)
        match node.op:
            case "lookup":
                table = f"table_{len(self.tables)}"
                self.tables[table] = node.extra
                return f"lookup({table}, {args[0]})"
            case "when":  # XLA works on all rows alike: the part is computed everywhere
                part = f"{name}_when_{len(self.functions)}"
                self.function(node.extra, part)
                return f"choose({args[0]}, {part}({', '.join(args[1:])})[0])"
            case op:
                raise NotImplementedError(op)
