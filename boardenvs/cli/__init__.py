"""The command line, `boardenvs COMMAND`: one file for each command, or for a few similar ones.

A command is a function, or a dataclass of its options: see `command`. Imports that a command needs
stand inside it, so that `--help` is quick.
"""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from boardenvs.cli import analyse, arena, exam, games, match, play, rate, records, serve
from boardenvs.cli.command import ErrorsGroup, PlainCommand, function_of
from boardenvs.utils.console import show_log
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
            help="Print the version, the backend of the rules and the cache folder.",
            is_eager=True,
            callback=_show_version,
        ),
    ] = False,
) -> None:
    """Two-player board games: play, analyse, rate players, and read records.

    Games and players are named by a text, alone or with parameters:
    `othello`, `wolf_and_sheep:rules=described,max_plies=none`, `alphabeta:depth=4`.
    """
    show_log()


for name, command in {
    "play": play.PlayCommand,
    "web": serve.WebCommand,
    "analyse": analyse.AnalyseCommand,
    "match": match.MatchCommand,
    "rate": rate.RateCommand,
    "arena": arena.ArenaCommand,
    "exam": exam.ExamCommand,
    "records": records.RecordsCommand,
    "engine": serve.EngineCommand,
    "mcp": serve.McpCommand,
}.items():
    app.command(name, cls=PlainCommand)(function_of(command))
app.command(cls=PlainCommand)(games.games)
app.command("new-game", cls=PlainCommand)(games.new_game)


def main() -> None:
    """Run the command that the words of this process name."""
    app(prog_name="boardenvs")
