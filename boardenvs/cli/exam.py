"""`boardenvs exam`: the share of a player's moves that keep the value, if that is known exactly."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from typer import Option

from boardenvs.agents import Agent, agent_for, check_game, make_agent
from boardenvs.agents.base import report_of
from boardenvs.cli.options import AsJson, Player, Seed, game_names
from boardenvs.game.game import Game
from boardenvs.games import GAMES, parse
from boardenvs.report import ReportTable
from boardenvs.utils.console import counting, make_console, print_json, print_report


@dataclass
class ExamCommand:
    """Have a player move in positions for which the value of every move is known exactly.

    In the Othello family these are endgames with 8 to 14 empty squares, in Wolf and Sheep positions
    that can be won, in other games wins in 1, 3 and 5 plies and only defences. For each kind you
    get the share of moves that keep the win or the draw, with 95 % intervals, and in Othello the
    mean loss in discs.

    ```
    boardenvs exam trained
    boardenvs exam python:my_module:policy --game othello --json
    ```
    """

    agent: Player
    game: Annotated[
        str | None,
        Option(
            help="A game, such as `othello`. Default: all with an exam that the player can play.",
            autocompletion=game_names,
        ),
    ] = None
    seed: Seed = 0
    as_json: AsJson = False

    def run(self) -> None:
        from boardenvs.exams import take_exam

        examined, results = self._examined(), []
        for game, agent in examined:
            with counting(f"{game.id}: positions") as show:
                results.append(take_exam(game, agent, seed=self.seed, progress=show))
        if self.as_json:
            print_json(
                [
                    {
                        "agent": self.agent,
                        "game": result.game,
                        "marks": [asdict(mark) for mark in result.marks],
                        "seconds": round(result.seconds, 3),
                        "seed": self.seed,
                        "positions": result.made,
                        "wrong_answers": result.stats.forfeits,
                        "message": result.stats.message,
                    }
                    for result in results
                ]
            )
            return
        console = make_console()
        for result in results:
            rows = [mark.row for mark in result.marks]
            caption = f"with 95 % intervals; {result.seconds:.1f} s"
            console.print(ReportTable(rows, f"{result.game}: {self.agent}", caption))
            console.print(f"positions: {result.made}\n", soft_wrap=True)
            if note := result.stats.explain(self.agent, result.total.positions, what="positions"):
                console.print(note, style="yellow", soft_wrap=True)
        print_report(console, report_of(examined[0][1]))

    def _examined(self) -> list[tuple[Game, Agent]]:
        """Return the games of the exam, each with the player for it."""
        if self.agent.partition(":")[0] in GAMES:
            raise ValueError(
                f"{self.agent} is a game: name a player, as in `boardenvs exam trained --game "
                f"{self.agent}`"
            )
        if self.game is not None:
            game = parse(self.game)
            return [(game, agent_for(game, self.agent))]
        from boardenvs.exams.positions import games_with_exam

        agent = make_agent(self.agent)
        able, reasons = [], []
        for game in map(parse, games_with_exam()):
            try:
                check_game(agent, game)
                able.append((game, agent))
            except ValueError as error:
                reasons.append(str(error))
        if not able:
            raise ValueError(f"{self.agent} can play no game that has an exam: {reasons[0]}")
        return able
