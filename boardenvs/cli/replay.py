"""`boardenvs replay`: recorded games, checked, shown and converted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boardenvs.cli.options import check_ending, game_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from boardenvs.game.contract import Game, Position
    from boardenvs.game.errors import IllegalActionError
    from boardenvs.records import Record, Verdict

_SHOWN_ERRORS = 5


@dataclass(frozen=True)
class Replay:
    """Check recorded games by the rules, show them and convert them.

    Formats: JSON Lines (`.jsonl`, `.jsonl.gz`), WTHOR (`.wtb`), and plain moves, a game a line
    (`.txt`): Othello as in tournaments, `f5d6c3`, other games in their own notation. Tournament
    Othello counts rows from the top; what is shown here has rank 1 at the bottom, so its f5 is f4.

    ```
    boardenvs replay WTH_2013.wtb
    boardenvs replay games.jsonl --number 3 --ply 20
    boardenvs replay games.txt --game lines_of_action --check
    boardenvs replay WTH_2013.wtb --save games.jsonl.gz
    boardenvs replay games.jsonl --number 1 --svg game.svg --sheet boards.svg
    boardenvs replay WTH_2013.wtb --html games.html
    ```
    """

    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file with the games.")]
    number: Annotated[
        int | None,
        typer.Option(
            "--number", metavar="N", help="Show game N, from 1, move by move. Default: none.", min=1
        ),
    ] = None
    ply: Annotated[
        int | None,
        typer.Option(
            metavar="K", help="The board to show, after K plies. Default: the last.", min=0
        ),
    ] = None
    board: Annotated[bool, typer.Option("--board", help="Show the board after every ply.")] = False
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Name every wrong game, not only the first five; exit code 1 if any."
        ),
    ] = False
    save: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Write the games to OUT, in the format of its ending."),
    ] = None
    svg: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write the game as a moving picture, SVG.")
    ] = None
    sheet: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write all its boards on one sheet, SVG.")
    ] = None
    gif: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write the game as a moving picture, GIF.")
    ] = None
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Write a page with a board to step through every game, or through game N.",
        ),
    ] = None
    legal: Annotated[
        bool, typer.Option("--legal", help="Mark in the pictures where can be played to.")
    ] = False
    counts: Annotated[
        bool, typer.Option("--counts", help="Count the pieces in moving pictures.")
    ] = False
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="The file's format: jsonl, wthor or moves. Default: by its ending, or by what is "
            "in it.",
        ),
    ] = None
    game: Annotated[
        str,
        typer.Option(
            metavar="GAME",
            help="The game of plain moves; other formats say it. One in a module, "
            "`my_games:Breakthrough`, has to be named here, since files import nothing.",
            autocompletion=game_names,
        ),
    ] = "othello"

    def run(self) -> None:
        from rich.text import Text

        from boardenvs import records
        from boardenvs.cli.console import make_console
        from boardenvs.games import parse
        from boardenvs.kernel.backend import no_compiling
        from boardenvs.utils.files import check_writable

        console, rules = make_console(), parse(self.game)
        if self.save is not None:
            records.format_of(self.save)
        check_ending("--svg", self.svg, ".svg")
        check_ending("--sheet", self.sheet, ".svg")
        check_ending("--gif", self.gif, ".gif")
        check_ending("--html", self.html, ".html", ".htm")
        for path in (self.save, self.svg, self.sheet, self.gif, self.html):
            if path is not None:
                check_writable(path)
        with no_compiling():
            with console.status(Text(f"reading {self.file}")):
                found = records.load(self.file, format_name=self.format_name, game=rules)
            if self.save is not None:
                _save(console, self.save, found)
            if self.html is not None:
                self._write_page(console, self.html, found)
            shown = (self.number, self.ply, self.svg, self.sheet, self.gif)
            if self.board or any(option is not None for option in shown):
                self._show(console, _choose(self.file, found, self.number))
            else:
                self._check(console, found)

    def _write_page(self, console: Console, path: Path, found: Sequence[Record]) -> None:
        from boardenvs.records.page import write_page
        from boardenvs.utils.files import write_atomically

        shown = found if self.number is None else [_choose(self.file, found, self.number)]
        with console.status("writing the page"):
            page = write_page(shown, title=self.file.name, legal=self.legal)
            write_atomically(path, page.encode())
        console.print(f"the page is in {path}", markup=False)

    def _check(self, console: Console, found: Sequence[Record]) -> None:
        """What there is in the file and what is wrong with it; exit code 1 where that was asked."""
        from boardenvs import records

        verdicts = records.check(found)
        console.print(_summary(self.file, found, verdicts))
        wrong = [(n, v.error) for n, v in enumerate(verdicts, start=1) if v.error]
        for n, error in wrong if self.check else wrong[:_SHOWN_ERRORS]:
            console.print(f"game {n}: {error}", style="red", markup=False)
        if not self.check and len(wrong) > _SHOWN_ERRORS:
            console.print(f"and {len(wrong) - _SHOWN_ERRORS} more: --check names them all")
        if self.check and wrong:
            raise typer.Exit(1)

    def _show(self, console: Console, record: Record) -> None:
        """The game's moves, the boards asked for, and its pictures as files."""
        boards, error = _boards(record)
        game, actions = record.game, record.actions[: len(boards) - 1]
        last = len(actions) if self.ply is None else self.ply
        if last >= len(boards):
            raise ValueError(
                f"the game has {len(actions)} plies: there is no board after ply {last}"
            )
        _print_head(console, record)
        for n in range(len(boards)) if self.board else [last]:
            _print_board(console, record, boards, n)
        if error is not None:
            console.print(f"\nhere the record breaks the rules: {error}", style="red", markup=False)
        self._write_pictures(console, game, boards, actions)

    def _write_pictures(
        self, console: Console, game: Game, boards: Sequence[Position], actions: Sequence[int]
    ) -> None:
        """The pictures asked for; ValueError where what draws them is not installed."""
        from boardenvs import render
        from boardenvs.utils.files import write_atomically

        def svg() -> bytes:
            return render.to_svg_animation(
                game, boards, actions, legal=self.legal, counts=self.counts
            ).encode()

        def sheet() -> bytes:
            return render.to_svg_sheet(game, boards, actions, legal=self.legal).encode()

        def gif() -> bytes:
            return render.to_gif(game, boards, actions, legal=self.legal, counts=self.counts)

        for path, draw in ((self.svg, svg), (self.sheet, sheet), (self.gif, gif)):
            if path is None:
                continue
            try:
                picture = draw()
            except ImportError as error:
                raise ValueError(str(error)) from error
            write_atomically(path, picture)
            console.print(f"the picture is in {path}", markup=False)


