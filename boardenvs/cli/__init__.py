"""The command line, `boardenvs COMMAND`: a file for each command, or for a few that are alike.

In it is a function of the same name or, where the options are many, a dataclass of them: `command`.
What a command needs beyond the rules is imported inside its function, so that help is quick.
"""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from boardenvs.cli import (
    analyse,
    arena,
    exam,
    export,
    games,
    match,
    perft,
    play,
    rate,
    replay,
    serve,
    solve,
)
from boardenvs.cli.command import ErrorsGroup, function_of
from boardenvs.utils.version import __version__

app = typer.Typer(
    name="boardenvs",
    cls=ErrorsGroup,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from boardenvs.kernel import get_backend
        from boardenvs.utils.cache import cache_folder

        typer.echo(f"boardenvs {__version__}\nbackend {get_backend()}\ncache {cache_folder()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        Option(
            "--version",
            help="Print the version, the backend of the rules and the cache folder, and end.",
            is_eager=True,
            callback=_show_version,
        ),
    ] = False,
) -> None:
    """Two-player board games: rules, records, players and the contests between them.

    Games and players are named by a text, alone or with parameters:
    `othello`, `wolf_and_sheep:rules=described,max_plies=none`, `alphabeta:depth=4`.
    """


for command in (
    games.games,
    play.Play,
    match.Match,
    arena.Arena,
    rate.Rate,
    exam.Exam,
    solve.Solve,
    analyse.Analyse,
    replay.Replay,
    serve.Web,
    serve.Engine,
    serve.Mcp,
    export.export,
    perft.perft,
    games.new_game,
):
    app.command()(function_of(command) if isinstance(command, type) else command)


def main() -> None:
    """Run the command that the process was called with."""
    app(prog_name="boardenvs")
