"""`boardenvs analyse`: what an agent thinks of a position, or of a game that was played."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boardenvs.cli.options import AsJson, GameName, Seed, TournamentSquares, player_names

if TYPE_CHECKING:
    from rich.console import Console

    from boardenvs.agents import Agent
    from boardenvs.agents.explain import Explanation
    from boardenvs.game.contract import Game, Position
    from boardenvs.play.review import Review
    from boardenvs.records import Record


@dataclass(frozen=True)
class Analyse:
    r"""Show what an agent thinks of a position: its moves with values, visits or probabilities.

    Of a recorded game it goes through all plies: the value of each move, what would have been
    better, how much was lost, and how both sides played. Values are for the side to move; the unit
    is said. Agents that search, such as `alphabeta` and `mcts`, go on for as long as `--time` says.

    ```
    boardenvs analyse othello --with trained
    boardenvs analyse wolf_and_sheep --with perfect --json
    boardenvs analyse othello "8/8/8/3rb3/3br3/8/8/8 black" --with mcts --time 5
    boardenvs analyse othello games.jsonl --number 3 --with alphabeta:depth=6 \
      --graph game.svg
    ```
    """

    game: GameName
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="POSITION|FILE",
            help="A position, as in `boardenvs solve --position`, or a file of recorded games. "
            "Default: the game's start.",
            show_default=False,
        ),
    ] = None
    agent: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="AGENT",
            help="An agent such as `trained` or `mcts:rollouts=1000`. Default: `perfect` where the "
            "game is solved, else `mcts`.",
            show_default=False,
            autocompletion=player_names,
        ),
    ] = None
    number: Annotated[
        int | None,
        typer.Option(
            "--number", metavar="N", help="Which game of the file, from 1.", min=1,
            show_default=False,
        ),
    ] = None  # fmt: skip
    ply: Annotated[
        int | None,
        typer.Option(
            metavar="K", help="Only the position after K plies of the recorded game.", min=0,
            show_default=False,
        ),
    ] = None  # fmt: skip
    time: Annotated[
        float | None,
        typer.Option(
            help="Search a position for so many seconds, and show it as it improves. Default: the "
            "agent's own limits.",
            show_default=False,
        ),
    ] = None
    moves: Annotated[int, typer.Option(help="How many moves to show; 0: all.", min=0)] = 12
    graph: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the value over the recorded game: .png or .svg."),
    ] = None
    seed: Seed = 0
    tournament: TournamentSquares = False
    as_json: AsJson = False

    def run(self) -> None:
        from boardenvs.agents import agent_for
        from boardenvs.cli.console import make_console
        from boardenvs.games import parse
        from boardenvs.play import MoveNotation
        from boardenvs.tablebase import Tablebase

        game = parse(self.game)
        MoveNotation(game, self.tournament)  # ValueError where there are no such coordinates
        agent = agent_for(game, self.agent or ("perfect" if Tablebase.covers(game) else "mcts"))
        record = None
        if self.what is not None and Path(self.what).is_file():
            record = _find(game, Path(self.what), self.number or 1)
        self._check(record)
        console = make_console()
        if record is not None and self.ply is None:
            self._review(console, record, agent)
            return
        position = game.start()
        if record is not None:
            position = _at(record, self.ply or 0)
        elif self.what is not None:
            position = _parse(game, self.what)
        self._explain(console, game, position, agent)

    def _check(self, record: Record | None) -> None:
        """ValueError for options that do not go together, before there is work to lose."""
        from boardenvs.play.graph import FORMATS
        from boardenvs.utils.files import check_writable

        if record is None:
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

    def _explain(self, console: Console, game: Game, position: Position, agent: Agent) -> None:
        import numpy as np

        from boardenvs.agents import explain
        from boardenvs.cli.analyse_tables import explanation_json, show_explanation
        from boardenvs.play import MoveNotation

        notation = MoveNotation(game, self.tournament)
        if self.time is None:
            found = explain(agent, game, position, np.random.default_rng(self.seed))
        else:
            found = self._steadily(console, notation.game, position, agent)
        if self.as_json:
            typer.echo(explanation_json(notation, position, found))
        else:
            show_explanation(console, notation, position, found, self.moves)

    def _steadily(
        self, console: Console, game: Game, position: Position, agent: Agent
    ) -> Explanation:
        """The last explanation before the time is up; those before it are shown on a terminal."""
        import math
        import time

        import numpy as np
        from rich.live import Live

        from boardenvs.agents import explain, explain_steadily
        from boardenvs.cli.analyse_tables import explanation_table
        from boardenvs.play import MoveNotation

        end = time.monotonic() + (self.time or math.inf)
        rng = np.random.default_rng(self.seed)
        notation = MoveNotation(game, self.tournament)
        latest = None
        with Live(console=console, transient=True, refresh_per_second=8) as live:
            seen = explain_steadily(agent, game, position, lambda: time.monotonic() > end, rng)
            try:
                for latest in seen:
                    if console.is_terminal and not self.as_json:
                        live.update(explanation_table(notation, position, latest, self.moves))
            except KeyboardInterrupt:
                if latest is None:
                    raise
        return latest or explain(agent, game, position, rng)

    def _review(self, console: Console, record: Record, agent: Agent) -> None:
        from boardenvs.cli.analyse_tables import review_json, show_review
        from boardenvs.cli.console import make_console, make_progress
        from boardenvs.play import MoveNotation
        from boardenvs.play.review import review

        with make_progress(make_console(errors=True)) as progress:
            task = progress.add_task("plies", total=len(record.actions))
            found = review(
                record,
                agent,
                seed=self.seed,
                progress=lambda done, _: progress.update(task, completed=done),
            )
        notation = MoveNotation(record.game, self.tournament)
        if self.as_json:
            typer.echo(review_json(notation, found))
        else:
            show_review(console, notation, found)
        if self.graph is not None:
            self._draw(console, found, self.graph)

    def _draw(self, console: Console, found: Review, path: Path) -> None:
        from boardenvs.play import MoveNotation
        from boardenvs.play.graph import draw_graph
        from boardenvs.utils.files import write_atomically

        notation = MoveNotation(found.record.game, self.tournament)
        try:
            graph = draw_graph(found, path.suffix.lstrip("."), notation)
        except ImportError as error:
            raise ValueError(str(error)) from error
        write_atomically(path, graph)
        if not self.as_json:
            console.print(f"the graph is in {path}", markup=False)


def _find(game: Game, file: Path, number: int) -> Record:
    """A game of a file, checked; ValueError where it is of another game."""
    from boardenvs import records
    from boardenvs.games import spec_of

    found = records.load(file, game=game)
    if number > len(found):
        raise ValueError(f"{file} has {len(found)} games: there is no game {number}")
    record = found[number - 1]
    if not record.game.has_rules_of(game):
        raise ValueError(f"game {number} of {file} is {spec_of(record.game)}, not {spec_of(game)}")
    (verdict,) = records.check([record])
    if verdict.ending == "illegal":
        raise ValueError(f"game {number} of {file}: {verdict.error}")
    return record


def _at(record: Record, ply: int) -> Position:
    from boardenvs.records import replay

    positions = replay(record)
    if ply >= len(positions):
        raise ValueError(
            f"the game has {len(positions) - 1} plies: there is no position after ply {ply}"
        )
    return positions[ply]


def _parse(game: Game, text: str) -> Position:
    """The position; ValueError where the text is neither one nor a file."""
    from boardenvs.game.fen import parse_position

    if len(text.split()) == 1:
        raise FileNotFoundError(errno.ENOENT, "there is no such file, and it is no position", text)
    return parse_position(game, text)
