"""What `boardenvs solve` says of a game that has a tablebase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table
from rich.text import Text

from boardenvs.agents import PerfectAgent
from boardenvs.game.contract import Game, Position, stack
from boardenvs.games import spec_of
from boardenvs.render import to_ansi
from boardenvs.tablebase import Tablebase


@dataclass(frozen=True)
class TableMove:
    """A legal action and what it leads to with perfect play."""

    action: str
    winner: str | None  # the role that can force its win; None where the cap comes first
    plies: int  # to the end, this one included
    mistakes: float  # the share of the replies to it that give their side's value away


@dataclass(frozen=True)
class TablePosition:
    """What is known of a position."""

    game: str
    position: str
    winner: str | None  # as in TableMove
    plies: int  # to the end
    moves: list[TableMove]  # best first
    line: list[str]  # a game that both sides play perfectly
    positions: list[dict[str, Any]]  # all that are solved, counted: `boardenvs.tablebase.Count`


class TableSolver:
    """Looks positions up; `seed` chooses between equal moves of a line."""

    def __init__(self, game: Game, seed: int) -> None:
        self._game, self._seed = game, seed

    def solve(self, root: Position, progress: Progress) -> TablePosition:
        """What the table has of a position."""
        game, table, state = self._game, _load(self._game, progress), stack([root])
        value, plies = table.lookup(state)
        moves = table.moves(state)
        mistakes = table.mistakes(moves.after)
        return TablePosition(
            game=spec_of(game),
            position=root.fen(),
            winner=_winner(game, root, int(value[0])),
            plies=int(plies[0]),
            moves=[
                TableMove(
                    action=game.action_name(int(moves.actions[i]), root),
                    winner=_winner(game, root, int(moves.value[i])),
                    plies=int(moves.distance[i]),
                    mistakes=float(mistakes[i]),
                )
                for i in np.lexsort((-mistakes, -moves.worth))
            ],
            line=self._perfect_line(root),
            positions=[count._asdict() for count in table.counts()],
        )

    def summary(self, solution: TablePosition) -> str:
        """The outcome in a few words."""
        plies = "1 ply" if solution.plies == 1 else f"{solution.plies} plies"
        return (
            f"the cap in {plies}"
            if solution.winner is None
            else f"{solution.winner} wins in {plies}"
        )

    def _verdict(self, root: Position, solution: TablePosition) -> str:
        """Who wins, in a sentence."""
        if root.terminated:
            return f"The game is over; winner: {solution.winner}."
        plies = solution.plies
        if solution.winner is not None:
            return f"Winner with perfect play: {solution.winner}; plies to the end: {plies}."
        result = root.result()
        paid = self._game.roles[result[1] > result[0]]
        return (
            f"Neither side can force an end within the {plies} plies that max_plies leaves; the "
            f"cap then pays the {paid}."
        )

    def show(self, console: Console, root: Position, solution: TablePosition) -> None:
        """The board, the verdict, the moves and the numbers of the whole table."""
        console.print(Text.from_ansi(to_ansi(self._game, root, legal=True)))
        console.print(f"\n{self._verdict(root, solution)}\n", style="bold")
        if solution.moves:
            console.print(_moves_table(solution.moves))
            console.print(f"\nA perfect line: {' '.join(solution.line)}\n")
        console.print(_counts_table(solution.positions))

    def _perfect_line(self, position: Position) -> list[str]:
        game, agent, rng, line = self._game, PerfectAgent(), np.random.default_rng(self._seed), []
        while not position.is_over():
            (action,) = agent.act(game, stack([position]), rng).tolist()
            line.append(game.action_name(action, position))
            position = position.step(action)
        return line


def _load(game: Game, progress: Progress) -> Tablebase:
    """The game's table, with a bar while it is solved."""
    tasks: dict[str, TaskID] = {}

    def report(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = progress.add_task(what)
        progress.update(tasks[what], completed=done, total=total)

    return Tablebase.load(game, report)


def _winner(game: Game, position: Position, value: int) -> str | None:
    """The role that wins where the side to move has this value."""
    if value == 0:
        return None
    return game.roles[position.to_move if value > 0 else 1 - position.to_move]


def _moves_table(moves: list[TableMove]) -> Table:
    table = Table(title="Moves", caption="mistakes: the share of replies that give the result away")
    table.add_column("move")
    table.add_column("winner")
    table.add_column("plies", justify="right")
    table.add_column("mistakes", justify="right")
    for move in moves:
        winner = move.winner or "the cap"
        table.add_row(move.action, winner, str(move.plies), f"{move.mistakes:.0%}")
    return table


def _counts_table(counts: list[dict[str, Any]]) -> Table:
    table = Table(title="All positions, without a cap on plies")
    for name in ("to move", "winner"):
        table.add_column(name)
    for name in ("positions", "of these over", "longest, in plies"):
        table.add_column(name, justify="right")
    for count in counts:
        numbers = [f"{count[name]:,}" for name in ("positions", "over", "longest")]
        table.add_row(count["to_move"], count["winner"], *numbers)
    return table
