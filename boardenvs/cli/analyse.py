"""`boardenvs analyse` and `boardenvs solve`: what moves are worth, by any player or exactly."""

from __future__ import annotations

import errno
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boardenvs.cli.options import AsJson, GameName, Seed, TournamentSquares, player_names

if TYPE_CHECKING:
    from rich.console import Console

    from boardenvs.agents import Agent
    from boardenvs.game.contract import Game, Position
    from boardenvs.play import MoveNotation, Review
    from boardenvs.records import Record
    from boardenvs.search import Analysis, Limits


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
            help="An agent such as `trained` or `mcts:simulations=400`. Default: the exact "
            "solution where the game is solved, else a search.",
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
        from boardenvs.agents import agent_for, default_analyst
        from boardenvs.cli.console import make_console
        from boardenvs.games import parse
        from boardenvs.play import MoveNotation

        game = parse(self.game)
        notation = MoveNotation(game, self.tournament)
        agent = agent_for(game, self.agent or default_analyst(game))
        record = None
        if self.what is not None and Path(self.what).is_file():
            record = _find(game, Path(self.what), self.number or 1)
        self._check(record)
        console = make_console()
        if record is not None and self.ply is None:
            self._review(console, notation, record, agent)
            return
        position = game.start()
        if record is not None:
            position = _at(record, self.ply or 0)
        elif self.what is not None:
            position = _parse(game, self.what)
        found = self._analyse(console, notation, position, agent)
        _show(console, notation, [found], self.as_json, self.moves)

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

    def _analyse(
        self, console: Console, notation: MoveNotation, position: Position, agent: Agent
    ) -> Analysis:
        """With `--time` the last analysis before the time is up; those before it are shown on a
        terminal.
        """
        import time

        import numpy as np
        from rich.live import Live

        from boardenvs.agents import analyse, analyse_steadily
        from boardenvs.cli.tables import moves_table

        rng = np.random.default_rng(self.seed)
        if self.time is None:
            return analyse(position, agent, rng=rng)
        end, latest = time.monotonic() + self.time, None
        with Live(console=console, transient=True, refresh_per_second=8) as live:
            stop = lambda: time.monotonic() > end  # noqa: E731
            try:
                for latest in analyse_steadily(position, agent, stop, rng):
                    if console.is_terminal and not self.as_json:
                        live.update(moves_table(notation, latest, self.moves))
            except KeyboardInterrupt:
                if latest is None:
                    raise
        assert latest is not None, "there is one analysis at least"
        return latest

    def _review(
        self, console: Console, notation: MoveNotation, record: Record, agent: Agent
    ) -> None:
        from boardenvs.cli.console import make_progress, print_json
        from boardenvs.cli.tables import review_json, show_review
        from boardenvs.play import review

        with make_progress() as progress:
            update = partial(progress.update, progress.add_task("positions", total=None))
            found = review(
                record,
                agent,
                seed=self.seed,
                progress=lambda done, of: update(completed=done, total=of),
            )
        if self.as_json:
            print_json(review_json(notation, found))
        else:
            show_review(console, notation, found)
        if self.graph is not None:
            _draw(notation, found, self.graph)
            if not self.as_json:
                console.print(f"the graph is in {self.graph}", markup=False)


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
        from boardenvs.cli.console import make_console, make_progress
        from boardenvs.cli.tables import counts_table
        from boardenvs.game.fen import parse_position
        from boardenvs.games import parse
        from boardenvs.kernel.backend import no_compiling
        from boardenvs.play import MoveNotation
        from boardenvs.tablebase import Tablebase

        if self.file is not None and self.position is not None:
            raise ValueError("--file and --position are both given: one of them says what to solve")
        game = parse(self.game)
        has_table = Tablebase.covers(game)
        # A table needs no compiled rules; search does.
        with no_compiling() if has_table else nullcontext(), make_progress() as progress:
            limits = self._limits(game)
            roots = [game.start()]
            if self.position is not None:
                roots = [parse_position(game, self.position)]
            elif self.file is not None:
                roots = _read(game, self.file)
            if has_table:
                task = progress.add_task("the table", total=None)
                Tablebase.load(
                    game,
                    lambda what, done, of: progress.update(
                        task, description=what, completed=done, total=of
                    ),
                )
            found = [
                self._solve(game, root, limits)
                for root in progress.track(roots, description="positions")
            ]
        console, notation = make_console(), MoveNotation(game)
        count = 0 if self.moves or has_table else None
        _show(console, notation, found, self.as_json, count, many=self.file is not None)
        if has_table and not self.as_json and self.file is None:
            counts = [count._asdict() for count in Tablebase.load(game).counts()]
            console.print(counts_table(counts))

    def _limits(self, game: Game) -> Limits:
        """ValueError where one is wrong, or where there is nothing to search by."""
        from boardenvs.search import ENDGAME, Limits
        from boardenvs.tablebase import Tablebase

        if not (game.has_heuristic or Tablebase.covers(game)):
            raise ValueError(game.no_heuristic)
        return Limits(self.depth, time=self.time, endgame=ENDGAME)

    def _solve(self, game: Game, root: Position, limits: Limits) -> Analysis:
        import time
        from dataclasses import replace

        import numpy as np

        from boardenvs.agents import analyse, exact_analyst
        from boardenvs.search import search_position
        from boardenvs.search.analysis import ranked
        from boardenvs.tablebase import Tablebase

        if Tablebase.covers(game) or root.is_over():
            rng = np.random.default_rng(self.seed)
            return analyse(root, exact_analyst(game), rng=rng)
        began = time.perf_counter()
        found = search_position(root, limits, moves=self.moves)
        return replace(ranked(found), seconds=time.perf_counter() - began)


def _show(
    console: Console,
    notation: MoveNotation,
    found: list[Analysis],
    as_json: bool,
    count: int | None,
    *,
    many: bool = False,
) -> None:
    """A position's analysis in full, or a row for each of many."""
    from boardenvs.cli.console import make_table, print_json
    from boardenvs.cli.tables import show_analysis, summary

    if as_json:
        answers = [one.to_json(notation.write) for one in found]
        print_json(answers if many else answers[0])
    elif many:
        rows = [
            {
                "": number,
                "position": one.position.fen(),
                "outcome": summary(one),
                "best move": one.names(one.line[:1], notation.write)[0] if one.line else "",
                "seconds": f"{one.seconds:.2f}",
            }
            for number, one in enumerate(found, start=1)
        ]
        console.print(make_table(rows, "Positions"))
    else:
        show_analysis(console, notation, found[0], count)


def _draw(notation: MoveNotation, found: Review, path: Path) -> None:
    from boardenvs.play.graph import draw_graph
    from boardenvs.utils.files import write_atomically

    try:
        graph = draw_graph(found, path.suffix.lstrip("."), notation)
    except ImportError as error:
        raise ValueError(str(error)) from error
    write_atomically(path, graph)


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
