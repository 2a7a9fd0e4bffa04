"""`boardenvs match`: two players against each other."""

from __future__ import annotations

import contextlib
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from boardenvs.cli.options import (
    FirstPlayer,
    GameName,
    OpeningPlies,
    Overwrite,
    SecondPlayer,
    Seed,
    Workers,
)
from boardenvs.report import ReportTable

if TYPE_CHECKING:
    from boardenvs.arena.match import MatchInProgress
    from boardenvs.game.game import Game

_EVERY = 10.0  # seconds between two times that the games are saved


@dataclass
class MatchCommand:
    """Play a match, and print the scores, also by role, with 95 % intervals.

    ```
    boardenvs match othello alphabeta:depth=4 greedy
    boardenvs match wolf_and_sheep perfect trained --record games.jsonl
    boardenvs match othello greedy python:my_module:policy --pairs 200
    ```
    """

    game: GameName
    first: FirstPlayer
    second: SecondPlayer
    pairs: Annotated[
        int,
        Option(
            metavar="N",
            help="Openings, each played twice with roles swapped.",
            min=1,
            max=100_000,
        ),
    ] = 50
    opening_plies: OpeningPlies = None
    seed: Seed = 0
    workers: Workers = None
    record: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Save the games, in the format of the file's ending: each that is over, or with "
            "`--workers` each part of ten or more openings.",
        ),
    ] = None
    overwrite: Overwrite = False

    def run(self) -> None:
        from boardenvs import records
        from boardenvs.arena.executor import Executor, seed_libraries
        from boardenvs.arena.match import note_on_openings, play_match
        from boardenvs.games import parse
        from boardenvs.utils.console import counting, make_console, print_report
        from boardenvs.utils.files import check_replaceable

        game, console = parse(self.game), make_console()
        names = self.first, self.second
        if self.record:
            if write := records.FORMATS[records.format_of(self.record)].write:
                write(records.Record(game, ()))  # what it refuses, it refuses before the match
            check_replaceable(self.record, self.overwrite)
        kept, title = _Kept(self.record, game, names), " - ".join(names)
        seed_libraries(self.seed)  # players may draw from them
        try:
            with counting(title) as show, Executor(self.workers) as executor:

                def progress(games: MatchInProgress) -> None:
                    ply = f", ply {games.plies}" if games.plies else ""
                    show(games.over, games.total, title + ply)
                    kept.update(games)

                result = play_match(
                    game,
                    *names,
                    self.pairs,
                    opening_plies=self.opening_plies,
                    seed=self.seed,
                    executor=executor,
                    progress=progress,
                )
        finally:
            if self.record:
                console.print(kept.save())
        caption = (
            f"{result.openings} openings, {result.mean_plies:.1f} plies a game; the intervals, of "
            f"95 %, are over openings. {note_on_openings(game)}"
        )
        rows = result.rows(game.sides)
        console.print(ReportTable(rows, " against ".join(names), caption.strip()))
        for name, stats in zip(names, result.stats, strict=True):
            if note := stats.explain(name, result.games):
                console.print(note, style="yellow", soft_wrap=True)
            print_report(console, stats.counts, name)
        if any(stats.forfeits == result.games for stats in result.stats):
            raise typer.Exit(1)


class _Kept:
    """The games of a match that are over: saved now and then, so that an early end loses none."""

    def __init__(self, path: Path | None, game: Game, names: tuple[str, str]) -> None:
        self._path, self._game, self._names = path, game, names
        self._match: MatchInProgress | None = None
        self._next = time.monotonic() + _EVERY

    def update(self, match: MatchInProgress) -> None:
        """Save them if the last time was a while ago."""
        self._match = match
        if self._path and match.over and time.monotonic() >= self._next:
            with contextlib.suppress(OSError):  # the end says so; a full disk ends no match
                self._write(self._path, match)
            self._next = time.monotonic() + _EVERY

    def save(self) -> str:
        """Save them, and say where they are.

        OSError if that fails, as on a full disk; it names the temporary folder that has them.
        """
        path, match = self._path, self._match
        if path is None or match is None or not match.over:
            return f"no game, or with workers no part of a match, is over: {path} is not written"
        try:
            lacking = self._write(path, match)
        except OSError as error:
            aside = Path(tempfile.mkdtemp(prefix="boardenvs_"), path.name)
            self._write(aside, match)
            why = f"{error.strerror}; the games that are over are in {aside} instead"
            raise OSError(error.errno, why, str(path)) from error
        without = f", without {' and '.join(lacking)}: {path.suffix} holds none" if lacking else ""
        return f"{match.over} of {match.total} games are in {path}{without}"

    def _write(self, path: Path, match: MatchInProgress) -> list[str]:
        from boardenvs import records
        from boardenvs.arena import record_match

        return records.save(path, record_match(self._game, match.result(), self._names))
