"""`boardenvs arena`: a round robin of players, rated."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boardenvs.cli.options import Address, OpeningPlies, game_names, player_names
from boardenvs.report import ReportTable
from boardenvs.utils.files import file_name

if TYPE_CHECKING:
    from boardenvs.arena import Settings
    from boardenvs.arena.pairing import Played
    from boardenvs.arena.results import Crosstable, Results
    from boardenvs.records.record import Record

_OPPONENTS = 4  # of the strongest player, in the report
_MOST_PLIES = 300  # of a game in the report


@dataclass(frozen=True)
class ArenaCommand:
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
    address: Address = None
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
        from boardenvs.arena.processes import WorkerError
        from boardenvs.arena.tournament import JOURNAL
        from boardenvs.cli.console import counting, make_console
        from boardenvs.utils.ending import message_of, why_interrupted
        from boardenvs.utils.files import check_folder

        settings, console = self._settings(), make_console()
        check_folder(self.out)
        if self.resume:
            _drop_games_to_come(self.out)
        try:
            with counting("pairings") as show:

                def watch(played: Played | None, done: int, total: int) -> None:
                    if played is None:
                        show(done, total)
                        if done:
                            console.print(
                                f"going on: {done} of {total} pairings are in the journal"
                            )
                        return
                    _record(self.out, played)
                    line = (
                        f"{done}/{total}  {played.game}  {played.first} - {played.second}  "
                        f"{played.match or 'void'}  {played.seconds:.1f} s"
                    )
                    show(done, total, line)
                    if not console.is_terminal:
                        console.print(line, soft_wrap=True)

                results = run_tournament(
                    settings,
                    self.out,
                    resume=self.resume,
                    overwrite=self.overwrite,
                    workers=self.workers,
                    address=self.address,
                    watcher=watch,
                )
            lacking = write_results(results, self.out, _sample_games(results, self.out))
        except KeyboardInterrupt as error:
            go_on = self._how_to_go_on(settings)
            console.print(f"{why_interrupted(error)}; go on with: {go_on}", soft_wrap=True)
            raise typer.Exit(130) from None
        except (OSError, WorkerError) as error:
            if not (self.out / JOURNAL).exists():
                raise
            go_on = self._how_to_go_on(settings)
            raise RuntimeError(
                f"{message_of(error)}\nWhat was played is kept. When it is put right: {go_on}"
            ) from error
        console.print(_ratings(results))
        for note in results.notes:
            console.print(f"note: {note}", style="yellow", soft_wrap=True)
        console.print(f"report, results and pictures are in {self.out}/")
        for line in lacking:
            console.print(line, style="yellow")
        if results.dead:
            raise typer.Exit(1)

    def _how_to_go_on(self, settings: Settings) -> str:
        from boardenvs.arena.tournament_settings import code_named

        words = ["boardenvs", "arena", "--resume", "--out", str(self.out)]
        words += ["--address", self.address] if self.address else []
        labels = [entrant.label for entrant in settings.entrants]
        return shlex.join(words + ["--trust"] * bool(code_named(labels, settings.opening_plies)))

    def _settings(self) -> Settings:
        """The settings that the options give, or change of those before."""
        from boardenvs.arena import make_settings, read_settings
        from boardenvs.arena.tournament_settings import resumed_settings

        if self.resume and self.overwrite:
            raise ValueError(
                "--resume goes on with a tournament and --overwrite replaces it: take one"
            )
        wanted = {
            "entrants": self.entrants,
            "games_played": self.game,
            "pairs": self.pairs,
            "opening_plies": self.opening_plies,
            "seed": self.seed,
            "anchor": self.anchor,
        }
        given: dict[str, Any] = {k: v for k, v in wanted.items() if v is not None and v != []}
        if self.resume:
            return resumed_settings(read_settings(self.out), given, trust=self.trust)
        return make_settings(**given)


def _record(folder: Path, played: Played) -> None:
    """Record the games of a pairing, in `games/GAME.jsonl` of the tournament's folder."""
    from boardenvs.games import parse
    from boardenvs.records import record_match
    from boardenvs.records.jsonl import write_record
    from boardenvs.utils.files import append_lines

    if played.match is not None and played.match.actions is not None:
        players = (played.first, played.second)
        found = record_match(parse(played.game), played.match, players, cpu=True)
        path = _games_file(folder, played.game)
        path.parent.mkdir(exist_ok=True)
        append_lines(path, (write_record(record).encode() for record in found))


