"""`boardenvs perft`: counts of lines of play, and how fast they are counted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated

from typer import Argument, Option

from boardenvs.cli.console import counting, make_console
from boardenvs.cli.options import GameName, position_of
from boardenvs.game.contract import Position
from boardenvs.game.perft import perft as count
from boardenvs.games import parse, spec_of
from boardenvs.report import ReportTable

_LONG = 60.0  # seconds of a depth, from which on there is a warning


def perft(
    game: GameName,
    depth: Annotated[int, Argument(metavar="DEPTH", help="The plies to look ahead.", min=1)],
    position: Annotated[
        str | None,
        Option(
            help="Where to start, as ranks 8 to 1, role to move and plies played. "
            "Default: the game's start.",
        ),
    ] = None,
    divide: Annotated[
        bool, Option("--divide", help="Also show how many lines begin with each action.")
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
    rules = parse(game)
    root = position_of(rules, position)
    console = make_console()
    rows: list[dict[str, object]] = []
    shares: dict[int, int] = {}
    try:
        for shares, seconds in _depths(root, depth):
            nodes = sum(shares.values())
            counted = {"depth": len(rows) + 1, "nodes": nodes, "seconds": f"{seconds:.3f}"}
            rows.append(counted | {"nodes/s": f"{nodes / seconds:,.0f}"})
    finally:  # Ctrl-C leaves what has been counted
        if rows:
            console.print(ReportTable(rows, f"perft of {spec_of(rules)}", root.fen()))
    if divide:
        parts = [{"action": rules.action_name(a, root), "nodes": n} for a, n in shares.items()]
        console.print(ReportTable(parts, f"depth {depth} by first action"))


def _depths(root: Position, depth: int) -> Iterator[tuple[dict[int, int], float]]:
    """For each depth the nodes below each first action, and the seconds that they took. Says on
    standard error from which depth on a count takes more than a minute.
    """
    count(root.game, min(depth, 2), root)  # compiles the rules, which is not to be timed
    before, warned = 1, False
    for plies in range(1, depth + 1):
        started, shares = time.perf_counter(), dict.fromkeys(root.legal_actions(), 0)
        with counting(f"depth {plies}") as show:
            parts = _parts(root, plies)
            for done, (action, position, below) in enumerate(parts):
                show(done, len(parts))
                shares[action] += count(root.game, below, position)
        seconds, nodes = time.perf_counter() - started, sum(shares.values())
        yield shares, seconds
        growth, before = nodes / before, max(nodes, 1)
        if seconds * growth > _LONG and plies < depth and not warned:
            warned = True
            make_console(errors=True).print(
                f"depth {plies + 1} takes about {seconds * growth / 60:,.0f} minutes, and each one "
                f"after it {growth:.0f} times as long; Ctrl-C leaves what is counted",
                style="yellow",
            )


def _parts(root: Position, depth: int) -> list[tuple[int, Position, int]]:
    """Counts small enough to show progress by: the first action, where to count from, how deep."""
    parts = [(action, root.step(action), depth - 1) for action in root.legal_actions()]
    if depth <= 3:
        return parts
    return [
        (first, position.step(action), depth - 2)
        for first, position, _ in parts
        for action in position.legal_actions()
    ]
