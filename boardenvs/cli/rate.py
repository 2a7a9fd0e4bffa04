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


@dataclass
class RateCommand:
    """Estimate a player's rating by the rating pool of a game, in about two minutes.

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
        Option(help="The game to rate the player in.", autocompletion=game_names),
    ] = "othello"
    games: Annotated[
        int,
        Option(metavar="N", help="Games at most; openings are played twice.", min=2, max=100_000),
    ] = 1000
    seconds: Annotated[
        float,
        Option(help="Seconds, roughly; if they end it, results vary with the machine.", min=0.01),
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

        game = parse(self.game)
        pool, name = rating_pool(game), f"rating {self.agent}"
        with Executor(self.workers) as executor, counting(name) as show:
            estimate = estimate_rating(
                game,
                self.agent,
                pool,
                games=self.games,
                seconds=self.seconds,
                seed=self.seed,
                executor=executor,
                progress=lambda games, rating: show(games, self.games, f"{name}: {rating:.0f}"),
            )
        note, counted = note_on_openings(game), estimate.stats.counts
        if self.as_json:
            more = {"counted": counted} if counted else {}
            print_json(self._to_json(pool, estimate, note) | more)
        else:
            self._print(pool, estimate, note)
            print_report(make_console(), counted)
        if estimate.stats.forfeits == estimate.games:
            raise typer.Exit(1)

    def _print(self, pool: RatingPool, estimate: Estimate, note: str) -> None:
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
            for row in estimate.against
        ]
        console.print(ReportTable(rows, "Games against the anchors"))
        console.print(f"\n{_verdict(self.agent, pool, estimate)}", style="bold", soft_wrap=True)
        thought = time_text(estimate.stats.ms_per_move)
        took = f"{estimate.seconds:.0f} s" + (f", {thought} of CPU a move" if thought else "")
        console.print(
            f"{estimate.games} games in {took}; the pool was measured on {pool.made} "
            f"with version {pool.boardenvs}. {note}".strip(),
            soft_wrap=True,
        )
        if fault := estimate.stats.explain(self.agent, estimate.games):
            console.print(fault, style="yellow", soft_wrap=True)

    def _to_json(self, pool: RatingPool, estimate: Estimate, note: str) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "game": pool.game,
            "rating": round(estimate.rating, 1),
            "low": None if estimate.low is None else round(estimate.low, 1),
            "high": None if estimate.high is None else round(estimate.high, 1),
            "where": estimate.where,
            "games": estimate.games,
            "seconds": round(estimate.seconds, 3),
            "seed": self.seed,
            "pool": {"made": pool.made, "boardenvs": pool.boardenvs},
            "against": [asdict(against) for against in estimate.against],
            "cpu_ms_per_move": estimate.stats.ms_per_move,
            "forfeits": estimate.stats.forfeits,
            "message": estimate.stats.message,
            "note": note,
        }


def _verdict(agent: str, pool: RatingPool, estimate: Estimate) -> str:
    """Return the rating in a sentence, and another one if it is outside the pool."""
    if estimate.low is None:
        said = f"{agent} lost all games: it is rated {estimate.high:.0f} at most."
    elif estimate.high is None:
        said = f"{agent} won all games: it is rated {estimate.low:.0f} at least."
    else:
        said = (
            f"{agent} is rated {estimate.rating:.0f}, with a 95 % interval from "
            f"{estimate.low:.0f} to {estimate.high:.0f}."
        )
    ends = {"above": (-1, "above the pool's strongest"), "below": (0, "below the pool's weakest")}
    if estimate.where not in ends:
        return said
    place, where = ends[estimate.where]
    anchor = pool.anchors[place]
    return f"{said} It is {where}, {anchor.agent} ({anchor.rating:.0f})."
