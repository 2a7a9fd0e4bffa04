"""`python -m boardenvs.kernel GAME RULE`: what a rule of a game became."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from boardenvs.cli.console import make_console
from boardenvs.cli.options import GameName
from boardenvs.games import parse, spec_of
from boardenvs.kernel.backend import Kernel, check_backend
from boardenvs.kernel.jax_writer import write_jax
from boardenvs.kernel.numba_writer import write_batch
from boardenvs.kernel.numpy_writer import NumpyProgram
from boardenvs.kernel.python_writer import write_python
from boardenvs.utils.checks import unknown
from boardenvs.utils.ending import ending_in_a_line

Form: TypeAlias = Literal["trace", "python", "numpy", "numba", "jax"]


def write_listing(kernel: Kernel, form: Form) -> tuple[str, str]:
    """The traced operations, or the source that is run: "python" and "jax" for one board, "numpy"
    and "numba" for a batch, as the trace is; and their size in a few words. ImportError for "numba"
    where that is not installed.
    """
    program = kernel.program("scalar" if form == "python" else "batch")
    size = f"{program.num_inputs} words in, {len(program.outputs)} out, {program.size()} operations"
    match form:
        case "trace":
            return f"{program}\n", size
        case "python":
            return write_python(program, kernel.name)[0], f"{size}; for one board"
        case "numpy":
            compiled = NumpyProgram(program, kernel.name)
            return compiled.source, f"{size}; for a batch, {compiled.num_buffers} buffers"
        case "numba":
            check_backend("numba")
            return write_batch(program, kernel.name), f"{size}; for a batch"
        case "jax":
            return write_jax(program, kernel.name), f"{size}; for one board"


app = typer.Typer(
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def show(
    game: GameName,
    rule: Annotated[
        str,
        typer.Argument(
            metavar="RULE",
            help="What is compiled: `begin`, `step_words`, `step_observe`, `step_batch`, "
            "`sample`, `is_legal`, `points`, `planes`, `observe`, `stable`, `evaluate` or "
            "`features`.",
        ),
    ],
    form: Annotated[
        Form,
        typer.Option(
            "--as",
            help="The recorded operations, or the code that is made of them: `python` or `jax` "
            "for one board, `numpy` or `numba` for a batch.",
        ),
    ] = "trace",
) -> None:
    """Show what a rule became: the operations on words that were traced, or generated code.

    ```
    python -m boardenvs.kernel othello step_words
    python -m boardenvs.kernel lines_of_action begin --as numpy
    ```
    """
    from rich.syntax import Syntax

    with ending_in_a_line():
        rules = parse(game)
        kernels = {name: k for name, k in vars(rules.kernels).items() if isinstance(k, Kernel)}
        if rule not in kernels:
            raise ValueError(unknown("rule", rule, kernels))
        source, size = write_listing(kernels[rule], form)
        text = f"# {rule} of {spec_of(rules)}: {size}\n\n{source}"
        console = make_console()
        if console.is_terminal:
            console.print(
                Syntax(
                    text, "python", theme="ansi_dark", background_color="default", word_wrap=True
                )
            )
        else:
            typer.echo(text, nl=False)


if __name__ == "__main__":
    app(prog_name="python -m boardenvs.kernel")
