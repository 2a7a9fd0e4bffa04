"""Files with the results of learning and measuring, one per game and rules.

The files of the built-in games lie in folders of the package, the files of another game in the
folder that its class names as `files`, with the names of `OWN_FOLDERS` for its own folders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

from boardenvs.game.game import Game
from boardenvs.games.registry import BUILT_IN, defaults, make, spec_of
from boardenvs.utils.files import safe_name

_PACKAGE = Path(__file__).parents[1]
OWN_FOLDERS = {
    _PACKAGE / "agents" / "trained": "policies",
    _PACKAGE / "search" / "trained": "evaluations",
    _PACKAGE / "agents" / "levels": "levels",
    _PACKAGE / "arena" / "pools": "pools",
    _PACKAGE / "exams" / "positions": "exams",
}


def file_name(game: Game) -> str:
    """Return the game's id, and the values of its rules that are not the defaults, joined as a
    file's name; numbers follow their names.
    """
    if game.files is None:
        usual = defaults(game.id)
    else:
        usual = {field.name: field.default for field in fields(game) if field.name != "id"}
    special = {k: x for k in usual if (x := game.parameter(k)) != usual[k]}
    words = (value if isinstance(value, str) else f"{k}{value}" for k, value in special.items())
    return safe_name("_".join([game.id, *words]))


def path_of(folder: Path, game: Game, ending: str = ".npz") -> Path:
    """Return the path of a game's file, whether it exists or not; `folder` is the folder in the
    package.

    ValueError for a game of another package that names no folder.
    """
    if game.files is None and game.id not in BUILT_IN:
        raise ValueError(
            f"{game.id} has no folder for what is learnt of it: give {game.source.__name__} one as "
            "`files`"
        )
    own = folder if game.files is None else game.files / OWN_FOLDERS[folder]
    return own / f"{file_name(game)}{ending}"


def find_file(folder: Path, game: Game, ending: str = ".npz") -> Path | None:
    """Return the file of a game, or None if there is none; Reversi, which has Othello's rules, has
    the same file.
    """
    games = _namesakes(game) if game.files is None else [game]
    return next(filter(Path.is_file, (path_of(folder, one, ending) for one in games)), None)


def require_file(folder: Path, game: Game, missing: str, ending: str, advice: str) -> Path:
    """Return the file that `find_file` finds.

    ValueError if there is none: it begins with `missing`, such as "there is no scale", and names
    the games that have one and what to do.
    """
    path = find_file(folder, game, ending)
    if path is None:
        games = ", ".join(sorted(p.stem for p in folder.glob(f"*{ending}"))) or "no game"
        raise ValueError(f"{missing} for {spec_of(game)}: there are some for {games}; {advice}")
    return path


def _namesakes(game: Game) -> Iterator[Game]:
    """Yield the game under the id of each built-in game of its class."""
    for game_id in BUILT_IN:
        if make(game_id).source is game.source:
            yield replace(game, id=game_id)
