"""`boardenvs analyse`: the values of moves, by any player."""

from __future__ import annotations

import contextlib
import errno
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from typer import Argument, Option

from boardenvs.agents import Agent, agent_for
from boardenvs.agents.analyse import AnalysisClock, analyse, analyse_until, default_analyst, prove
from boardenvs.cli.options import (
    AsJson,
    GameName,
    Seed,
    check_rules,
    chosen,
    player_names,
    position_of,
)
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.games import parse
from boardenvs.search import Analysis
from boardenvs.utils.console import counting, make_console, print_json

if TYPE_CHECKING:
    from boardenvs.records import Record

_PROVING = 60.0  # seconds, unless --time says otherwise


@dataclass
class AnalyseCommand:
    r"""Show the value of every move of a position, and the line of best play.

    The value is for the side to move; its unit is shown, and whether it is proven. With `--prove`,
    the command tries to prove the result: Othello with at most 24 empty squares is solved to
    the last disc, a solved game is played perfectly, other positions are searched deeper and
    deeper.

    Given a file of recorded games, it reviews one: for each ply the value of the move, the better
    one, and what was lost. Without `--with`, it searches the game twice, the second time deeply
    from the end to the start, as the web page does.

    ```
    boardenvs analyse othello
    boardenvs analyse wolf_and_sheep --json
    boardenvs analyse othello "8/8/8/3wb3/3bw3/8/8/8 black" --with mcts --time 5
    boardenvs analyse lines_of_action \
      "2bbb3/1b3w2/w2ww3/w1w1wb2/w4wb1/w2b4/w3b3/5bbb white 17" --prove
    boardenvs analyse othello games.jsonl --number 3
    ```
    """

    game: GameName
    what: Annotated[
        str | None,
        Argument(
            metavar="POSITION|FILE",
            help="A position: rows from the top, side to move and plies played; or 64 squares from "
            "a1 to h8 as `X`, `O` and `-`, then `X` or `O` to move; in chess FEN. Or a file of "
            "recorded games. Default: the start of the game.",
        ),
    ] = None
    agent: Annotated[
        str | None,
        Option(
            "--with",
            metavar="AGENT",
            help="An agent such as `trained` or `mcts:simulations=400`. Default: the exact "
            "solution if the game is solved, else a search.",
            autocompletion=player_names,
        ),
    ] = None
    prove: Annotated[
        bool, Option("--prove", help="Look for a proof, one minute long or as `--time` says.")
    ] = False
    number: Annotated[
        int | None,
        Option(
            metavar="N", help="Which game of the file, counted from 1.", min=1,
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
            metavar="SECONDS",
            help="Search for this long. Default: the agent's own limits.",
            min=0.01,
        ),
    ] = None
    moves: Annotated[
        int, Option(metavar="N", help="How many moves to show; 0: all.", min=0)
    ] = 12  # fmt: skip
    seed: Seed = 0
    as_json: AsJson = False

    def run(self) -> None:
        from boardenvs.cli.tables import show_analysis

        if Path(self.game).is_file():
            raise ValueError(
                f"GAME is {self.game}, a file: the game stands before it, as in "
                f"`boardenvs analyse othello {self.game}`"
            )
        game = parse(self.game)
        agent = agent_for(game, self.agent or default_analyst(game))
        record = None
        if self.what is not None and Path(self.what).is_file():
            record = self._find(game, Path(self.what))
        self._check(record is not None)
        if record and self.ply is None:
            self._review(record)
            return
        position = self._position(game, record)
        if self.prove:
            with counting("searching"):
                rng = np.random.default_rng(self.seed)
                analysis = prove(position, self.time or _PROVING, rng)
        else:
            analysis = self._analyse(position, agent)
        if self.as_json:
            print_json(analysis.to_json())
        else:
            shown = None if self.prove and len(analysis.moves) < 2 else self.moves
            show_analysis(make_console(), analysis, shown)

    def _check(self, is_recorded: bool) -> None:
        """Raise ValueError for options that do not go together."""
        for name in ("number", "ply"):
            if not is_recorded and getattr(self, name) is not None:
                raise ValueError(f"--{name} is for a recorded game: name its file")
        if is_recorded and self.ply is None and (self.time is not None or self.prove):
            name = "--prove" if self.prove else "--time"
            raise ValueError(f"{name} is for one position: say which with --ply")
        if self.prove and self.agent is not None:
            raise ValueError("--prove chooses the agent itself: leave --with out")

    def _find(self, game: Game, file: Path) -> Record:
        """Return the recorded game; ValueError if it is of another game."""
        from boardenvs import records

        record = chosen(records.load(file, game=game), file, self.number)
        check_rules(f"game {self.number or 1} of {file}", record.game, game)
        return record

    def _position(self, game: Game, record: Record | None) -> Position:
        from boardenvs.records import replay

        if record:
            positions, ply = replay(record), self.ply or 0
            if ply >= len(positions):
                raise ValueError(
                    f"the game has {len(positions) - 1} plies: there is no position after ply {ply}"
                )
            return positions[ply]
        if self.what is not None and len(self.what.split()) == 1:
            problem = "there is no such file, and it is no position"
            raise FileNotFoundError(errno.ENOENT, problem, self.what)
        return position_of(game, self.what)

    def _analyse(self, position: Position, agent: Agent) -> Analysis:
        """Return the analysis, the last one within `--time`."""
        rng, latest = np.random.default_rng(self.seed), None
        with make_console(errors=True).status("analysing"):
            if self.time is None:
                return analyse(position, agent, rng=rng)
            clock = AnalysisClock(self.time)
            with contextlib.suppress(KeyboardInterrupt):
                for analysis in analyse_until(position, agent, clock.is_over, rng):
                    latest = clock.start(analysis)
        if latest is None:
            raise KeyboardInterrupt
        return latest

    def _review(self, record: Record) -> None:
        from boardenvs.cli.tables import review_json, show_review
        from boardenvs.play import review

        with counting("positions") as show:
            result = review(record, self.agent, seed=self.seed, progress=show)
        if self.as_json:
            print_json(review_json(result))
        else:
            show_review(make_console(), result)
