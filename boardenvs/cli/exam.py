"""`boardenvs exam`: how many of a player's moves keep the value, where that is known exactly."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boardenvs.cli.options import AsJson, Player, Seed, check_ending, game_names

if TYPE_CHECKING:
    from rich.table import Table

    from boardenvs.agents import Agent
    from boardenvs.exams import Marked
    from boardenvs.game.contract import Game

_GAMES = ("othello", "othello_holes", "wolf_and_sheep", "lines_of_action")


@dataclass(frozen=True)
class Exam:
    """Have a player answer positions of which the value of every move is known exactly.

    In the Othello family these are endgames with 8 to 14 empty squares, in Wolf and Sheep positions
    that can be won, in Lines of Action wins in 1, 3 and 5 plies and only defences. The share of
    moves that keep the win or the draw is told for each kind, with 95 % intervals, and in Othello
    the mean loss in discs.

    ```
    boardenvs exam trained
    boardenvs exam python:my_module:policy --game othello --json
    boardenvs exam alphabeta:depth=4 --game lines_of_action --svg exam.svg
    ```
    """

    agent: Player
    game: Annotated[
        str | None,
        typer.Option(
            help="A game, such as `othello`. Default: all that have an exam and that the player "
            "can play.",
            show_default=False,
            autocompletion=game_names,
        ),
    ] = None
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Draw the shares into this file, SVG."),
    ] = None
    seed: Seed = 0
    as_json: AsJson = False

    def run(self) -> None:
        from boardenvs.cli.console import make_console
        from boardenvs.utils.files import check_writable, write_atomically

        examined = self._examined()
        check_ending("--svg", self.svg, ".svg")
        if self.svg is not None:
            check_writable(self.svg)
        marked = [self._take(game, agent) for game, agent in examined]
        if self.svg is not None:
            from boardenvs.exams.chart import draw

            write_atomically(self.svg, draw(self.agent, marked))
        if self.as_json:
            typer.echo(json.dumps([self._to_json(found) for found in marked], indent=1))
            return
        console = make_console()
        for found in marked:
            console.print(_table(self.agent, found))
            console.print(f"positions: {found.made}\n", soft_wrap=True)
            if note := found.faults.explain(self.agent, found.total.positions):
                console.print(note.replace("games", "positions"), style="yellow", soft_wrap=True)

    def _examined(self) -> list[tuple[Game, Agent]]:
        from boardenvs.agents import agent_for, check_game, make_agent
        from boardenvs.games import parse

        if self.game is not None:
            game = parse(self.game)
            return [(game, agent_for(game, self.agent))]
        agent = make_agent(self.agent)
        found, reasons = [], []
        for game in map(parse, _GAMES):
            try:
                check_game(agent, game)
            except ValueError as error:
                reasons.append(str(error))
            else:
                found.append((game, agent))
        if not found:
            raise ValueError(f"{self.agent} can play no game that has an exam: {reasons[0]}")
        return found

    def _take(self, game: Game, agent: Agent) -> Marked:
        from boardenvs.cli.console import make_console, make_progress
        from boardenvs.exams import take_exam

        with make_progress(make_console(errors=True)) as progress:
            task = progress.add_task(f"{game.id}: positions", total=None)
            return take_exam(
                game,
                agent,
                seed=self.seed,
                progress=lambda done, of: progress.update(task, completed=done, total=of),
            )

    def _to_json(self, found: Marked) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "game": found.game,
            "marks": [asdict(mark) for mark in found.marks],
            "seconds": round(found.seconds, 3),
            "seed": self.seed,
            "positions": found.made,
            "wrong_answers": found.faults.forfeits,
            "message": found.faults.message,
        }


def _table(agent: str, found: Marked) -> Table:
    from rich.table import Table

    table = Table(
        title=f"{found.game}: {agent}",
        caption=f"with 95 % intervals; {found.seconds:.1f} s",
    )
    table.add_column("kind")
    for name in ("positions", "keeps the value"):
        table.add_column(name, justify="right")
    has_discs = found.total.loss is not None
    for name in ("best move", "mean loss in discs") if has_discs else ():
        table.add_column(name, justify="right")
    for mark in found.marks:
        cells = [
            mark.kind,
            str(mark.positions),
            f"{mark.kept:.3f} [{mark.low:.3f}, {mark.high:.3f}]",
        ]
        if has_discs:
            cells.append(f"{mark.best:.3f}")
            cells.append(f"{mark.loss:.2f} [{mark.loss_low:.2f}, {mark.loss_high:.2f}]")
        table.add_row(*cells)
    return table
