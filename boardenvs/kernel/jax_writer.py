"""Writes traced programs as functions of JAX, for one board: `jax.vmap` makes batches of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from boardenvs.kernel.flow import Table
from boardenvs.kernel.generated import run_source
from boardenvs.kernel.trace import Node, Program
from boardenvs.kernel.word_functions import WordFunctions

# Programs of more operations than LONG are cut into pieces of PIECE. XLA on the CPU computes cheap
# operations again for every result that needs it: chess, 2,700 operations with 180 results, is not
# compiled in minutes as one piece, and Go is a third as fast.
LONG, PIECE = 1000, 200


class Piece(NamedTuple):
    """A part of a longer program; its outputs are nodes of that."""

    program: Program
    inputs: list[int]  # the nodes that are its inputs


def write_jax(program: Program, name: str) -> str:
    """Return the source of a function of words that returns the outputs as a tuple."""
    functions = WordFunctions()
    functions.add(program, name)
    return "\n".join([*functions.lines, ""])


def compile_jax(
    program: Program, name: str, pieces: bool = False
) -> Callable[..., tuple[Any, ...]]:
    """Return a function that JAX can trace, of `program.num_inputs` stored words or small numbers;
    it returns a tuple of stored words. With `pieces`, a long program is cut into pieces, each kept
    `apart` from the users of its results.
    """
    from boardenvs.kernel.jax_words import apart, on_words, repeat, store, when  # JAX is optional

    if pieces:
        size = PIECE if len(program.steps()) > LONG else LONG
        compiled = [
            (piece, apart(compile_jax(piece.program, f"{name}_{k}")))
            for k, piece in enumerate(cut(program, size))
        ]

        def in_pieces(*inputs: Any) -> tuple[Any, ...]:
            stored = {
                i: inputs[node.extra] if node.op == "input" else store(node.extra)
                for i, node in enumerate(program.nodes)
                if node.op in ("input", "const")
            }
            for piece, function in compiled:
                words = function(*(stored[i] for i in piece.inputs))
                stored.update(zip(piece.program.outputs, words, strict=True))
            return tuple(stored[i] for i in program.outputs)

        return in_pieces

    names: dict[str, Any] = {"Table": Table, "repeat": repeat, "when": when}
    run_source(write_jax(program, name), f"{name} (jax)", names)
    return on_words(names[name])


def cut(program: Program, size: int) -> list[Piece]:
    """Return the program cut into pieces of `size` operations, to be run in order."""
    steps, parts = program.steps(), []
    while steps:
        end = size
        while end < len(steps) and program.nodes[steps[end]].op == "part":
            end += 1  # with its `repeat`, whose words are no word
        parts.append(steps[:end])
        steps = steps[end:]
    pieces, needed = [], set(program.outputs)
    for part in reversed(parts):
        made = needed.intersection(part)
        args = {i for step in part for i in program.nodes[step].args}.difference(part)
        inputs = sorted(i for i in args if program.nodes[i].op != "const")
        nodes = list(program.nodes)
        for k, i in enumerate(inputs):
            nodes[i] = Node("input", extra=k)
        own = replace(program, num_inputs=len(inputs), nodes=nodes, outputs=tuple(sorted(made)))
        pieces.append(Piece(own, inputs))
        needed.update(inputs)
    return pieces[::-1]
