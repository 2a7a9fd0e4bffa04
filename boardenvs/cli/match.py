"""`boardenvs match`: two players against each other."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boardenvs.cli.options import FirstPlayer, GameName, OpeningPlies, SecondPlayer, Seed

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from boardenvs.agents import Agent
    from boardenvs.arena.match import MatchResult, Ongoing
    from boardenvs.game.contract import Game
    from boardenvs.game.state import BoolArray, FloatArray


@dataclass(frozen=True)
class Match:
    r"""Play a match, and say how it went, by role too, with 95 % intervals.

    ```
    boardenvs match othello alphabeta:depth=4 greedy
    boardenvs match wolf_and_sheep perfect trained --record games.jsonl
    boardenvs match othello greedy python:my_module:policy --pairs 200
    ```

    By the measure of the literature on learning Othello, the Othello League's (games from the start
    against its standard weights one ply deep, a tenth of all moves random):

    ```
    boardenvs match othello alphabeta:depth=1,evaluation=trained positional \
      --opening-plies 0 0 --noise 0.1 --pairs 5000
    ```
    """

    game: GameName
    first: FirstPlayer
    second: SecondPlayer
    pairs: Annotated[
        int,
        typer.Option(
            help="Openings, every one played twice with roles swapped.", min=1, max=100_000
        ),
    ] = 50
    opening_plies: OpeningPlies = None
    noise: Annotated[
        float,
        typer.Option(help="Share of the plies, of both players, that are random.", min=0, max=1),
    ] = 0.0
    seed: Seed = 0
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the games, in the format of the file's ending."),
    ] = None

    def run(self) -> None:
        from boardenvs import records
        from boardenvs.agents import check_game, make_agent
        from boardenvs.cli.console import make_console
        from boardenvs.games import parse
        from boardenvs.utils.files import check_writable

        game, console = parse(self.game), make_console()
        players = make_agent(self.first), make_agent(self.second)
        for player in players:
            check_game(player, game)
        names = self.first, self.second
        keeper = None
        if self.record is not None:
            records.format_of(self.record)  # before the match is played
            check_writable(self.record)
            keeper = _Keeper(self.record, game, names)
        result = self._play(console, game, players, keeper)
        console.print(_table(game, names, result))
        for name, faults in zip(names, result.faults, strict=True):
            if note := faults.explain(name, result.games):
                console.print(note, style="yellow", markup=False, soft_wrap=True)
        if keeper is not None:
            lacking = keeper.save(result)
            console.print(f"{result.games:,} games are in {keeper.path}", markup=False)
            if lacking:
                console.print(f"that format does not hold their {' and '.join(lacking)}")

    def _play(
        self, console: Console, game: Game, players: tuple[Agent, Agent], keeper: _Keeper | None
    ) -> MatchResult:
        from boardenvs.arena import play_match
        from boardenvs.cli.console import make_progress

        name = f"{self.first} - {self.second}"
        seen: list[Ongoing] = []
        with make_progress(console) as progress:
            task = progress.add_task(name, total=2 * self.pairs)

            def show(games: Ongoing) -> None:
                seen[:] = [games]
                progress.update(
                    task, completed=games.over, description=f"{name}, ply {games.plies}"
                )
                if keeper is not None:
                    keeper.keep(games)

            try:
                return play_match(
                    game,
                    *players,
                    self.pairs,
                    opening_plies=self.opening_plies,
                    noise=self.noise,
                    seed=self.seed,
                    progress=show,
                )
            except BaseException:
                progress.stop()
                if keeper is not None:
                    keeper.keep_last(console, seen[0] if seen else None)
                raise


class _Keeper:
    """Keeps the games of a match that are over, so that an end before its time loses none."""

    _EVERY = 10.0  # seconds

    def __init__(self, path: Path, game: Game, names: tuple[str, str]) -> None:
        self.path = path
        self._game = game
        self._names = names
        self._kept = 0
        self._next = time.monotonic() + self._EVERY

    def save(self, result: MatchResult) -> list[str]:
        """Write the games that are over; what the file's format does not hold of them."""
        from boardenvs import records

        return records.save(self.path, records.record_match(self._game, result, self._names))

    def keep(self, games: Ongoing) -> None:
        """Write the games that are over, now and then."""
        if games.over > self._kept and time.monotonic() >= self._next:
            self.save(games.result())
            self._kept = games.over
            self._next = time.monotonic() + self._EVERY

    def keep_last(self, console: Console, games: Ongoing | None) -> None:
        """Write the games that are over in a match that will not end, and say how many."""
        over, total = (games.over, games.total) if games is not None else (0, 0)
        if games is None or not over:
            console.print(f"no game is over: {self.path} is not written", markup=False)
            return
        self.save(games.result())
        console.print(f"the {over} of {total} games that are over are in {self.path}", markup=False)


def _table(game: Game, players: tuple[str, str], result: MatchResult) -> Table:
    from rich.table import Table

    table = Table(
        title=" against ".join(players),
        caption=f"{result.openings} openings, {result.mean_plies:.1f} plies a game; the intervals, "
        f"of 95 %, are over openings. {result.note}".strip(),
    )
    for name in ("", "games", "won", "drawn", "lost", "score"):
        table.add_column(name, justify="right" if name else "left")
    rows = {"all": result.scores} | {
        f"as {role}": result.scores[[i]] for i, role in enumerate(game.roles)
    }
    for name, scores in rows.items():
        outcomes = (_count(scores == value) for value in (1, 0.5, 0))
        mean = f"{scores.mean():.3f}"
        table.add_row(name, str(scores.size), *outcomes, f"{mean} {_interval(scores.mean(axis=0))}")
    return table


def _count(games: BoolArray) -> str:
    """How many games are marked, and the interval of their share."""
    return f"{int(games.sum())} {_interval(games.mean(axis=0))}"


def _interval(scores: FloatArray) -> str:
    from boardenvs.arena import score_interval

    low, high = score_interval(scores)
    return f"[{low:.3f}, {high:.3f}]"
