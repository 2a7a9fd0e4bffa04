"""Arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from typer import Argument, Option

from boardenvs.agents import AGENTS
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.games import GAMES, spec_of

if TYPE_CHECKING:
    from boardenvs.records import Record


def game_names(incomplete: str) -> list[str]:
    """Return the games whose names begin so, for the shell to complete."""
    return [name for name in GAMES if name.startswith(incomplete)]


def player_names(incomplete: str) -> list[str]:
    """Return the players whose names begin so, for the shell to complete."""
    return [name for name in AGENTS if name.startswith(incomplete)]


def position_of(game: Game, text: str | None) -> Position:
    """Return the position that a text describes, by default the game's start."""
    return game.start() if text is None else parse_position(game, text)


def check_rules(name: str, recorded: Game, game: Game) -> None:
    """Raise ValueError if a recorded game of this name has other rules, and say which one it is if
    it only has another name.
    """
    if not recorded.has_rules_of(game):
        raise ValueError(f"{name} is {spec_of(recorded)}, not {spec_of(game)}")
    if recorded.id != game.id:
        typer.echo(f"{name} is {spec_of(recorded)}, which has the rules of {game.id}", err=True)


def chosen(records: Sequence[Record], file: Path, number: int | None) -> Record:
    """Return a game of a file, by default the first; ValueError if there are fewer."""
    number = number or 1
    if number > len(records):
        raise ValueError(f"{file} has {len(records)} games: there is no game {number}")
    return records[number - 1]


GameName: TypeAlias = Annotated[
    str,
    Argument(help="The game, such as `othello`.", autocompletion=game_names),
]
FirstPlayer: TypeAlias = Annotated[
    str,
    Argument(help="A player, such as `alphabeta:depth=4`.", autocompletion=player_names),
]
Player: TypeAlias = Annotated[
    str,
    Argument(
        help="A player, such as `trained` or `python:MODULE:NAME`.",
        autocompletion=player_names,
    ),
]
SecondPlayer: TypeAlias = Annotated[
    str, Argument(help="Another, or the same.", autocompletion=player_names)
]

Seed: TypeAlias = Annotated[int, Option(metavar="N", help="Seed of all random choices.", min=0)]
Workers: TypeAlias = Annotated[
    int | None,
    Option(
        metavar="N",
        help="Processes to play in. Default: this one; an arena takes one a core.",
        min=1,
    ),
]
Overwrite: TypeAlias = Annotated[bool, Option("--overwrite", help="Replace the file if it exists.")]
AsJson: TypeAlias = Annotated[bool, Option("--json", help="Print JSON.")]
OpeningPlies: TypeAlias = Annotated[
    tuple[int, int] | None,
    Option(
        metavar="LOW HIGH",
        help="Random plies of an opening. Default: by game, such as 6 10 for Othello.",
    ),
]
