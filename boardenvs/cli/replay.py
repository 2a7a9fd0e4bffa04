"""`boardenvs replay`: recorded games, checked, shown and converted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from boardenvs.cli.console import make_console
from boardenvs.cli.options import RuleSheet, check_out, chosen, game_names
from boardenvs.game.contract import Position
from boardenvs.games import parse, spec_of
from boardenvs.kernel.backend import no_compiling
from boardenvs.report import ReportTable
from boardenvs.utils.files import check_writable, write_atomically

if TYPE_CHECKING:
    from rich.console import Console

    from boardenvs.play import MoveNotation
    from boardenvs.records import Record, Verdict

_SHOWN_ERRORS = 5


@dataclass(frozen=True)
class Replay:
    """Check recorded games by the rules, show them and convert them.

    Formats: JSON Lines (`.jsonl`, `.jsonl.gz`), WTHOR (`.wtb`), and plain moves, a game a line
    (`.txt`): Othello as in tournaments, `f5d6c3`, other games in their own notation.

    ```
    boardenvs replay WTH_2013.wtb
    boardenvs replay games.jsonl --number 3 --ply 20
    boardenvs replay games.txt --game lines_of_action --check
    boardenvs replay WTH_2013.wtb --save games.jsonl.gz
    boardenvs replay games.jsonl --number 1 --svg game.svg --sheet boards.svg
    boardenvs replay WTH_2013.wtb --html games.html
    ```
    """

    file: Annotated[Path, Argument(metavar="FILE", help="The file with the games.")]
    number: Annotated[
        int | None,
        Option(
            "--number", metavar="N", help="Show game N, from 1, move by move. Default: none.", min=1
        ),
    ] = None
    ply: Annotated[
        int | None,
        Option(metavar="K", help="The board to show, after K plies. Default: the last.", min=0),
    ] = None
    board: Annotated[bool, Option("--board", help="Show the board after every ply.")] = False
    check: Annotated[
        bool,
        Option(
            "--check", help="Name every wrong game, not only the first five; exit code 1 if any."
        ),
    ] = False
    save: Annotated[
        Path | None,
        Option(metavar="OUT", help="Write the games to OUT, in the format of its ending."),
    ] = None
    svg: Annotated[
        Path | None, Option(metavar="OUT", help="Write the game as a moving picture, SVG.")
    ] = None
    sheet: Annotated[
        Path | None, Option(metavar="OUT", help="Write all its boards on one sheet, SVG.")
    ] = None
    gif: Annotated[
        Path | None, Option(metavar="OUT", help="Write the game as a moving picture, GIF.")
    ] = None
    html: Annotated[
        Path | None,
        Option(
            metavar="OUT",
            help="Write a page with a board to step through every game, or through game N.",
        ),
    ] = None
    legal: Annotated[
        bool, Option("--legal", help="Mark in the pictures where can be played to.")
    ] = False
    counts: Annotated[bool, Option("--counts", help="Count the pieces in moving pictures.")] = False
    rule_sheet: RuleSheet = False
    format_name: Annotated[
        str | None,
        Option(
            "--format",
            help="The file's format: jsonl, wthor or moves. Default: by its ending, or by what is "
            "in it.",
        ),
    ] = None
    game: Annotated[
        str,
        Option(
            metavar="GAME",
            help="The game of plain moves; other formats say it. One in a module, "
            "`my_games:Breakthrough`, has to be named here, since files import nothing.",
            autocompletion=game_names,
        ),
    ] = "othello"

    @no_compiling()
    def run(self) -> None:
        from rich.text import Text

        from boardenvs import records

        console, rules = make_console(), parse(self.game)
        if self.save is not None:
            records.format_of(self.save)
            check_writable(self.save)
        check_out("--svg", self.svg, ".svg")
        check_out("--sheet", self.sheet, ".svg")
        check_out("--gif", self.gif, ".gif")
        check_out("--html", self.html, ".html", ".htm")
        with console.status(Text(f"reading {self.file}")):
            found = records.load(self.file, format_name=self.format_name, game=rules)
        if self.save is not None:
            lost = records.save(self.save, found)
            console.print(f"{len(found):,} games are in {self.save}")
            if lost:
                console.print(f"that format does not hold all of their {' and '.join(lost)}")
        if self.html is not None:
            self._write_page(console, self.html, found)
        shown = (self.number, self.ply, self.svg, self.sheet, self.gif)
        if self.board or any(option is not None for option in shown):
            self._show(console, chosen(found, self.file, self.number))
        else:
            self._check(console, found)

    def _write_page(self, console: Console, path: Path, found: Sequence[Record]) -> None:
        from boardenvs.records.page import write_page

        shown = found if self.number is None else [chosen(found, self.file, self.number)]
        with console.status("writing the page"):
            page = write_page(shown, title=self.file.name, legal=self.legal)
            write_atomically(path, page.encode())
        console.print(f"the page is in {path}")

    def _check(self, console: Console, found: Sequence[Record]) -> None:
        """What there is in the file and what is wrong with it; exit code 1 where that was asked."""
        from boardenvs import records

        verdicts = records.check(found)
        console.print(_summary(self.file, found, verdicts))
        wrong = [f"game {n}: {v.error}" for n, v in enumerate(verdicts, start=1) if v.error]
        for error in wrong if self.check else wrong[:_SHOWN_ERRORS]:
            console.print(error, style="red")
        if self.check and wrong:
            raise typer.Exit(1)
        if len(wrong) > _SHOWN_ERRORS:
            console.print(f"and {len(wrong) - _SHOWN_ERRORS} more: --check names them all")

    def _show(self, console: Console, record: Record) -> None:
        """The game's moves, the boards asked for, and its pictures as files."""
        from rich.text import Text

        from boardenvs.play import MoveNotation
        from boardenvs.records.record import until_illegal
        from boardenvs.render import to_ansi

        game, (boards, error) = record.game, until_illegal(record)
        notation = MoveNotation(game, self.rule_sheet)
        actions = record.actions[: len(boards) - 1]
        last = len(actions) if self.ply is None else self.ply
        if last > len(actions):
            raise ValueError(
                f"the game has {len(actions)} plies: there is no board after ply {last}"
            )
        _print_head(console, notation, record)
        for n in range(len(boards)) if self.board else [last]:
            before, action = (boards[n - 1], actions[n - 1]) if n else (None, None)
            played = "" if action is None else f": {notation.write(action, before)}"
            console.print(f"\nafter {n} plies{played}")
            board = to_ansi(game, boards[n], action, before=before, rule_sheet=self.rule_sheet)
            console.print(Text.from_ansi(board))
        if error is not None:
            console.print(f"\nhere the record breaks the rules: {error}", style="red")
        self._write_pictures(console, boards, actions)

    def _write_pictures(
        self, console: Console, boards: Sequence[Position], actions: Sequence[int]
    ) -> None:
        from boardenvs import render

        svg = partial(render.to_svg_animation, counts=self.counts)
        gif = partial(render.to_gif, counts=self.counts)
        for path, draw in ((self.svg, svg), (self.sheet, render.to_svg_sheet), (self.gif, gif)):
            if path is not None:
                picture = draw(
                    boards[0].game, boards, actions, legal=self.legal, rule_sheet=self.rule_sheet
                )
                write_atomically(path, picture.encode() if isinstance(picture, str) else picture)
                console.print(f"the picture is in {path}")


