"""Show what a rule of a game is compiled to.

`python .ci/show_rule.py lines_of_action step_words numpy`

The last argument is "trace" (the recorded operations), "python" or "jax" (the code for one board),
or "numpy" or "numba" (the code for a batch).
"""

import sys
from collections.abc import Iterator

from boardenvs import games
from boardenvs.kernel import Kernel
from boardenvs.kernel.jax_writer import write_jax
from boardenvs.kernel.numba_writer import write_batch
from boardenvs.kernel.numpy_writer import NumpyProgram
from boardenvs.kernel.python_writer import write_python
from boardenvs.kernel.trace import Program, write_constant


def write_listing(kernel: Kernel, form: str) -> str:
    """The traced operations, or the source that is run."""
    program = kernel.program("scalar" if form == "python" else "batch")
    match form:
        case "python":
            return write_python(program, kernel.name)[0]
        case "numpy":
            return NumpyProgram(program, kernel.name).source
        case "numba":
            return write_batch(program, kernel.name, kernel.layout)
        case "jax":
            return write_jax(program, kernel.name)
    return "\n".join([*operations(program), ""])


def operations(program: Program) -> Iterator[str]:
    """A line for each operation; the programs of `when` and `repeat` are indented."""
    for i in program.steps():
        node = program.nodes[i]
        name, args = node.op, [name_of(program, arg) for arg in node.args]
        match node.op:
            case "when" | "repeat":
                if node.op == "when":
                    name = f"when {args.pop(0)}"
                given = ", ".join(f"i{k} = {arg}" for k, arg in enumerate(args))
                yield f"t{i} = {name}, with {given}:"
                yield from (f"    {line}" for line in operations(node.extra))
            case "lookup":
                yield f"t{i} = lookup {args[0]} in a table of {len(node.extra.values)} words"
            case _:
                extra = [] if node.extra is None else [str(node.extra)]
                yield f"t{i} = {' '.join([name, *args, *extra])}"
    yield " ".join(["return", *(name_of(program, output) for output in program.outputs)])


def name_of(program: Program, index: int) -> str:
    """A node in a line: an input, a constant or an earlier operation."""
    node = program.nodes[index]
    match node.op:
        case "input":
            return f"i{node.extra}"
        case "const":
            return write_constant(node.extra)
        case _:
            return f"t{index}"


if __name__ == "__main__":
    game, rule, form = sys.argv[1:]
    print(write_listing(getattr(games.make(game).kernels, rule), form), end="")