def _drop_games_to_come(folder: Path) -> None:
    """Leave out the games of a pairing that was interrupted before it came into the journal: it is
    played again.
    """
    from boardenvs.arena.tournament import open_journal
    from boardenvs.utils.files import whole_lines, write_atomically

    journal = open_journal(folder)
    known = {(played.game, *sorted(played.key[1:])) for played in journal.played}
    for game in journal.settings["opening_plies"]:
        path = _games_file(folder, game)
        lines = whole_lines(path) if path.exists() else []
        kept = [x for x in lines if (game, *sorted(json.loads(x)["players"].values())) in known]
        if kept != lines:
            write_atomically(path, b"".join(line + b"\n" for line in kept))


def _ratings(results: Results) -> ReportTable:
    """A row for each entrant, a column for each table."""
    from boardenvs.arena.report import title

    tables = results.widest_first
    rows = [
        {"player": label}
        | {title(t): _rating(t, label) if label in t.entrants else "" for t in tables}
        for label in dict.fromkeys(label for table in tables for label in table.entrants)
    ]
    return ReportTable(rows, "Ratings", "Elo points, with half the width of 95 % intervals")


def _rating(table: Crosstable, label: str) -> str:
    """A rating and half the width of its interval, such as "120 ±43"."""
    from boardenvs.arena.report import rating_text

    place, ratings = table.entrants.index(label), table.ratings
    if not table.standings[label].plays:
        return "forfeited all"
    width = ratings.high[place] - ratings.low[place]
    if label == ratings.anchor:
        return rating_text(table, place)
    around = f"±{width / 2:.0f}" if math.isfinite(width) else "(or beyond)"
    return f"{rating_text(table, place)} {around}"


# ---- games for the report ------------------------------------------------------------------------


def _games_file(folder: Path, game: str) -> Path:
    """Where a tournament in this folder keeps the games of a game, named by its text."""
    return folder / "games" / f"{file_name(game)}.jsonl"


def _sample_games(results: Results, folder: Path) -> list[str]:
    """Games for the report, as HTML: of the strongest player of each game against a few others, the
    two games of one opening each. Empty where none were recorded.
    """
    from boardenvs.arena.results import OVERALL
    from boardenvs.records.page import write_page
    from boardenvs.render.page import to_frame

    found: list[Record] = []
    for table in results.tables:
        path = _games_file(folder, table.name)
        if table.name != OVERALL and path.exists():
            found += _games_of(table, path)
    if not found:
        return []
    said = (
        f"In each game the strongest player meets up to {_OPPONENTS} others, from the next "
        "strongest to the weakest: one opening, from both sides. All games are in games/."
    )
    page = write_page(found, title="Games of the arena")
    return ["<h2>Games to step through</h2>", f"<p>{said}</p>", to_frame(page)]


def _games_of(table: Crosstable, path: Path) -> list[Record]:
    from boardenvs.records.jsonl import parse_record
    from boardenvs.utils.files import whole_lines

    strongest, *others = table.entrants
    last, most = len(others) - 1, min(len(others), _OPPONENTS)
    met = [others[i * last // max(most - 1, 1)] for i in range(most)]
    found: dict[tuple[str, str], Record] = {}
    for line in whole_lines(path):
        record = parse_record(line.decode())
        players = record.players
        if players is None or len(record.actions) > _MOST_PLIES:
            continue
        turned = found.get(players[::-1])
        if turned is None or turned.info.get("opening") == record.info.get("opening"):
            found.setdefault(players, record)
    pairs = [{strongest, other} for other in met]
    return [record for pair in pairs for players, record in found.items() if {*players} == pair]
