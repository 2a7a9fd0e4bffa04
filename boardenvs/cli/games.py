"""`boardenvs games`: what there is to play."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from boardenvs.cli.console import make_console
from boardenvs.cli.options import game_names
from boardenvs.envs.page import page_of
from boardenvs.game.perft import perft
from boardenvs.games import defaults, importable, make, parse, spec_of
from boardenvs.kernel.backend import no_compiling
from boardenvs.utils.spec import write_value
from boardenvs.utils.tables import make_table


@no_compiling()
def games(
    game: Annotated[
        str | None,
        Argument(
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
    if game is None:
        _print_list()
    else:
        _print_page(game)


def _print_list() -> None:
    rows = []
    for game_id in importable():
        game = make(game_id)
        for number, rules in enumerate(game.variants or [None]):
            variant = game if rules is None else make(game_id, rules=rules)
            given = defaults(game_id) if number == 0 else {}
            rows.append(
                {
                    "game": game_id if number == 0 else f"{game_id}:rules={rules}",
                    "roles": ", ".join(variant.roles),
                    "parameters": "\n".join(f"{k}={write_value(v)}" for k, v in given.items()),
                    "actions": str(variant.num_actions),
                    "observation": "x".join(map(str, variant.observation_shape)),
                    "perft": " ".join(str(perft(variant, depth)) for depth in (1, 2, 3)),
                }
            )
    console = make_console()
    console.print(make_table(rows, "Games", "perft: the lines of play of one, two and three plies"))
    console.print("A parameter is written after the game: wolf_and_sheep:rules=described")


def _print_page(text: str) -> None:
    from rich.markdown import Markdown
    from rich.text import Text

    from boardenvs.render import to_ansi

    game, console = parse(text), make_console()
    console.print(Markdown(page_of(game), code_theme="ansi_dark"))
    console.print(f"\n{spec_of(game)} at the start:\n", style="bold")
    console.print(Text.from_ansi(to_ansi(game, game.start(), legal=True)))
