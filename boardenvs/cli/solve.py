"""`boardenvs solve`: who wins with perfect play, and how."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from boardenvs.game import Game
    from boardenvs.state import Position
    from boardenvs.tablebase import Tablebase


@dataclass(frozen=True)
class MoveValue:
    """A legal action and what it leads to with perfect play."""

    action: str
    winner: str | None  # the role that can force its win; None where the cap comes first
    plies: int  # to the end, this one included
    mistakes: float  # the share of the replies to it that give their side's value away


@dataclass(frozen=True)
class Solution:
    """What is known of a position."""

    game: str
    position: str
    winner: str | None  # as in MoveValue
    plies: int  # to the end
    moves: list[MoveValue]  # best first
    line: list[str]  # a game that both sides play perfectly
    positions: list[dict[str, Any]]  # all that are solved, counted: `boardenvs.tablebase.Count`


def solve(
    game: Annotated[str, typer.Argument(help="The game, such as `wolf_and_sheep`.")],
    position: Annotated[
        str | None,
        typer.Option(
            help="The position, as ranks 8 to 1, role to move and plies played. "
            "Default: the game's start.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Chooses between equal moves of the line.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show who wins a position with perfect play, how soon, and by which moves.

    A winner hurries and a loser delays. The first time takes some seconds for a game; the solution
    is then kept in the cache folder.

    ```
    boardenvs solve wolf_and_sheep
    boardenvs solve wolf_and_sheep:rules=described --json
    boardenvs solve wolf_and_sheep --position "8/8/5s1s/6s1/3w4/s7/8/8 wolf 20"
    ```
    """
    from boardenvs.cli.console import make_console, no_compiling
    from boardenvs.fen import parse_position
    from boardenvs.games import parse
    from boardenvs.tablebase import Tablebase

    rules = parse(game)
    Tablebase.check_game(rules)
    with no_compiling():
        root = rules.start() if position is None else parse_position(rules, position)
        solution = _look_up(_load(rules), root, seed)
        if as_json:
            typer.echo(json.dumps(asdict(solution), indent=1))
        else:
            _print(make_console(), rules, root, solution)


def _load(game: Game) -> Tablebase:
    """The game's table, with a bar on standard error while it is solved."""
    from rich.console import Console

    from boardenvs.cli.console import make_progress
    from boardenvs.tablebase import Tablebase

    with make_progress(Console(stderr=True)) as progress:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what)
            progress.update(tasks[what], completed=done, total=total)

        return Tablebase.load(game, report)


def _look_up(table: Tablebase, root: Position, seed: int) -> Solution:
    import numpy as np

    from boardenvs.fen import write_position
    from boardenvs.games import spec_of
    from boardenvs.state import stack

    game, state = table.game, stack([root])
    value, plies = table.lookup(state)
    moves = table.moves(state)
    mistakes = table.mistakes(moves.after)
    return Solution(
        game=spec_of(game),
        position=write_position(game, root),
        winner=_winner(game, root, int(value[0])),
        plies=int(plies[0]),
        moves=[
            MoveValue(
                action=game.action_name(int(moves.actions[i]), root),
                winner=_winner(game, root, int(moves.value[i])),
                plies=int(moves.distance[i]),
                mistakes=float(mistakes[i]),
            )
            for i in np.lexsort((-mistakes, -moves.worth))
        ],
        line=_perfect_line(game, root, seed),
        positions=[count._asdict() for count in table.counts()],
    )


def _winner(game: Game, position: Position, value: int) -> str | None:
    """The role that wins where the side to move has this value."""
    if value == 0:
        return None
    return game.roles[position.to_move if value > 0 else 1 - position.to_move]


def _perfect_line(game: Game, position: Position, seed: int) -> list[str]:
    import numpy as np

    from boardenvs.agents import PerfectAgent
    from boardenvs.state import stack

    agent, rng, line = PerfectAgent(), np.random.default_rng(seed), []
    while not (position.terminated or game.is_truncated(position)):
        (action,) = agent.act(game, stack([position]), rng).tolist()
        line.append(game.action_name(action, position))
        position = game.next(position, action)
    return line


def _print(console: Console, game: Game, root: Position, solution: Solution) -> None:
    from rich.table import Table
    from rich.text import Text

    from boardenvs.render import to_ansi

    console.print(Text.from_ansi(to_ansi(game, root, legal=True)))
    console.print(f"\n[bold]{_verdict(game, root, solution)}[/]\n")
    if solution.moves:
        table = Table(
            title="Moves", caption="mistakes: the share of replies that give the result away"
        )
        table.add_column("move")
        table.add_column("winner")
        table.add_column("plies", justify="right")
        table.add_column("mistakes", justify="right")
        for move in solution.moves:
            winner = move.winner or "the cap"
            table.add_row(move.action, winner, str(move.plies), f"{move.mistakes:.0%}")
        console.print(table)
        console.print(f"\nA perfect line: {' '.join(solution.line)}\n")
    table = Table(title="All positions, without a cap on plies")
    for name in ("to move", "winner"):
        table.add_column(name)
    for name in ("positions", "of these over", "longest, in plies"):
        table.add_column(name, justify="right")
    for count in solution.positions:
        numbers = [f"{count[name]:,}" for name in ("positions", "over", "longest")]
        table.add_row(count["to_move"], count["winner"], *numbers)
    console.print(table)


def _verdict(game: Game, root: Position, solution: Solution) -> str:
    """Who wins, in a sentence."""
    if root.terminated:
        return f"The game is over; winner: {solution.winner}."
    if solution.winner is not None:
        return f"Winner with perfect play: {solution.winner}; plies to the end: {solution.plies}."
    paid = game.roles[game.result(root)[1] > game.result(root)[0]]
    return (
        f"Neither side can force an end within the {solution.plies} plies that max_plies leaves; "
        f"the cap then pays the {paid}."
    )
