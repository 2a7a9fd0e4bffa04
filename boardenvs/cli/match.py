"""`boardenvs match`: two players against each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from boardenvs.arena.match import MatchResult
    from boardenvs.game.contract import Game
    from boardenvs.game.state import BoolArray, FloatArray


def match(
    game: Annotated[str, typer.Argument(help="The game, such as `othello`.")],
    first: Annotated[str, typer.Argument(help="A player, such as `alphabeta:depth=4`.")],
    second: Annotated[str, typer.Argument(help="Another, or the same.")],
    pairs: Annotated[
        int, typer.Option(help="Openings, every one played twice with roles swapped.", min=1)
    ] = 50,
    opening_plies: Annotated[
        tuple[int, int] | None,
        typer.Option(
            metavar="LOW HIGH",
            help="Random plies of an opening. Default: by game, such as 6 10 for Othello.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="What all chance hangs on.")] = 0,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the games, in the format of the file's ending."),
    ] = None,
) -> None:
    """Play a match, and say how it went, by role too, with 95 % intervals.

    ```
    boardenvs match othello alphabeta:depth=4 greedy
    boardenvs match wolf_and_sheep perfect mcts:rollouts=200 --record games.jsonl
    boardenvs match othello greedy python:my_module:policy --pairs 200
    ```
    """
    from boardenvs import records
    from boardenvs.agents import check_game, make_agent
    from boardenvs.arena import play_match
    from boardenvs.arena.book import opening_plies as usual_plies
    from boardenvs.arena.book import undecided
    from boardenvs.cli.console import make_console, make_progress
    from boardenvs.games import parse

    rules = parse(game)
    players = make_agent(first), make_agent(second)
    for player in players:
        check_game(player, rules)
    if record is not None:
        records.format_of(record)  # before the match is played
    console = make_console()
    with make_progress(console) as progress:
        task = progress.add_task(f"{first} - {second}", total=2 * pairs)
        result = play_match(
            rules,
            *players,
            pairs,
            opening_plies=opening_plies or usual_plies(rules),
            keep=undecided,
            seed=seed,
            record=record is not None,
            progress=lambda done, total: progress.update(task, completed=done),
        )
    console.print(_table(rules, first, second, result))
    for name, conduct in zip((first, second), result.conduct, strict=True):
        if note := conduct.explain(name, result.games, ""):
            console.print(note, style="yellow", markup=False, soft_wrap=True)
    if record is not None:
        lacking = records.save(record, records.record_match(rules, result, (first, second)))
        console.print(f"{result.games:,} games are in {record}", markup=False)
        if lacking:
            console.print(f"that format does not hold their {' and '.join(lacking)}")


def _table(game: Game, first: str, second: str, result: MatchResult) -> Table:
    from rich.table import Table

    table = Table(
        title=f"{first} against {second}",
        caption=f"{result.openings} openings, {result.mean_plies:.1f} plies a game; the intervals, "
        "of 95 %, are over openings",
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
