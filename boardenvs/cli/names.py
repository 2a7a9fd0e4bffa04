"""The names of games and players as arguments of commands, which the shell can complete."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer


def game_names(incomplete: str) -> list[str]:
    """The games whose names begin so."""
    from boardenvs.games import GAMES

    return [name for name in GAMES if name.startswith(incomplete)]


def player_names(incomplete: str) -> list[str]:
    """The players whose names begin so."""
    from boardenvs.agents import AGENTS

    return [name for name in AGENTS if name.startswith(incomplete)]


GameName: TypeAlias = Annotated[
    str, typer.Argument(help="The game, such as `othello`.", autocompletion=game_names)
]
FirstPlayer: TypeAlias = Annotated[
    str,
    typer.Argument(help="A player, such as `alphabeta:depth=4`.", autocompletion=player_names),
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
    str, typer.Argument(help="Another, or the same.", autocompletion=player_names)
]
