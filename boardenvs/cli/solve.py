"""`boardenvs solve`: who wins a position with perfect play, and how."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from boardenvs.agents import analyse, exact_analyst
from boardenvs.cli.console import counting, make_console, print_json
from boardenvs.cli.options import AsJson, GameName, RuleSheet, position_of
from boardenvs.game.contract import Game, Position
from boardenvs.game.errors import PositionError
from boardenvs.game.fen import parse_position
from boardenvs.games import parse
from boardenvs.kernel.backend import no_compiling
from boardenvs.report import ReportTable
from boardenvs.search import ENDGAME, Analysis, Limits, search_position
from boardenvs.search.analysis import ranked
from boardenvs.tablebase import Tablebase


@dataclass(frozen=True)
class Solve:
    r"""Show who wins a position with perfect play, by how much or how soon, and a line of play.

    Wolf and Sheep is looked up in a table of all its positions, which takes some seconds to make
    the first time and is kept in the cache folder. Other games are searched: Othello with at most
    24 empty squares to the last disc, other positions deeper and deeper. What is not proven within
    the limits is said to be so.

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
        Option(
            help="The position: ranks 8 to 1, role to move and plies played; or 64 squares from a1 "
            "to h8 as `X`, `O` and `-`, then `X` or `O` to move. Default: the game's start.",
        ),
    ] = None
    file: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Solve many: a position a line, written in one of these ways; what follows it on "
            "the line is not read.",
        ),
    ] = None
    time: Annotated[float, Option(help="Seconds of search, at most about so many.")] = 60.0
    depth: Annotated[int, Option(help="Plies of search at most, 1 to 100.")] = 100
    moves: Annotated[
        bool, Option("--moves", help="Also search every move, together for as long again.")
    ] = False
    seed: Annotated[
        int, Option(help="Seed of the choice between equal moves of the line.", min=0)
    ] = 0
    rule_sheet: RuleSheet = False
    as_json: AsJson = False

    def run(self) -> None:
        from boardenvs.cli.tables import counts_table, show_analysis, summary
        from boardenvs.play import MoveNotation

        if self.file is not None and self.position is not None:
            raise ValueError("--file and --position are both given: one of them says what to solve")
        game = parse(self.game)
        has_table = Tablebase.covers(game)
        if not (game.has_heuristic or has_table):
            raise ValueError(game.no_heuristic)
        limits = Limits(self.depth, time=self.time, endgame=ENDGAME)
        # A table needs no compiled rules; search does.
        with no_compiling() if has_table else nullcontext(), counting("positions") as show:
            if self.file is None:
                roots = [position_of(game, self.position)]
            else:
                roots = _read(game, self.file)
            if has_table:
                Tablebase.load(game, lambda what, done, of: show(done, of, what))
            found: list[Analysis] = []
            for root in roots:
                show(len(found), len(roots), "positions")
                found.append(self._solve(root, limits))
        console, notation = make_console(), MoveNotation(game, self.rule_sheet)
        if self.as_json:
            answers = [one.to_json() for one in found]
            print_json(answers[0] if self.file is None else answers)
        elif self.file is None:
            show_analysis(console, notation, found[0], 0 if self.moves or has_table else None)
            if has_table:
                counts = [count._asdict() for count in Tablebase.load(game).counts()]
                console.print(counts_table(counts))
        else:
            rows = [
                {
                    "": number,
                    "position": one.position.fen(),
                    "outcome": summary(notation, one),
                    "best move": "".join(one.names(one.line[:1], notation.write)),
                    "seconds": f"{one.seconds:.2f}",
                }
                for number, one in enumerate(found, start=1)
            ]
            console.print(ReportTable(rows, "Positions"))

    def _solve(self, root: Position, limits: Limits) -> Analysis:
        if Tablebase.covers(root.game) or root.is_over():
            rng = np.random.default_rng(self.seed)
            return analyse(root, exact_analyst(root.game), rng=rng)
        began = time.perf_counter()
        found = search_position(root, limits, moves=self.moves)
        return replace(ranked(found), seconds=time.perf_counter() - began)


def _read(game: Game, file: Path) -> list[Position]:
    """The positions of a file, one a line; empty lines and those that begin with # are skipped."""
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
