"""`boardenvs arena`: a round robin of players, rated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from boardenvs.cli.options import OpeningPlies, Workers, game_names, player_names
from boardenvs.report import ReportTable

if TYPE_CHECKING:
    from boardenvs.arena import Played, TournamentSettings
    from boardenvs.arena.results import Crosstable, Results


@dataclass
class ArenaCommand:
    """Let players meet each other in every game, and rate them.

    Every pairing plays random openings, distinct if there are enough, each twice with roles
    swapped. The ratings are a Bradley-Terry fit with bootstrap intervals, on the scale of
    `boardenvs rate` if two anchors of the game's rating pool take part. The same settings give
    the same results, whatever the number of workers. After Ctrl-C or a crash, `--resume` goes
    on with the tournament in `--out`.

    ```
    boardenvs arena
    boardenvs arena random greedy python:my_module:policy --game othello
    boardenvs arena --resume
    ```
    """

    entrants: Annotated[
        list[str] | None,
        Argument(
            metavar="PLAYER",
            help="Players such as `greedy`, `alphabeta:depth=4`, `policy:FILE`, `policy:FOLDER` "
            "for all files in it, or `python:MODULE:NAME`. Default: the built-in ones.",
            autocompletion=player_names,
        ),
    ] = None
    game: Annotated[
        list[str] | None,
        Option(
            help="A game; may be repeated. Default: all of `boardenvs games`.",
            autocompletion=game_names,
        ),
    ] = None
    pairs: Annotated[
        int | None,
        Option(
            metavar="N", help="Openings of each pairing. Default: 50.", min=1, max=100_000
        ),
    ] = None  # fmt: skip
    opening_plies: OpeningPlies = None
    seed: Annotated[
        int | None, Option(metavar="N", help="Seed of all random choices. Default: 0.", min=0)
    ] = None
    workers: Workers = None
    out: Annotated[Path, Option(metavar="FOLDER", help="Where games, report and pictures go.")] = (
        Path("runs/arena")
    )
    resume: Annotated[bool, Option("--resume", help="Go on with the tournament in the folder.")] = (
        False
    )
    overwrite: Annotated[
        bool, Option("--overwrite", help="Replace the tournament in the folder.")
    ] = False
    trust: Annotated[
        bool,
        Option("--trust", help="With --resume: import the code that its settings name."),
    ] = False

    def run(self) -> None:
        from boardenvs.arena import run_tournament, write_results
        from boardenvs.arena.executor import WorkerError
        from boardenvs.utils.console import counting, make_console
        from boardenvs.utils.ending import message_of, why_interrupted

        settings, console, began = self._settings(), make_console(), False
        try:
            with counting("pairings", every=0.0) as show:

                def watch(played: Played | None, done: int, total: int) -> None:
                    nonlocal began
                    began = True
                    show(done, total, _line(played))

                results = run_tournament(
                    settings,
                    self.out,
                    resume=self.resume,
                    overwrite=self.overwrite,
                    workers=self.workers,
                    watcher=watch,
                )
            lacking = write_results(results, self.out)
        except KeyboardInterrupt as error:
            go_on = self._how_to_go_on(settings)
            console.print(f"{why_interrupted(error)}; go on with: {go_on}", soft_wrap=True)
            raise typer.Exit(130) from None
        except (OSError, WorkerError) as error:
            if not began:
                raise
            raise RuntimeError(
                f"{message_of(error)}\nWhat was played is kept. When it is put right: "
                f"{self._how_to_go_on(settings)}"
            ) from error
        console.print(_ratings(results))
        for note in results.notes:
            console.print(f"note: {note}", style="yellow", soft_wrap=True)
        console.print(f"report, results and pictures are in {self.out}/")
        for line in lacking:
            console.print(line, style="yellow")
        if results.dead:
            raise typer.Exit(1)

    def _how_to_go_on(self, settings: TournamentSettings) -> str:
        from boardenvs.arena.tournament_settings import code_named
        from boardenvs.utils.console import python_command

        words = ["boardenvs", "arena", "--resume", "--out", str(self.out)]
        labels = [entrant.label for entrant in settings.entrants]
        names_code = bool(code_named(labels, settings.opening_plies))
        return python_command(*words, *["--trust"] * names_code)

    def _settings(self) -> TournamentSettings:
        """Return the settings given, or those of the folder's tournament."""
        from boardenvs.arena import make_settings, open_settings

        if self.resume and self.overwrite:
            raise ValueError(
                "--resume goes on with a tournament and --overwrite replaces it: take one"
            )
        named = {
            "entrants": [player for text in self.entrants or () for player in _players(text)],
            "games_played": self.game,
            "pairs": self.pairs,
            "opening_plies": self.opening_plies,
            "seed": self.seed,
        }
        arguments: dict[str, Any] = {k: v for k, v in named.items() if v is not None and v != []}
        if self.resume:
            if arguments:
                raise ValueError(
                    "--resume goes on with the tournament as it was begun: give no players, games "
                    "or settings with it"
                )
            return open_settings(self.out, trust=self.trust)
        return make_settings(**arguments)


def _players(text: str) -> list[str]:
    """Return the players that a text names: `policy:FOLDER` names one for each of its files."""
    name, _, rest = text.partition(":")
    folder, *more = rest.split(",")
    if name != "policy" or not Path(folder).is_dir():
        return [text]
    files = sorted(Path(folder).glob("*.npz"))
    if not files:
        raise ValueError(f"{folder} has no policies: they are files that end in .npz")
    return [",".join([f"policy:{file}", *more]) for file in files]


def _line(played: Played | None) -> str:
    """Return a line about a pairing that was played, or about the beginning."""
    if played is None:
        return "pairings in the file of games"
    pairing, match = played
    return f"{pairing.game}  {' - '.join(pairing.labels)}  {match or 'void'}"


def _ratings(results: Results) -> ReportTable:
    """Return one row for each entrant, one column for each table of ratings."""
    from boardenvs.arena.report import title

    tables = results.widest_first
    names = {t.name: title(t) + ", relative" * (t.scale == "relative") for t in tables}
    rows = [
        {"player": label}
        | {names[t.name]: _rating(t, label) if label in t.entrants else "" for t in tables}
        for label in dict.fromkeys(label for table in tables for label in table.entrants)
    ]
    return ReportTable(rows, "Ratings", "Elo points, with 95 % intervals")


def _rating(table: Crosstable, label: str) -> str:
    """Return a rating and its interval, such as "120 (77 to 163)"."""
    from boardenvs.arena.report import interval_text, rating_text

    place = table.entrants.index(label)
    return f"{rating_text(table, place)} ({interval_text(table, place)})"