def _summary(file: Path, found: Sequence[Record], verdicts: Sequence[Verdict]) -> ReportTable:
    """A row for each game that the file has records of."""
    from boardenvs.play import MoveNotation
    from boardenvs.records.batch import group_by_game

    rows = []
    for game, places in group_by_game(found).items():
        part = [verdicts[place] for place in places]
        goals = [verdicts[place].goal or found[place].goal for place in places]
        sides = MoveNotation(game).sides
        leads = [goal[0] - goal[1] for goal in goals if goal is not None]
        results = {
            f"{sides[0]} won": sum(lead > 0 for lead in leads),
            "draw": leads.count(0),
            f"{sides[1]} won": sum(lead < 0 for lead in leads),
        }
        rows.append(
            {
                "game": spec_of(game),
                "games": len(places),
                "finished": sum(v.ending in ("finished", "truncated") for v in part),
                "cut off": sum(v.ending == "cut off" for v in part),
                "wrong": sum(v.error is not None for v in part),
                "results": ", ".join(f"{name} {n:,}" for name, n in results.items() if n) or "-",
                "plies": sum(len(found[place].actions) for place in places),
            }
        )
    return ReportTable(rows, str(file), "cut off: the record ends before the game does")


def _print_head(console: Console, notation: MoveNotation, record: Record) -> None:
    """What is known about the game, and its moves."""
    from boardenvs.records.page import known
    from boardenvs.records.record import names

    console.print(spec_of(record.game), style="bold")
    for name, text in known(record, notation.sides):
        console.print(f"{name}: {text}")
    look = record.game.look.chosen(notation.rule_sheet)
    moves = (look.write(name, record.game.board.rows) for name in names(record))
    numbered = (f"{n:>3}. {name:<6}" for n, name in enumerate(moves, start=1))
    console.print("\n" + "".join(numbered))
