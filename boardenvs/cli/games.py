"""`boardenvs games`: what there is to play, and `boardenvs new-game`: a package to start from."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated

import typer
from typer import Argument, Option

from boardenvs.board.bitboard import LARGEST
from boardenvs.cli.options import game_names
from boardenvs.envs.page import page_of
from boardenvs.games import defaults, importable, make, parse
from boardenvs.kernel.backend import no_compiling
from boardenvs.report import ReportTable
from boardenvs.utils.checks import quote
from boardenvs.utils.console import make_console
from boardenvs.utils.files import remove_written, write_atomically
from boardenvs.utils.spec import write_value


@no_compiling()
def games(
    game: Annotated[
        str | None,
        Argument(
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
            values = defaults(game_id) if number == 0 else {}
            rows.append(
                {
                    "game": game_id if number == 0 else f"{game_id}:rules={rules}",
                    "sides": ", ".join(variant.sides),
                    "parameters": "\n".join(f"{k}={write_value(v)}" for k, v in values.items()),
                    "actions": str(variant.num_actions),
                    "observation": "x".join(map(str, variant.observation_shape)),
                }
            )
    console = make_console()
    console.print(ReportTable(rows, "Games"))
    console.print("A parameter is written after the game: wolf_and_sheep:rules=described")


def _print_page(text: str) -> None:
    from rich.markdown import Markdown
    from rich.text import Text

    from boardenvs.render import to_ansi

    game, console = parse(text), make_console()
    console.print(Markdown(page_of(game), code_theme="ansi_dark"))
    console.print(f"\n{game.title} at the start:\n", style="bold")
    console.print(Text.from_ansi(to_ansi(game, game.start(), legal=True)))


# The files of the package, and the templates that they are made of.
_FILES = {
    "{module}.py": "game.txt",
    "tests/test_{name}.py": "tests.txt",
    "pyproject.toml": "pyproject.txt",
    "README.md": "readme.txt",
}


def new_game(
    name: Annotated[
        str,
        Argument(help="What the game will be called, such as `reach_the_edge`."),
    ],
    folder: Annotated[
        Path | None,
        Option(help="Where to write it: a new or empty folder. Default: `boardenvs-NAME`."),
    ] = None,
    rows: Annotated[int, Option(min=3, max=LARGEST, help="Ranks of the board.")] = 8,
    columns: Annotated[int, Option(min=3, max=LARGEST, help="Files of the board.")] = 8,
) -> None:
    """Write a package with a game of your own: rules, tests and a page, which work at once.

    ```
    boardenvs new-game reach_the_edge --rows 6 --columns 7
    cd boardenvs-reach-the-edge
    pip install -e ".[test]" && pytest
    boardenvs play reach_the_edge
    ```
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise ValueError(
            f"{quote(name)} is not a name of a game: small letters and digits, with _ between words"
        )
    if name in importable():
        raise ValueError(f"there is a game {name!r} already: choose another name")
    project = "boardenvs-" + name.replace("_", "-")
    target = folder or Path(project)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ValueError(f"{target} is there already and not empty: name another with --folder")
    words = {
        "name": name,
        "module": f"boardenvs_{name}",
        "class_name": "".join(word.capitalize() for word in name.split("_")),
        "title": name.replace("_", " ").capitalize(),
        "project": project,
        "rows": rows,
        "columns": columns,
        "squares": rows * columns,
    }
    templates = {file.format(**words): template for file, template in _FILES.items()}
    try:
        for file, template in templates.items():
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            text = files("boardenvs.games").joinpath("new", template).read_text("utf-8")
            write_atomically(target / file, Template(text).substitute(words).encode())
    except OSError:  # as on a full disk; the next try finds the folder empty
        remove_written(target, list(templates))
        raise
    typer.echo(
        f"{target} has a game that can be played. Try it, and change its rules in "
        f"{words['module']}.py:\n\n  cd {target}\n  pip install -e '.[test]' && pytest\n"
        f"  boardenvs play {name}"
    )
