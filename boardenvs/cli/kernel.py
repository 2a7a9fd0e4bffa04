"""`boardenvs kernel`: what a rule of a game became."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from boardenvs.cli.options import GameName

if TYPE_CHECKING:
    from boardenvs.game.contract import Game
    from boardenvs.kernel import Kernel


def kernel(
    game: GameName,
    rule: Annotated[
        str,
        typer.Argument(
            metavar="RULE",
            help="What is compiled: `begin`, `advance`, `ply`, `turn`, `arrive`, `place`, "
            "`sample`, `is_legal`, `points`, `planes`, `view`, `stable`, `evaluate` or `features`.",
        ),
    ],
    form: Annotated[
        Literal["trace", "python", "numpy", "numba", "jax"],
        typer.Option(
            "--as",
            help="The recorded operations, or the code that is made of them: `python` or `jax` "
            "for one board, `numpy` or `numba` for a batch.",
        ),
    ] = "trace",
) -> None:
    """Show what a rule became: the operations on words that were traced, or generated code.

    ```
    boardenvs kernel othello advance
    boardenvs kernel lines_of_action begin --as numpy
    ```
    """
    from rich.syntax import Syntax

    from boardenvs.cli.console import make_console
    from boardenvs.games import parse, spec_of
    from boardenvs.kernel.listing import write_listing

    rules = parse(game)
    chosen = _choose(rules, rule)
    try:
        listing = write_listing(chosen, form)
    except ImportError as error:
        raise ValueError(str(error)) from error
    text = f"# {rule} of {spec_of(rules)}: {listing.summary}\n\n{listing.source}"
    console = make_console()
    if console.is_terminal:
        theme, background = "ansi_dark", "default"
        console.print(
            Syntax(text, "python", theme=theme, background_color=background, word_wrap=True)
        )
    else:
        typer.echo(text, nl=False)


def _choose(game: Game, rule: str) -> Kernel:
    """The compiled rule of this name; ValueError where there is none."""
    from boardenvs.kernel import Kernel
    from boardenvs.utils.checks import unknown

    kernels = {name: k for name, k in vars(game.kernels).items() if isinstance(k, Kernel)}
    if rule not in kernels:
        raise ValueError(unknown("rule", rule, kernels))
    return kernels[rule]
