"""`boardenvs solve`: who wins with perfect play, and how."""

from __future__ import annotations

import json
import time as clock
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from boardenvs.cli.options import AsJson, GameName

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from boardenvs.game.contract import Game, Position


class Solver(Protocol):
    """What solves positions: `solve_table.TableSolver` or `solve_search.SearchSolver`."""

    def solve(self, root: Position, progress: Progress) -> Any:
        """What is known of a position, as a dataclass."""

    def summary(self, solution: Any) -> str:
        """The outcome in a few words."""

    def show(self, console: Console, root: Position, solution: Any) -> None:
        """Print all of it."""


@dataclass(frozen=True)
class Solve:
    r"""Show who wins a position with perfect play, by how much or how soon, and a line of play.

    Wolf and Sheep is looked up in a table of all its positions, which takes some seconds to make
    the first time and is kept in the cache folder. Other games are searched: Othello with at most
    24 empty squares to the last disc, other positions deeper and deeper.

    Black is behind here, and one move wins; white forces a win in five plies there:

    ```
    boardenvs solve othello --moves --position \
      "1r2rrr1/2rbbr1b/rrbrbbbb/rrbrrbbb/rrbrrrrb/rrbrbrrb/r1bbrr2/2bbrb2 black"
    boardenvs solve lines_of_action \
      --position "2bbb3/1b3w2/w2ww3/w1w1wb2/w4wb1/w2b4/w3b3/5bbb white 17"
    boardenvs solve wolf_and_sheep
    boardenvs solve wolf_and_sheep:rules=described --json
    boardenvs solve othello --file endgames.txt --time 10
    ```
    """

    game: GameName
    position: Annotated[
        str | None,
        typer.Option(
            help="The position: ranks 8 to 1, role to move and plies played; or 64 squares from a1 "
            "to h8 as `X`, `O` and `-`, then `X` or `O` to move. Default: the game's start.",
        ),
    ] = None
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Solve many: a position a line, written in one of these ways; what follows it on "
            "the line is not read.",
        ),
    ] = None
    time: Annotated[float, typer.Option(help="Seconds of search, at most about so many.")] = 60.0
    depth: Annotated[int, typer.Option(help="Plies of search at most, 1 to 100.")] = 100
    moves: Annotated[
        bool, typer.Option("--moves", help="Also search every move, together for as long again.")
    ] = False
    seed: Annotated[
        int, typer.Option(help="Seed of the choice between equal moves of the line.", min=0)
    ] = 0
    as_json: AsJson = False

    def run(self) -> None:
        from boardenvs.game.fen import parse_position
        from boardenvs.games import parse
        from boardenvs.kernel.backend import no_compiling
        from boardenvs.tablebase import Tablebase

        if self.file is not None and self.position is not None:
            raise ValueError("--file and --position are both given: one of them says what to solve")
        game = parse(self.game)
        # A table needs no compiled rules; search does.
        with no_compiling() if Tablebase.covers(game) else nullcontext():
            solver = self._solver(game)
            if self.file is not None:
                _solve_all(solver, _read(game, self.file), self.as_json)
                return
            root = game.start()
            if self.position is not None:
                root = parse_position(game, self.position)
            _solve_one(solver, root, self.as_json)

    def _solver(self, game: Game) -> Solver:
        from boardenvs.cli.solve_search import SearchSolver
        from boardenvs.cli.solve_table import TableSolver
        from boardenvs.tablebase import Tablebase

        if Tablebase.covers(game):
            return TableSolver(game, self.seed)
        return SearchSolver(game, self.time, self.depth, self.moves)


def _solve_one(solver: Solver, root: Position, as_json: bool) -> None:
    from boardenvs.cli.console import make_console, make_progress

    with make_progress(make_console(errors=True)) as progress:
        solution = solver.solve(root, progress)
    if as_json:
        typer.echo(json.dumps(asdict(solution), indent=1))
    else:
        solver.show(make_console(), root, solution)


def _read(game: Game, file: Path) -> list[Position]:
    """The positions of a file, one a line; empty lines and those that begin with # are skipped."""
    from boardenvs.game.errors import PositionError
    from boardenvs.game.fen import parse_position

    roots = []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not a text: {error}") from None
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        has_ply = "/" in words[0] and len(words) > 2 and words[2].isdecimal()
        try:
            roots.append(parse_position(game, " ".join(words[: 3 if has_ply else 2])))
        except PositionError as error:
            raise ValueError(f"{file}, line {number}: {error}") from None
    if not roots:
        raise ValueError(f"{file} has no positions")
    return roots


def _solve_all(solver: Solver, roots: list[Position], as_json: bool) -> None:
    """A row of a table for each position."""
    from rich.table import Table

    from boardenvs.cli.console import make_console, make_progress

    table = Table("", "position", "outcome", "best move", "seconds")
    solutions = []
    with make_progress(make_console(errors=True)) as progress:
        for number, root in enumerate(progress.track(roots, description="positions"), start=1):
            began = clock.perf_counter()
            solution = solver.solve(root, progress)
            seconds = clock.perf_counter() - began
            best = solution.line[0] if solution.line else ""
            outcome = solver.summary(solution)
            table.add_row(str(number), solution.position, outcome, best, f"{seconds:.2f}")
            solutions.append(solution)
    if as_json:
        typer.echo(json.dumps([asdict(solution) for solution in solutions], indent=1))
    else:
        make_console().print(table)
