"""`boardenvs analyse`: the values of moves, by any player."""

from __future__ import annotations

import errno
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from typer import Argument, Option

from boardenvs.agents import Agent, agent_for, analyse, analyse_until, default_analyst
from boardenvs.cli.console import counting, make_console, print_json
from boardenvs.cli.options import (
    AsJson,
    GameName,
    RuleSheet,
    Seed,
    chosen,
    player_names,
    position_of,
)
from boardenvs.game.contract import Game, Position
from boardenvs.games import parse, spec_of
from boardenvs.search import Analysis
from boardenvs.utils.files import check_writable, write_atomically

if TYPE_CHECKING:
    from boardenvs.play import MoveNotation
    from boardenvs.records import Record


@dataclass(frozen=True)
class Analyse:
    r"""Show what an agent thinks of a position: its moves with values, visits or probabilities.

    Of a recorded game it goes through all plies: the value of each move, what would have been
    better, how much was lost, and how both sides played. Values are for the side to move; the unit
    is said, and what is proven. Agents that search, such as `alphabeta` and `mcts`, go on for as
    long as `--time` says.

    ```
    boardenvs analyse othello
    boardenvs analyse wolf_and_sheep --json
    boardenvs analyse othello "8/8/8/3rb3/3br3/8/8/8 black" --with mcts --time 5
    boardenvs analyse othello games.jsonl --number 3 --with alphabeta:depth=6 \
      --graph game.svg
    ```
    """

    game: GameName
    what: Annotated[
        str | None,
        Argument(
            metavar="POSITION|FILE",
            help="A position, as in `boardenvs solve --position`, or a file of recorded games. "
            "Default: the game's start.",
        ),
    ] = None
    agent: Annotated[
        str | None,
        Option(
            "--with",
            metavar="AGENT",
            help="An agent such as `trained` or `mcts:simulations=400`. Default: the exact "
            "solution where the game is solved, else a search.",
            autocompletion=player_names,
        ),
    ] = None
    number: Annotated[
        int | None,
        Option(
            "--number", metavar="N", help="Which game of the file, from 1.", min=1,
        ),
    ] = None  # fmt: skip
    ply: Annotated[
        int | None,
        Option(
            metavar="K", help="Only the position after K plies of the recorded game.", min=0,
        ),
    ] = None  # fmt: skip
    time: Annotated[
        float | None,
        Option(
            help="Search a position for so many seconds, and show it as it improves. Default: the "
            "agent's own limits.",
        ),
    ] = None
    moves: Annotated[int, Option(help="How many moves to show; 0: all.", min=0)] = 12
    graph: Annotated[
        Path | None,
        Option(metavar="FILE", help="Draw the value over the recorded game: .png or .svg."),
    ] = None
    seed: Seed = 0
    rule_sheet: RuleSheet = False
    as_json: AsJson = False

    def run(self) -> None:
        from boardenvs.cli.tables import show_analysis
        from boardenvs.play import MoveNotation
        from boardenvs.records import replay

        if Path(self.game).is_file():
            raise ValueError(
                f"GAME is {self.game}, a file: the game stands before it, as in "
                f"`boardenvs analyse othello {self.game}`"
            )
        game = parse(self.game)
        notation = MoveNotation(game, self.rule_sheet)
        agent = agent_for(game, self.agent or default_analyst(game))
        record = None
        if self.what is not None and Path(self.what).is_file():
            record = self._find(game, Path(self.what))
        self._check(record is not None)
        if record is not None and self.ply is None:
            self._review(notation, record, agent)
            return
        if record is not None:
            position = _after(replay(record), self.ply or 0)
        elif self.what is not None and len(self.what.split()) == 1:
            problem = "there is no such file, and it is no position"
            raise FileNotFoundError(errno.ENOENT, problem, self.what)
        else:
            position = position_of(game, self.what)
        found = self._analyse(notation, position, agent)
        if self.as_json:
            print_json(found.to_json())
        else:
            show_analysis(make_console(), notation, found, self.moves)

    def _check(self, is_recorded: bool) -> None:
        """ValueError for options that do not go together, before there is work to lose."""
        from boardenvs.play.graph import FORMATS

        if not is_recorded:
            for name in ("number", "ply", "graph"):
                if getattr(self, name) is not None:
                    raise ValueError(f"--{name} is for a recorded game: name its file")
        elif self.ply is None and self.time is not None:
            raise ValueError("--time is for one position: say which with --ply")
        if self.time is not None and not self.time > 0:
            raise ValueError(f"--time is {self.time}: it must be more than 0 seconds")
        if self.graph is not None:
            if self.ply is not None:
                raise ValueError("--graph is of a whole game: leave --ply out")
            if self.graph.suffix.lstrip(".") not in FORMATS:
                raise ValueError(f"{self.graph} does not say its format: end it in .png or .svg")
            check_writable(self.graph)

    def _find(self, game: Game, file: Path) -> Record:
        """The game of the file that is asked for; ValueError where it is of another game, or breaks
        its rules.
        """
        from boardenvs import records

        record = chosen(records.load(file, game=game), file, self.number)
        name = f"game {self.number or 1} of {file}"
        if not record.game.has_rules_of(game):
            raise ValueError(f"{name} is {spec_of(record.game)}, not {spec_of(game)}")
        (verdict,) = records.check([record])
        if verdict.ending == "illegal":
            raise ValueError(f"{name}: {verdict.error}")
        return record

    def _analyse(self, notation: MoveNotation, position: Position, agent: Agent) -> Analysis:
        """With `--time` the last analysis before the time is up; those before it are shown on a
        terminal.
        """
        from rich.live import Live

        from boardenvs.cli.tables import moves_table

        rng, console = np.random.default_rng(self.seed), make_console()
        if self.time is None:
            return analyse(position, agent, rng=rng)
        end, latest = time.monotonic() + self.time, None
        with Live(console=console, transient=True, refresh_per_second=8) as live:
            stop = lambda: time.monotonic() > end  # noqa: E731
            try:
                for latest in analyse_until(position, agent, stop, rng):
                    if console.is_terminal and not self.as_json:
                        live.update(moves_table(notation, latest, self.moves))
            except KeyboardInterrupt:
                if latest is None:
                    raise
        assert latest is not None, "there is one analysis at least"
        return latest

    def _review(self, notation: MoveNotation, record: Record, agent: Agent) -> None:
        from boardenvs.cli.tables import review_json, show_review
        from boardenvs.play import review
        from boardenvs.play.graph import draw_graph

        with counting("positions") as show:
            found = review(record, agent, seed=self.seed, progress=show)
        if self.as_json:
            print_json(review_json(found))
        else:
            show_review(make_console(), notation, found)
        if self.graph is not None:
            write_atomically(self.graph, draw_graph(found, self.graph.suffix[1:], notation))
            if not self.as_json:
                make_console().print(f"the graph is in {self.graph}")


def _after(positions: list[Position], ply: int) -> Position:
    last = len(positions) - 1
    if ply > last:
        raise ValueError(f"the game has {last} plies: there is no position after ply {ply}")
    return positions[ply]
