"""`boardenvs perft`: counts of lines of play, and how fast they are counted."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from boardenvs.cli.options import GameName

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from boardenvs.game.contract import Game, Position


def perft(
    game: GameName,
    depth: Annotated[int, typer.Argument(metavar="DEPTH", help="The plies to look ahead.", min=1)],
    position: Annotated[
        str | None,
        typer.Option(
            help="Where to start, as ranks 8 to 1, role to move and plies played. "
            "Default: the game's start.",
        ),
    ] = None,
    divide: Annotated[
        bool, typer.Option("--divide", help="Also show how many lines begin with each action.")
    ] = False,
) -> None:
    """Count the lines of play up to a depth: the standard test of a game's rules.

    A noop is a ply, and a finished game goes no further.

    ```
    boardenvs perft othello 8
    boardenvs perft lines_of_action:rules=described 3 --divide
    boardenvs perft othello 6 --position "8/8/8/3rb3/3br3/8/8/8 black 0"
    ```
    """
    from boardenvs.cli.console import make_console
    from boardenvs.game.fen import parse_position
    from boardenvs.games import parse

    rules = parse(game)
    root = rules.start() if position is None else parse_position(rules, position)
    console = make_console()
    table, shares = _count(console, rules, root, depth)
    console.print(table)
    if divide:
        console.print(_divided(rules, root, depth, shares))


def _count(
    console: Console, game: Game, root: Position, depth: int
) -> tuple[Table, dict[int, int]]:
    """A row for each depth; and, of the last, the nodes below each first action."""
    from rich.table import Table

    from boardenvs.cli.console import make_progress
    from boardenvs.game.perft import perft as count
    from boardenvs.games import spec_of

    count(game, min(depth, 2), root)  # compiles the rules, which is not to be timed
    table = Table(title=f"perft of {spec_of(game)}", caption=root.fen())
    for name in ("depth", "nodes", "seconds", "nodes/s"):
        table.add_column(name, justify="right")
    shares: dict[int, int] = {}
    with make_progress(console) as progress:
        for plies in range(1, depth + 1):
            task = progress.add_task(f"depth {plies}", total=None)
            started = time.perf_counter()
            shares = dict.fromkeys(root.legal_actions(), 0)
            for done, (total, action, nodes) in enumerate(_parts(game, root, plies), start=1):
                shares[action] += nodes
                progress.update(task, total=total, completed=done)
            seconds = time.perf_counter() - started
            progress.remove_task(task)
            nodes = sum(shares.values())
            table.add_row(str(plies), f"{nodes:,}", f"{seconds:.3f}", f"{nodes / seconds:,.0f}")
    return table, shares


def _divided(game: Game, root: Position, depth: int, shares: Mapping[int, int]) -> Table:
    from rich.table import Table

    table = Table(title=f"depth {depth} by first action")
    table.add_column("action")
    table.add_column("nodes", justify="right")
    for action, nodes in shares.items():
        table.add_row(game.action_name(action, root), f"{nodes:,}")
    return table


def _parts(game: Game, root: Position, depth: int) -> Iterator[tuple[int, int, int]]:
    """The count in parts small enough to show progress by: of how many parts, the first action,
    and the nodes.
    """
    from boardenvs.game.perft import perft as count

    parts = [(action, root.step(action)) for action in root.legal_actions()]
    below = depth - 1
    if below > 2:
        parts = [
            (first, position.step(action))
            for first, position in parts
            for action in position.legal_actions()
        ]
        below -= 1
    for action, position in parts:
        yield len(parts), action, count(game, below, position)
