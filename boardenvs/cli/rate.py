"""`boardenvs rate`: the rating of a player, from games against a published rating pool."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from boardenvs.cli.options import AsJson, Player, Seed, Workers, game_names
from boardenvs.report import ReportTable
from boardenvs.utils.console import make_console

if TYPE_CHECKING:
    from boardenvs.arena.estimate import Estimate
    from boardenvs.arena.pools import RatingPool


@dataclass(frozen=True)
class RateCommand:
    """Estimate a player's rating by the rating pool of a game, in two minutes at most.

    The player meets the pool's anchors, players of known strength, most often those near its own.
    At least eight games are played, so a player that thinks for seconds takes longer. Ratings are
    Elo points above random play: 400 points are odds of 10 to 1. A player that is stronger or
    weaker than all anchors is outside the pool; its rating comes from games against the nearest.

    ```
    boardenvs rate trained
    boardenvs rate python:my_module:policy --game lines_of_action
    boardenvs rate level:5 --game othello --games 400 --json
    ```
    """

    agent: Player
    game: Annotated[
        str,
        Option(metavar="GAME", help="The game to rate the player in.", autocompletion=game_names),
    ] = "othello"
    games: Annotated[
        int,
        Option(metavar="N", help="Games at most; openings are played twice.", min=2, max=100_000),
    ] = 1000
    seconds: Annotated[
        float, Option(help="Seconds at most; if they end it, results vary with the machine.")
    ] = 100.0
    seed: Seed = 0
    workers: Workers = None
    as_json: AsJson = False

    def run(self) -> None:
        from boardenvs.arena.estimate import estimate_rating
        from boardenvs.arena.executor import Executor
        from boardenvs.arena.match import note_on_openings
        from boardenvs.arena.pools import rating_pool
        from boardenvs.games import parse
        from boardenvs.utils.console import counting, print_json, print_report

        if not self.seconds > 0:
            raise ValueError(f"--seconds is {self.seconds}: it must be more than 0")
        game = parse(self.game)
        pool, name = rating_pool(game), f"rating {self.agent}"
        with Executor(self.workers) as executor, counting(name) as show:
            found = estimate_rating(
                game,
                self.agent,
                pool,
                games=self.games,
                seconds=self.seconds,
                seed=self.seed,
                executor=executor,
                progress=lambda games, rating: show(games, self.games, f"{name}: {rating:.0f}"),
            )
        note, counted = note_on_openings(game), found.stats.counts
        if self.as_json:
            more = {"counted": counted} if counted else {}
            print_json(self._to_json(pool, found, note) | more)
        else:
            self._print(pool, found, note)
            print_report(make_console(), counted)
        if found.stats.forfeits == found.games:
            raise typer.Exit(1)

    def _print(self, pool: RatingPool, found: Estimate, note: str) -> None:
        from boardenvs.arena.player import time_text

        console = make_console()
        rows = [
            {
                "anchor": row.agent,
                "rating": f"{row.rating:.0f}",
                "games": str(row.games),
                "score": f"{row.score:.3f}",
                "expected": f"{row.expected:.3f}",
            }
            for row in found.against
        ]
        console.print(ReportTable(rows, "Games against the anchors"))
        console.print(f"\n{_verdict(self.agent, pool, found)}", style="bold", soft_wrap=True)
        thought = time_text(found.stats.ms_per_move)
        took = f"{found.seconds:.0f} s" + (f", {thought} of CPU a move" if thought else "")
        console.print(
            f"{found.games} games in {took}; the pool was measured on {pool.made} "
            f"with version {pool.boardenvs}. {note}".strip(),
            soft_wrap=True,
        )
        if fault := found.stats.explain(self.agent, found.games):
            console.print(fault, style="yellow", soft_wrap=True)

    def _to_json(self, pool: RatingPool, found: Estimate, note: str) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "game": pool.game,
            "rating": round(found.rating, 1),
            "low": None if found.low is None else round(found.low, 1),
            "high": None if found.high is None else round(found.high, 1),
            "where": found.where,
            "games": found.games,
            "seconds": round(found.seconds, 3),
            "seed": self.seed,
            "pool": {"made": pool.made, "boardenvs": pool.boardenvs},
            "against": [asdict(against) for against in found.against],
            "cpu_ms_per_move": found.stats.ms_per_move,
            "forfeits": found.stats.forfeits,
            "message": found.stats.message,
            "note": note,
        }


def _verdict(agent: str, pool: RatingPool, found: Estimate) -> str:
    """Return the rating in a sentence, and another one if it is outside the pool."""
    if found.low is None:
        said = f"{agent} lost all games: it is rated {found.high:.0f} at most."
    elif found.high is None:
        said = f"{agent} won all games: it is rated {found.low:.0f} at least."
    else:
        said = (
            f"{agent} is rated {found.rating:.0f}, with a 95 % interval from {found.low:.0f} to "
            f"{found.high:.0f}."
        )
    ends = {"above": (-1, "above the pool's strongest"), "below": (0, "below the pool's weakest")}
    if found.where not in ends:
        return said
    place, where = ends[found.where]
    anchor = pool.anchors[place]
    return f"{said} It is {where}, {anchor.agent} ({anchor.rating:.0f})."
