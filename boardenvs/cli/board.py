"""`boardenvs board`: a leaderboard of anybody's games against the published anchors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from boardenvs.cli.console import make_console
from boardenvs.utils.checks import check_name

_MOST_RANGES = 20  # of lines that were refused for the same reason


def board(
    action: Annotated[str, Argument(metavar="add", help="What to do: `add` games.")],
    sources: Annotated[
        list[Path],
        Argument(
            metavar="FILE...",
            help="Files of games as `match --record` and the arena write them (.jsonl, .jsonl.gz), "
            "or folders of tournaments.",
        ),
    ],
    out: Annotated[
        Path, Option(metavar="FOLDER", help="Where the leaderboard's games and page are.")
    ] = Path("runs/board"),
) -> None:
    """Add games to a leaderboard, and write its page: `FOLDER/report.html`.

    Games against the anchors of a published rating pool count, each opening from both sides; they
    are checked by the rules, and results are what the rules give. A game that is on the board
    already is not counted again. Of every other game it is said which and why; exit code 1 where
    none counts.

    ```
    boardenvs board add runs/arena
    boardenvs board add theirs.jsonl --out boards/othello
    ```
    """
    from boardenvs.arena.report import game_title, interval_text, rating_text
    from boardenvs.records.leaderboard import add
    from boardenvs.utils.tables import make_table

    check_name("action", action, ["add"])
    console = make_console()
    added = add(out, sources)
    for table in added.tables:
        rows = [
            {
                "player": label,
                "rating": rating_text(table, place),
                "95 %": interval_text(table, place),
                "games": str(standing.games),
                "score": f"{standing.score:.3f}",
            }
            for place, (label, standing) in enumerate(table.standings.items())
        ]
        console.print(make_table(rows, game_title(table.name)))
    for (path, why), lines in added.refused.items():
        where = f"{'line' if len(lines) == 1 else 'lines'} {_ranges(sorted(lines))}"
        console.print(f"refused: {path}, {where}: {why}", style="yellow", soft_wrap=True)
    refused = sum(map(len, added.refused.values()))
    console.print(
        f"{added.new:,} games added, {added.known:,} known already, {refused:,} refused; the page "
        f"is {out / 'report.html'}",
        soft_wrap=True,
    )
    for line in added.lacking:
        console.print(line, style="yellow")
    if not added.new + added.known:
        raise typer.Exit(1)


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers, such as "1-4, 7"."""
    rows = [[numbers[0], numbers[0]]]
    for number in numbers[1:]:
        if number == rows[-1][1] + 1:
            rows[-1][1] = number
        else:
            rows.append([number, number])
    named = [f"{low}-{high}" if high > low else str(low) for low, high in rows]
    return ", ".join(named[:_MOST_RANGES]) + ", ..." * (len(named) > _MOST_RANGES)
