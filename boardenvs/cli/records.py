"""`boardenvs records`: check, show and convert files of recorded games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from boardenvs.cli.options import Overwrite, chosen, game_names
from boardenvs.games import parse, spec_of
from boardenvs.kernel.backend import no_compiling
from boardenvs.report import ReportTable
from boardenvs.utils.console import make_console
from boardenvs.utils.files import check_replaceable, write_atomically

if TYPE_CHECKING:
    from rich.console import Console

    from boardenvs.records import Record, Verdict

_SHOWN_ERRORS = 5
_PICTURES = (".svg", ".gif", ".html", ".htm")


@dataclass
class RecordsCommand:
    """Check recorded games by the rules, show them move by move, and convert them.

    Files are recognised by their content: JSON Lines, PGN of chess, PDN of checkers, SGF of Go and
    Hex, WTHOR, GGF and OBF of Othello, columns of Connect Four, and plain moves, one game a line.
    `--out` writes `.jsonl`, `.jsonl.gz`, `.txt` and `.sgf`, also `.html`, a page with a board to
    step through the games, and one game as an animated `.svg` or `.gif`.

    ```
    boardenvs records WTH_2013.wtb
    boardenvs records games.jsonl --number 3 --ply 20
    boardenvs records games.pgn --check
    boardenvs records games.txt --game lines_of_action
    boardenvs records WTH_2013.wtb --out games.jsonl.gz
    boardenvs records games.jsonl --number 1 --out game.svg
    boardenvs records WTH_2013.wtb --out games.html
    ```
    """

    file: Annotated[Path, Argument(help="The file with the games.")]
    number: Annotated[
        int | None,
        Option(
            metavar="N", help="Show game N, counted from 1, move by move.", min=1,
        ),
    ] = None  # fmt: skip
    ply: Annotated[
        int | None,
        Option(metavar="K", help="Show the board after K plies. Default: the last.", min=0),
    ] = None
    check: Annotated[
        bool, Option("--check", help="List all wrong games, and exit with 1 if there are any.")
    ] = False
    out: Annotated[
        Path | None,
        Option(help="Write the games to this file, in the format of its ending."),
    ] = None
    overwrite: Overwrite = False
    game: Annotated[
        str,
        Option(
            help="The game of a file of plain moves, or a game in a module, such as "
            "`my_games:Breakthrough`: files import nothing.",
            autocompletion=game_names,
        ),
    ] = "othello"

    @no_compiling()
    def run(self) -> None:
        from rich.text import Text

        from boardenvs import records

        console, rules = make_console(), parse(self.game)
        if self.out:
            if self.out.suffix.lower() not in _PICTURES:
                records.format_of(self.out)
            check_replaceable(self.out, self.overwrite)
        with console.status(Text(f"reading {self.file}")):
            games = records.load(self.file, game=rules)
        wrong = []
        if self.number is not None or self.ply is not None:
            self._show(console, chosen(games, self.file, self.number))
        else:
            wrong = self._check(console, games)
        if self.out:
            self._write(console, self.out, games)
        if wrong and (self.check or any("unread" in game.info for game in games)):
            raise typer.Exit(1)

    def _check(self, console: Console, games: Sequence[Record]) -> list[str]:
        """Print a summary of the file and its wrong games, and return the errors."""
        from boardenvs import records

        verdicts = records.check(games)
        console.print(_summary(self.file, games, verdicts))
        wrong = [f"game {n}: {v.error}" for n, v in enumerate(verdicts, start=1) if v.error]
        for error in wrong if self.check else wrong[:_SHOWN_ERRORS]:
            console.print(error, style="red")
        if len(wrong) > _SHOWN_ERRORS and not self.check:
            console.print(f"and {len(wrong) - _SHOWN_ERRORS} more: --check names them all")
        if longer := sum("left out" in game.info for game in games):
            console.print(f"{longer:,} went on where the rules end the game: that is left out")
        return wrong

    def _show(self, console: Console, record: Record) -> None:
        """Print a game's moves and the board asked for."""
        from rich.text import Text

        from boardenvs.records.page import details_of
        from boardenvs.records.record import names, until_illegal
        from boardenvs.render import to_ansi

        game, (session, error) = record.game, until_illegal(record)
        plies = len(session.actions)
        last = plies if self.ply is None else self.ply
        if last > plies:
            raise ValueError(f"the game has {plies} plies: there is no board after ply {last}")
        console.print(spec_of(game), style="bold")
        for name, text in details_of(record, game.sides):
            console.print(f"{name}: {text}")
        moves = enumerate(names(record), 1)
        console.print("\n" + "".join(f"{n:>3}. {name:<6}" for n, name in moves))
        session.undo(plies - last)
        name = f": {session.plies[-1][1]}" if last else ""
        console.print(f"\nafter {last} plies{name}")
        board = to_ansi(game, session.position, session.last, before=session.before)
        console.print(Text.from_ansi(board))
        if error:
            console.print(f"\nhere the record breaks the rules: {error}", style="red")

    def _write(self, console: Console, path: Path, games: Sequence[Record]) -> None:
        """Write the games, or one of them as a picture."""
        from boardenvs import records, render
        from boardenvs.records.page import write_page
        from boardenvs.records.record import until_illegal

        kind = path.suffix.lower()
        if kind not in _PICTURES:
            lost = records.save(path, games)
            console.print(f"{len(games):,} games are in {path}")
            if lost:
                console.print(f"that format does not hold all of their {' and '.join(lost)}")
            return
        record = chosen(games, self.file, self.number)
        session, _ = until_illegal(record)
        drawn = session.game, session.positions, session.actions
        if kind == ".gif":
            content = render.to_gif(*drawn)
        elif kind == ".svg":
            content = render.to_svg_animation(*drawn).encode()
        else:
            shown = games if self.number is None else [record]
            content = write_page(shown, title=self.file.name).encode()
        write_atomically(path, content)
        console.print(f"{path} is written")


def _summary(file: Path, games: Sequence[Record], verdicts: Sequence[Verdict]) -> ReportTable:
    """Return one row for each game that the file has records of."""
    from boardenvs.records.batch import group_by_game
    from boardenvs.records.record import GOALS

    rows = []
    for game, places in group_by_game(games).items():
        part = [verdicts[place] for place in places]
        goals = [verdicts[place].goal or games[place].goal for place in places]
        sides = game.sides
        names = f"{sides[0]} won", "draw", f"{sides[1]} won"
        results = zip(names, map(goals.count, GOALS), strict=True)
        rows.append(
            {
                "game": spec_of(game),
                "games": len(places),
                "finished": sum(v.ending in ("finished", "truncated") for v in part),
                "cut off": sum(v.ending == "cut off" for v in part),
                "wrong": sum(v.error is not None for v in part),
                "results": ", ".join(f"{name} {n:,}" for name, n in results if n) or "-",
                "plies": sum(len(games[place].actions) for place in places),
            }
        )
    return ReportTable(rows, str(file), "cut off: the record ends before the game does")
