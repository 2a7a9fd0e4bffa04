"""Arguments and options that several commands have; the shell can complete games and players."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from boardenvs.utils.checks import cut


def game_names(incomplete: str) -> list[str]:
    """The games whose names begin so."""
    from boardenvs.games import GAMES

    return [name for name in GAMES if name.startswith(incomplete)]


def player_names(incomplete: str) -> list[str]:
    """The players whose names begin so."""
    from boardenvs.agents import AGENTS

    return [name for name in AGENTS if name.startswith(incomplete)]


def check_ending(option: str, path: Path | None, *endings: str) -> None:
    """ValueError where the ending of a file's name says that it is of another kind."""
    if path is not None and path.suffix.lower() not in ("", *endings):
        right = " or ".join(endings)
        raise ValueError(f"{option} is {cut(str(path))}: the name of such a file ends in {right}")


GameName: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="GAME", help="The game, such as `othello`.", autocompletion=game_names),
]
FirstPlayer: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FIRST", help="A player, such as `alphabeta:depth=4`.", autocompletion=player_names
    ),
]
Player: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="AGENT",
        help="A player, such as `trained` or `python:MODULE:NAME`.",
        autocompletion=player_names,
    ),
]
SecondPlayer: TypeAlias = Annotated[
    str, typer.Argument(metavar="SECOND", help="Another, or the same.", autocompletion=player_names)
]

Seed: TypeAlias = Annotated[int, typer.Option(help="Seed of all random choices.", min=0)]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OpeningPlies: TypeAlias = Annotated[
    tuple[int, int] | None,
    typer.Option(
        metavar="LOW HIGH",
        help="Random plies of an opening. Default: by game, such as 6 10 for Othello.",
        show_default=False,
    ),
]
TournamentSquares: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--tournament",
        help="Othello: name squares as tournaments do, with rows counted from the top.",
    ),
]