def _save(console: Console, path: Path, found: Sequence[Record]) -> None:
    from boardenvs import records

    lost = records.save(path, found)
    console.print(f"{len(found):,} games are in {path}", markup=False)
    if lost:
        console.print(f"that format does not hold all of their {' and '.join(lost)}")


def _summary(file: Path, found: Sequence[Record], verdicts: Sequence[Verdict]) -> Table:
    """A row for each game that the file has records of."""
    from rich.table import Table

    from boardenvs.games import spec_of
    from boardenvs.records.batch import group_by_game

    table = Table(title=str(file), caption="cut off: the record ends before the game does")
    for column in ("game", "games", "finished", "cut off", "wrong", "results", "plies"):
        table.add_column(column, justify="left" if column in ("game", "results") else "right")
    for game, rows in group_by_game(found).items():
        part = [verdicts[row] for row in rows]
        goals = [verdicts[row].goal or found[row].goal for row in rows]
        results = {
            f"{game.roles[0]} won": sum(g is not None and g[0] > g[1] for g in goals),
            "draw": sum(g is not None and g[0] == g[1] for g in goals),
            f"{game.roles[1]} won": sum(g is not None and g[0] < g[1] for g in goals),
        }
        table.add_row(
            spec_of(game),
            f"{len(rows):,}",
            f"{sum(v.ending in ('finished', 'truncated') for v in part):,}",
            f"{sum(v.ending == 'cut off' for v in part):,}",
            f"{sum(v.error is not None for v in part):,}",
            ", ".join(f"{name} {count:,}" for name, count in results.items() if count),
            f"{sum(len(found[row].actions) for row in rows):,}",
        )
    return table


def _choose(file: Path, found: Sequence[Record], number: int | None) -> Record:
    if not 1 <= (number or 1) <= len(found):
        raise ValueError(f"{file} has {len(found)} games: there is no game {number or 1}")
    return found[(number or 1) - 1]


def _boards(record: Record) -> tuple[list[Position], IllegalActionError | None]:
    """The positions of a game up to its end or to an illegal action, which is then the error."""
    from boardenvs.game.errors import IllegalActionError
    from boardenvs.records.record import positions

    boards: list[Position] = []
    try:
        boards.extend(positions(record))
    except IllegalActionError as error:
        return boards, error
    return boards, None


def _print_board(console: Console, record: Record, boards: Sequence[Position], n: int) -> None:
    """The board after n plies, and the action that led there."""
    from rich.text import Text

    from boardenvs.render import to_ansi

    game = record.game
    before, action = (boards[n - 1], record.actions[n - 1]) if n else (None, None)
    played = "" if action is None else f": {game.action_name(action, before)}"
    console.print(f"\nafter {n} plies{played}")
    console.print(Text.from_ansi(to_ansi(game, boards[n], action, before=before)))


def _print_head(console: Console, record: Record) -> None:
    """What is known about the game, and its moves."""
    from boardenvs.games import spec_of
    from boardenvs.records.record import names

    roles = record.game.roles
    console.print(spec_of(record.game), style="bold")
    if record.players is not None:
        played = zip(roles, record.players, strict=True)
        console.print(", ".join(f"{role}: {name}" for role, name in played), markup=False)
    if record.start is not None:
        console.print(f"from {record.start.fen()}")
    if record.goal is not None:
        goals = zip(roles, record.goal, strict=True)
        console.print(", ".join(f"{role} {goal:g}" for role, goal in goals))
    for key, value in record.info.items():
        console.print(f"{key}: {value}", markup=False)
    numbered = (f"{n:>3}. {name:<6}" for n, name in enumerate(names(record), start=1))
    console.print()
    console.print("".join(numbered))
