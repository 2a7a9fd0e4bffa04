"""`boardenvs rate`: where a player stands on the published scale of a game."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boardenvs.cli.options import AsJson, Player, Seed, game_names

if TYPE_CHECKING:
    from rich.table import Table

    from boardenvs.arena.playing.player import Conduct
    from boardenvs.arena.scale.place import Placement
    from boardenvs.arena.scale.scale import Scale


@dataclass(frozen=True)
class Rate:
    """Find a player's rating on the published scale of a game, in two minutes at most.

    The player meets the scale's reference players, most often those of its own strength. Eight
    games are played in any case, so a player that thinks for seconds takes longer. Ratings are Elo
    points above random play: 400 points are odds of 10 to 1. Where the player is surely stronger
    than all references, or weaker, it is off the scale, and the rating says how far as well as
    games against the nearest ones can.

    ```
    boardenvs rate trained
    boardenvs rate python:my_module:policy --game lines_of_action
    boardenvs rate level:5 --game othello --games 400 --json
    ```
    """

    agent: Player
    game: Annotated[
        str,
        typer.Option(help="The game, such as `lines_of_action`.", autocompletion=game_names),
    ] = "othello"
    games: Annotated[
        int, typer.Option(help="Games at most; each opening is played twice.", min=2, max=100_000)
    ] = 1000
    seconds: Annotated[
        float,
        typer.Option(help="Seconds at most, about; if they end it, results vary with the machine."),
    ] = 100.0
    seed: Seed = 0
    as_json: AsJson = False

    def run(self) -> None:
        from boardenvs.agents import agent_for
        from boardenvs.arena.scale.scale import scale_of
        from boardenvs.cli.console import make_console
        from boardenvs.games import parse

        if not self.seconds > 0:
            raise ValueError(f"--seconds is {self.seconds}: it must be more than 0")
        game = parse(self.game)
        scale = scale_of(game)
        found = self._place(game, agent_for(game, self.agent), scale)
        if self.as_json:
            typer.echo(json.dumps(self._to_json(scale, found), indent=1))
            return
        console = make_console()
        console.print(_table(found))
        console.print(f"\n{_verdict(self.agent, scale, found)}", style="bold", soft_wrap=True)
        console.print(
            f"{found.games} games in {found.seconds:.0f} s; the scale was measured on "
            f"{scale.made} with version {scale.boardenvs}",
            soft_wrap=True,
        )
        if note := _sum(found).explain(self.agent, found.games, ""):
            console.print(note, style="yellow", soft_wrap=True)

    def _place(self, game: Any, agent: Any, scale: Scale) -> Placement:
        from boardenvs.arena.scale.place import place
        from boardenvs.cli.console import make_console, make_progress

        with make_progress(make_console(errors=True)) as progress:
            task = progress.add_task(f"rating {self.agent}", total=self.games)

            def show(games: int, rating: float) -> None:
                progress.update(
                    task, completed=games, description=f"rating {self.agent}: {rating:.0f}"
                )

            return place(
                game,
                agent,
                scale,
                games=self.games,
                seconds=self.seconds,
                without=self.agent,
                seed=self.seed,
                progress=show,
            )

    def _to_json(self, scale: Scale, found: Placement) -> dict[str, Any]:
        conduct = _sum(found)
        return {
            "agent": self.agent,
            "game": scale.game,
            "rating": round(found.rating, 1),
            "low": None if found.low is None else round(found.low, 1),
            "high": None if found.high is None else round(found.high, 1),
            "where": found.where,
            "games": found.games,
            "seconds": round(found.seconds, 3),
            "seed": self.seed,
            "scale": {"made": scale.made, "boardenvs": scale.boardenvs},
            "against": [asdict(against) for against in found.against],
            "forfeits": conduct.forfeits,
            "message": conduct.message,
        }


def _table(found: Placement) -> Table:
    from rich.table import Table

    table = Table(title="Games against the references")
    table.add_column("reference")
    for name in ("rating", "games", "score", "expected"):
        table.add_column(name, justify="right")
    for row in found.against:
        scores = f"{row.score:.3f}", f"{row.expected:.3f}"
        table.add_row(row.agent, f"{row.rating:.0f}", str(row.games), *scores)
    return table


def _verdict(agent: str, scale: Scale, found: Placement) -> str:
    """The rating in a sentence, and another where it is off the scale."""
    lowest, highest = scale.references[0], scale.references[-1]
    if found.low is None:
        said = f"{agent} lost all games: it is rated {found.high:.0f} at most."
    elif found.high is None:
        said = f"{agent} won all games: it is rated {found.low:.0f} at least."
    else:
        said = (
            f"{agent} is rated {found.rating:.0f}, with a 95 % interval from {found.low:.0f} to "
            f"{found.high:.0f}."
        )
    if found.where == "above":
        return f"{said} It is off the scale: above {highest.agent} ({highest.rating:.0f})."
    if found.where == "below":
        return f"{said} It is off the scale: below {lowest.agent} ({lowest.rating:.0f})."
    return said


def _sum(found: Placement) -> Conduct:
    """The player's conduct over all matches."""
    from boardenvs.arena.playing.player import Conduct

    return Conduct(
        forfeits=sum(conduct.forfeits for conduct in found.conduct),
        message=next((c.message for c in found.conduct if c.message), None),
        repeats=sum(conduct.repeats for conduct in found.conduct),
    )
