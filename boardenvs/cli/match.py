"""`boardenvs match`: two players against each other."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable
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
    from boardenvs.agents import Agent
    from boardenvs.arena.match import MatchInProgress
    from boardenvs.arena.match_result import MatchResult
    from boardenvs.game.contract import Game

_EVERY = 10.0  # seconds between two times that the games are saved


@dataclass(frozen=True)
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
        Option(metavar="FILE", help="Save the games, in the format of the file's ending."),
    ] = None
    overwrite: Overwrite = False

    def run(self) -> None:
        from boardenvs import records
        from boardenvs.agents import agent_for
        from boardenvs.arena.match import note_on_openings
        from boardenvs.games import parse
        from boardenvs.utils.console import counting, make_console, print_report
        from boardenvs.utils.files import check_replaceable

        game, console = parse(self.game), make_console()
        names = self.first, self.second
        a, b = (agent_for(game, name) for name in names)
        if self.record is not None:
            records.format_of(self.record, to_write=True)  # before the match is played
            check_replaceable(self.record, self.overwrite)
        keeper, title = _Keeper(self.record, game, names), " - ".join(names)
        try:
            with counting(title) as show:

                def progress(games: MatchInProgress) -> None:
                    ply = f", ply {games.plies}" if games.plies else ""
                    show(games.over, games.total, title + ply)
                    keeper.keep(games)

                result = self._play(game, a, b, progress)
        except BaseException:
            if self.record is not None:
                console.print(keeper.keep_last())
            raise
        caption = (
            f"{result.openings} openings, {result.mean_plies:.1f} plies a game; the intervals, of "
            f"95 %, are over openings. {note_on_openings(game)}"
        )
        rows = result.rows(game.sides)
        console.print(ReportTable(rows, " against ".join(names), caption.strip()))
        for name, faults in zip(names, result.faults, strict=True):
            if note := faults.explain(name, result.games):
                console.print(note, style="yellow", soft_wrap=True)
            print_report(console, faults.counts, name)
        if self.record is not None:
            lacking = keeper.save(result)
            console.print(f"{result.games:,} games are in {self.record}")
            if lacking:
                console.print(f"that format does not hold their {' and '.join(lacking)}")
        if any(faults.forfeits == result.games for faults in result.faults):
            raise typer.Exit(1)

    def _play(
        self, game: Game, a: Agent, b: Agent, progress: Callable[[MatchInProgress], None]
    ) -> MatchResult:
        from boardenvs.arena import Entrant, Pairing, play_match
        from boardenvs.arena.executor import Executor
        from boardenvs.arena.pairing import play_in_parts
        from boardenvs.games import spec_of

        plies = self.opening_plies or game.opening_plies
        if self.workers is None:
            return play_match(
                game, a, b, self.pairs, opening_plies=plies, seed=self.seed, progress=progress
            )
        first, second = (Entrant(text, text) for text in (self.first, self.second))
        pairing = Pairing(spec_of(game), game, first, second, self.pairs, plies, self.seed)
        with Executor(self.workers) as executor:
            return play_in_parts(pairing, executor, progress)


class _Keeper:
    """Saves the finished games of a match now and then, so that an early end loses none."""

    def __init__(self, path: Path | None, game: Game, names: tuple[str, str]) -> None:
        self._path, self._game, self._names = path, game, names
        self._games: MatchInProgress | None = None
        self._kept = 0
        self._next = time.monotonic() + _EVERY

    def save(self, result: MatchResult) -> list[str]:
        """Write the finished games; return the fields that the format does not hold.

        OSError if that fails, as on a full disk; it names the temporary folder that has them.
        """
        assert self._path is not None, "there is a file to save to"
        try:
            return self._write(self._path, result)
        except OSError as error:
            aside = Path(tempfile.mkdtemp(prefix="boardenvs_"), self._path.name)
            self._write(aside, result)
            why = f"{error.strerror}; the games that are over are in {aside} instead"
            raise OSError(error.errno, why, str(self._path)) from error

    def _write(self, path: Path, result: MatchResult) -> list[str]:
        from boardenvs import records

        return records.save(path, records.record_match(self._game, result, self._names))

    def keep(self, games: MatchInProgress) -> None:
        """Write the finished games, if the last time was a while ago."""
        self._games = games
        is_due = games.over > self._kept and time.monotonic() >= self._next
        if self._path is not None and is_due:
            with contextlib.suppress(OSError):  # the end says so; a full disk ends no match
                self._write(self._path, games.result())
            self._kept, self._next = games.over, time.monotonic() + _EVERY

    def keep_last(self) -> str:
        """Write the finished games of a match that will not end, and return how many there are."""
        games = self._games
        if games is None or not games.over:
            return f"no game is over: {self._path} is not written"
        self.save(games.result())
        return f"the {games.over} of {games.total} games that are over are in {self._path}"
