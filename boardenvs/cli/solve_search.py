"""What `boardenvs solve` says of a position by search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from boardenvs.game.contract import Game, Position
from boardenvs.game.rules import DRAW
from boardenvs.games import spec_of
from boardenvs.render import to_ansi
from boardenvs.search import ENDGAME, Analysis, Limits, analyse, search_moves


class Outcome(NamedTuple):
    """How a game ends with best play, as far as that is known."""

    winner: str | None  # a role or "draw"; None where it is not known
    margin: int | None  # the winner's lead at the end, where games are won by points
    plies: int | None  # to the end, where sooner is better and the game is won
    value: int | None  # the heuristic's to the side to move, where nothing is known


@dataclass(frozen=True)
class SearchedMove:
    """A legal action and what it leads to; the fields are those of `Outcome`."""

    action: str
    winner: str | None
    margin: int | None
    plies: int | None
    value: int | None  # to the side that makes the move


@dataclass(frozen=True)
class SearchedPosition:
    """What search has found of a position; the fields up to `value` are those of `Outcome`."""

    game: str
    position: str
    winner: str | None
    margin: int | None
    plies: int | None
    value: int | None
    moves: list[SearchedMove]  # best first, where asked for
    line: list[str]  # best play, as far as it has been seen
    depth: int  # plies searched; empty squares where the end was solved at once
    nodes: int
    seconds: float


class SearchSolver:
    """Searches a position for `time` seconds and `depth` plies at most; and, with `moves`, each of
    its moves by itself, together for as long again. ValueError for a game without a heuristic.
    """

    def __init__(self, game: Game, time: float, depth: int, moves: bool) -> None:
        if not game.has_heuristic:
            raise ValueError(game.no_heuristic)
        Limits(depth, time=time)  # raises ValueError where a limit is wrong
        self._game, self._time, self._depth, self._moves = game, time, depth, moves

    def solve(self, root: Position, progress: Progress) -> SearchedPosition:
        """Search a position; one that is over is only described."""
        game, outcome, found, moves = self._game, self._final(root), None, list[SearchedMove]()
        if not root.is_over():
            task = progress.add_task(f"searching, {self._time:g} s at most", total=None)
            found = analyse(game, root, depth=self._depth, time=self._time)
            progress.remove_task(task)
            outcome = self._outcome(root, found)
            if self._moves:
                moves = self._search_moves(root, found.depth, progress)
        return SearchedPosition(
            spec_of(game),
            root.fen(),
            *outcome,
            moves=moves,
            line=_write_line(game, root, found.line) if found else [],
            depth=found.depth if found else 0,
            nodes=found.nodes if found else 0,
            seconds=round(found.seconds, 6) if found else 0.0,
        )

    def summary(self, solution: SearchedPosition | SearchedMove) -> str:
        """The outcome in a few words."""
        if solution.winner is None:
            return f"not solved; {solution.value:+} by the heuristic"
        if solution.winner == "draw":
            return "a draw"
        if solution.margin is not None:
            return f"{solution.winner} wins by {solution.margin}"
        if solution.plies:
            return f"{solution.winner} wins in {_count(solution.plies, 'ply', 'plies')}"
        return f"{solution.winner} wins"

    def show(self, console: Console, root: Position, solution: SearchedPosition) -> None:
        """Print the board, the outcome, the moves, the line, and nodes and time."""
        console.print(Text.from_ansi(to_ansi(self._game, root, legal=True)))
        console.print(f"\n{self._verdict(root, solution)}\n", style="bold")
        if solution.moves:
            table = Table("move", "outcome", title="Moves")
            for move in solution.moves:
                table.add_row(move.action, self.summary(move))
            console.print(table)
        if solution.line:
            known = "Best play" if solution.winner else "The best line found so far"
            console.print(f"{known}: {' '.join(solution.line)}\n")
            speed = solution.nodes / max(solution.seconds, 1e-6)
            console.print(
                f"{_count(solution.nodes, 'position', 'positions')} in {solution.seconds:.2f} s, "
                f"{speed:,.0f} a second"
            )

    def _verdict(self, root: Position, solution: SearchedPosition) -> str:
        summary = self.summary(solution)
        if root.is_over():
            return f"The game is over: {summary}."
        if solution.winner is not None:
            return f"{summary[0].upper()}{summary[1:]} with best play."
        return (
            f"Not solved within the limits. {_count(solution.depth, 'ply', 'plies')} ahead the "
            f"heuristic gives {solution.value:+} to {self._game.roles[root.to_move]}."
        )

    def _search_moves(self, root: Position, depth: int, progress: Progress) -> list[SearchedMove]:
        """Every move, best first."""
        game, limits = self._game, Limits(depth, time=self._time, endgame=ENDGAME)
        found = search_moves(game, root, limits, watch=partial(progress.track, description="moves"))
        moves = [
            SearchedMove(game.action_name(action, root), *self._outcome(root, analysis))
            for action, analysis in found.items()
        ]
        return sorted(moves, key=lambda move: _rank(move, game.roles[root.to_move]), reverse=True)

    def _final(self, position: Position) -> Outcome:
        """The outcome of a game that ends with this position."""
        game, result = self._game, position.result()
        if result[0] == DRAW:
            return Outcome("draw", None, None, None)
        mine, theirs = game.kernels.points.one(position.own, position.opp, position.to_move)
        winner = game.roles[result[1] > result[0]]
        if game.margin_counts:
            return Outcome(winner, abs(mine - theirs), None, None)
        return Outcome(winner, None, 0, None)

    def _outcome(self, position: Position, found: Analysis) -> Outcome:
        if found.outcome is None:
            return Outcome(None, None, None, found.value)
        if found.outcome == "draw":
            return Outcome("draw", None, None, None)
        mover = position.to_move
        winner = self._game.roles[mover if found.outcome == "win" else 1 - mover]
        margin = None if found.margin is None else abs(found.margin)
        return Outcome(winner, margin, found.plies, None)


def _rank(move: SearchedMove, mover: str) -> tuple[int, int]:
    """More is better for the side that makes the move."""
    gain = (move.margin or 0) - (move.plies or 0)
    if move.winner is None or move.winner == "draw":
        return 0, move.value or 0
    return (1, gain) if move.winner == mover else (-1, -gain)


def _write_line(game: Game, position: Position, line: tuple[int, ...]) -> list[str]:
    names = []
    for action in line:
        names.append(game.action_name(action, position))
        position = position.step(action)
    return names


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
