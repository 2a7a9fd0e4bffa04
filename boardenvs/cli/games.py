"""`boardenvs games`: what there is to play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from boardenvs.cli.options import game_names

if TYPE_CHECKING:
    from rich.console import Console

    from boardenvs.game.contract import Game


def games(
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="GAME",
            help="A game to show in full, such as `wolf_and_sheep:rules=described`.",
            autocompletion=game_names,
        ),
    ] = None,
) -> None:
    """List the games and their parameters; with a GAME, show its page and its first position.

    ```
    boardenvs games
    boardenvs games lines_of_action
    boardenvs games lines_of_action:rules=described
    ```
    """
    from boardenvs.cli.console import make_console
    from boardenvs.games import parse
    from boardenvs.kernel.backend import no_compiling

    console = make_console()
    with no_compiling():
        if game is None:
            _print_list(console)
        else:
            _print_page(console, parse(game))


def _print_list(console: Console) -> None:
    from rich.table import Table

    from boardenvs.game.perft import perft
    from boardenvs.games import GAMES

    table = Table(title="Games", caption="perft: the lines of play of one, two and three plies")
    for name in ("game", "roles", "parameters"):
        table.add_column(name, overflow="fold")
    for name in ("actions", "observation", "perft"):
        table.add_column(name, justify="right")
    for game_id in GAMES:
        for number, game in enumerate(_variants(game_id)):
            counts = " ".join(str(perft(game, depth)) for depth in (1, 2, 3))
            table.add_row(
                game_id if number == 0 else f"{game_id}:rules={game.variants[number]}",
                ", ".join(game.roles),
                _parameters(game_id) if number == 0 else "",
                str(game.num_actions),
                "x".join(map(str, game.observation_shape)),
                counts,
            )
        table.add_section()
    console.print(table)
    console.print("A parameter is written after the game: wolf_and_sheep:rules=described")


def _variants(game_id: str) -> list[Game]:
    """The game under each of its rules."""
    from boardenvs.games import make

    game = make(game_id)
    return [make(game_id, rules=rules) for rules in game.variants] or [game]


def _parameters(game_id: str) -> str:
    from boardenvs.games import defaults
    from boardenvs.utils.spec import write_value

    return "\n".join(f"{key}={write_value(value)}" for key, value in defaults(game_id).items())


def _print_page(console: Console, game: Game) -> None:
    from rich.markdown import Markdown
    from rich.text import Text

    from boardenvs.envs.page import page_of
    from boardenvs.games import spec_of
    from boardenvs.render import to_ansi

    console.print(Markdown(page_of(game), code_theme="ansi_dark"))
    console.print(f"\n{spec_of(game)} at the start:\n", style="bold")
    console.print(Text.from_ansi(to_ansi(game, game.start(), legal=True)))
