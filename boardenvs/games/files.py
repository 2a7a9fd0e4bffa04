"""The names of files that hold what was learnt of a game, one file for each game and rules."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from boardenvs.game.contract import Game
from boardenvs.games.registry import BUILT_IN, defaults, make, spec_of


def file_name(game: Game) -> str:
    """The game's id, and the values of its rules that are not the defaults, joined as a file's
    name.
    """
    usual = defaults(game.id)
    special = [getattr(game, name) for name in usual if getattr(game, name) != usual[name]]
    return "_".join([game.id, *map(str, special)])


def find_file(folder: Path, game: Game, ending: str = ".npz") -> Path | None:
    """The file of a built-in game, by whatever id, as Reversi is Othello by another name; None
    where there is none.
    """
    names = (file_name(namesake) for namesake in _namesakes(game))
    return next(filter(Path.is_file, (folder / f"{name}{ending}" for name in names)), None)


def require_file(folder: Path, game: Game, missing: str, ending: str, advice: str) -> Path:
    """The file that `find_file` finds; ValueError where there is none, which begins with what is
    `missing`, such as "there is no scale", and names the games that have one and what to do.
    """
    path = find_file(folder, game, ending)
    if path is None:
        known = ", ".join(sorted(p.stem for p in folder.glob(f"*{ending}"))) or "no game"
        raise ValueError(f"{missing} for {spec_of(game)}: there are some for {known}; {advice}")
    return path


def digest(path: Path) -> str:
    """The beginning of a file's SHA-256: tables name what they were made with by it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def _namesakes(game: Game) -> Iterator[Game]:
    """The same rules under each id of a built-in game that may have them."""
    for game_id in BUILT_IN:
        if type(make(game_id)) is type(game):
            yield replace(game, id=game_id)
