"""Writes traced programs as functions of JAX, for one board: `jax.vmap` makes batches of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from boardenvs.kernel.flow import Table
from boardenvs.kernel.generated import run_source
from boardenvs.kernel.trace import Program
from boardenvs.kernel.word_functions import WordFunctions


def write_jax(program: Program, name: str) -> str:
    """The source of a function of words that returns the outputs as a tuple."""
    functions = WordFunctions()
    functions.add(program, name)
    return "\n".join([*functions.lines, ""])


def compile_jax(program: Program, name: str, words: Any) -> Callable[..., tuple[Any, ...]]:
    """A function that JAX can trace, of `program.num_inputs` stored words or small numbers; it
    returns a tuple of stored words. `words` is the kind that `jax_words.words_in_use` says.
    """
    from boardenvs.kernel.jax_words import repeat, when  # JAX is imported where it is used

    names: dict[str, Any] = {"Table": Table, "repeat": repeat, "when": when}
    run_source(write_jax(program, name), f"{name} (jax)", names)
    function = names[name]

    def run(*inputs: Any) -> tuple[Any, ...]:
        return tuple(map(words.store, function(*map(words.load, inputs))))

    return run
