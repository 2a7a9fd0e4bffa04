"""`boardenvs arena`: a round robin of players, rated."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boardenvs.cli.options import OpeningPlies, game_names, player_names

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from boardenvs.arena import Settings
    from boardenvs.arena.report.display import Display
    from boardenvs.arena.tournament.job import Played
    from boardenvs.arena.tournament.results import Results
    from boardenvs.arena.tournament.schedule import Schedule


@dataclass(frozen=True)
class Arena:
    """Let players meet each other in every game, and rate them.

    Every pairing plays random openings, distinct and each twice with roles swapped. The ratings are
    those of a Bradley-Terry fit, with bootstrap intervals. The same settings give the same results,
    whatever the number of workers. Ctrl-C or a crash loses only the pairings in progress: with
    `--resume` the tournament goes on, and needs no other option but `--out`. Players and games
    given with it take part instead of those before, and what was played is not played again.

    ```
    boardenvs arena
    boardenvs arena random greedy python:my_module:policy --game othello
    boardenvs arena --resume
    ```
    """

    entrants: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLAYER",
            help="Players such as `greedy`, `alphabeta:depth=4`, `policy:FILE` or "
            "`python:MODULE:NAME`. Default: the built-in ones at several strengths.",
            show_default=False,
            autocompletion=player_names,
        ),
    ] = None
    game: Annotated[
        list[str] | None,
        typer.Option(
            help="A game such as `othello` or `wolf_and_sheep:rules=described`; may be repeated. "
            "Default: all of `boardenvs games`.",
            show_default=False,
            autocompletion=game_names,
        ),
    ] = None
    pairs: Annotated[
        int | None,
        typer.Option(
            help="Openings of each pairing, every one played twice. Default: 50.",
            min=1,
            max=100_000,
            show_default=False,
        ),
    ] = None
    opening_plies: OpeningPlies = None
    seed: Annotated[
        int | None,
        typer.Option(help="Seed of all random choices. Default: 0.", min=0, show_default=False),
    ] = None
    anchor: Annotated[
        str | None,
        typer.Option(
            help="The player rated 0. Default: random, else the weakest.", show_default=False
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(help="Processes. Default: one a core.", min=1, show_default=False),
    ] = None
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where journal, report and pictures go.")
    ] = Path("runs/arena")
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with the folder's tournament; players and games may be others now.",
        ),
    ] = False
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the folder's tournament.")
    ] = False
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="With --resume, import the code that the journal names: `python:` players and "
            "games in modules.",
        ),
    ] = False

    def run(self) -> None:
        from boardenvs.arena import run_tournament, write_results
        from boardenvs.arena.report.display import Display
        from boardenvs.arena.tournament.pool import WorkerError
        from boardenvs.arena.tournament.run import JOURNAL
        from boardenvs.cli.arena_games import sample_games
        from boardenvs.cli.console import make_console
        from boardenvs.utils.ending import message_of
        from boardenvs.utils.files import check_folder

        settings, console = self._settings(), make_console()
        check_folder(self.out)
        try:
            with _Recording(self.out, Display(console)) as watcher:
                results = run_tournament(
                    settings,
                    self.out,
                    resume=self.resume,
                    overwrite=self.overwrite,
                    workers=self.workers,
                    watcher=watcher,
                )
            lacking = write_results(results, self.out, sample_games(results, self.out))
        except KeyboardInterrupt:
            go_on = self._how_to_go_on(settings)
            console.print(f"interrupted; go on with: {go_on}", markup=False, soft_wrap=True)
            raise typer.Exit(130) from None
        except (OSError, WorkerError) as error:
            if not (self.out / JOURNAL).exists():
                raise
            go_on = self._how_to_go_on(settings)
            raise RuntimeError(
                f"{message_of(error)}\nWhat was played is kept. When it is put right: {go_on}"
            ) from error
        _print_results(console, results, self.out)
        for line in lacking:
            console.print(line, style="yellow", markup=False)

    def _how_to_go_on(self, settings: Settings) -> str:
        from boardenvs.arena.tournament.settings import code_named

        words = ["boardenvs", "arena", "--resume", "--out", str(self.out)]
        labels = [entrant.label for entrant in settings.entrants]
        return shlex.join(words + ["--trust"] * bool(code_named(labels, settings.openings)))

    def _settings(self) -> Settings:
        """The settings that the options give, or change of those before."""
        from boardenvs.arena import make_settings, read_settings
        from boardenvs.arena.tournament.settings import resumed_settings

        if self.resume and self.overwrite:
            raise ValueError(
                "--resume goes on with a tournament and --overwrite replaces it: take one"
            )
        wanted = {
            "entrants": self.entrants,
            "games_played": self.game,
            "pairs": self.pairs,
            "openings": self.opening_plies,
            "seed": self.seed,
            "anchor": self.anchor,
        }
        given: dict[str, Any] = {k: v for k, v in wanted.items() if v is not None and v != []}
        if self.resume:
            return resumed_settings(read_settings(self.out), given, trust=self.trust)
        return make_settings(**given)


class _Recording:
    """A watcher of a tournament that keeps its games, in `games/GAME.jsonl` of its folder."""

    def __init__(self, folder: Path, display: Display) -> None:
        self._folder = folder
        self._display = display

    def __enter__(self) -> _Recording:
        self._display.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._display.__exit__(*error)

    def begin(self, schedule: Schedule, done: int, workers: int) -> None:
        """See `boardenvs.arena.tournament.run.Watcher`."""
        for path in (self._folder / "games").glob("*.jsonl"):
            _cut_half_line(path)
        self._display.begin(schedule, done, workers)

    def played(self, played: Played) -> None:
        """See `boardenvs.arena.tournament.run.Watcher`."""
        from boardenvs.cli.arena_games import games_file
        from boardenvs.games import parse
        from boardenvs.records import record_match
        from boardenvs.records.jsonl import write_record

        if played.match is not None and played.match.actions is not None:
            players = (played.first, played.second)
            found = record_match(parse(played.game), played.match, players)
            path = games_file(self._folder, played.game)
            path.parent.mkdir(exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write("".join(f"{write_record(record)}\n" for record in found))
        self._display.played(played)


def _cut_half_line(path: Path) -> None:
    """Remove what a process that was killed wrote of a last line."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)


def _print_results(console: Console, results: Results, out: Path) -> None:
    from boardenvs.arena.report.notes import notes

    console.print(_ratings(results))
    for note in notes(results):
        console.print(f"note: {note}", style="yellow", markup=False, soft_wrap=True)
    console.print(f"report, results and pictures are in {out}/", markup=False)


def _ratings(results: Results) -> Table:
    """A row for each entrant, a column for each table."""
    from rich.table import Table

    from boardenvs.arena.report.text import rating_text, spread_text, title

    tables = results.widest_first
    shown = Table(title="Ratings", caption="Elo points, with half the width of 95 % intervals")
    shown.add_column("player")
    for table in tables:
        shown.add_column(title(table), justify="right")
    for label in dict.fromkeys(label for table in tables for label in table.entrants):
        cells = []
        for table in tables:
            if label in table.entrants:
                place = table.entrants.index(label)
                cells.append(f"{rating_text(table, place)} {spread_text(table, place)}")
            else:
                cells.append("")
        shown.add_row(label, *cells)
    return shown
