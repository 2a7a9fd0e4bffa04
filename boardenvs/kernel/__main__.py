"""`python -m boardenvs.kernel GAME RULE`: what a rule of a game became."""

from __future__ import annotations

from typing import Annotated

import typer

from boardenvs.cli.console import make_console
from boardenvs.cli.options import GameName
from boardenvs.games import parse, spec_of
from boardenvs.kernel import Kernel
from boardenvs.kernel.listing import Form, write_listing
from boardenvs.utils.checks import unknown
from boardenvs.utils.ending import ending_in_a_line

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
            help="What is compiled: `begin`, `advance`, `ply`, `transition`, `arrive`, `place`, "
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
    python -m boardenvs.kernel othello advance
    python -m boardenvs.kernel lines_of_action begin --as numpy
    ```
    """
    from rich.syntax import Syntax

    with ending_in_a_line():
        rules = parse(game)
        kernels = {name: k for name, k in vars(rules.kernels).items() if isinstance(k, Kernel)}
        if rule not in kernels:
            raise ValueError(unknown("rule", rule, kernels))
        listing = write_listing(kernels[rule], form)
        text = f"# {rule} of {spec_of(rules)}: {listing.summary}\n\n{listing.source}"
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
