"""Records as plain moves, one game a line, and how tournament Othello writes games.

Othello is written as in tournaments, `f5d6c3d3c4`, without passes. Other games are written with
spaces and passes, `b1-b3 a3-c3`. Capitals, spaces, commas, passes ("pass", "pa", "--") and the
numbers of moves ("1.", "2)", "3:") are read and not written. Lines that are empty or begin with "#"
are skipped. Players, results and starts of their own are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from boardenvs.game.game import Game
from boardenvs.games.othello import Othello
from boardenvs.records.batch import play, starts_of
from boardenvs.records.jsonl import read_lines
from boardenvs.records.record import Record, names, parse_names
from boardenvs.utils.checks import cut
from boardenvs.utils.files import replacing

# Captures are often written with an x, "b1xb3"; most rules know them without.
_CAPTURE = re.compile(r"(?<=[a-h][1-8])x(?=[a-h][1-8])")
_MAX_MESSAGE = 300
_NUMBERS = re.compile(r"\b\d+\s*[.):]+")
_NO_MOVES = re.compile(r"(?<![a-z])(?:pass|pa|ps)(?!\d)|--|\b\d+\b")  # in Othello


def parse_moves(game: Game, lines: Iterable[str]) -> list[Record]:
    """Return the games of the lines; ValueError names a line that cannot be read.

    Legality is not checked here: see `check`.
    """
    parse = _parse_squares if isinstance(game, Othello) else _parse_actions
    games = []
    for number, line in enumerate(lines, start=1):
        text = _NUMBERS.sub(" ", line).replace(",", " ").strip()
        if not text or line.lstrip().startswith("#"):
            continue
        try:
            games.append(parse(game, text))
        except ValueError as error:
            raise ValueError(f"line {number}: {cut(str(error), _MAX_MESSAGE)}") from None
    if isinstance(game, Othello):
        games = with_passes(game, games)
    return [Record(game, actions) for actions in games]


def write_moves(record: Record) -> str:
    """Return the game as one line; ValueError if it has a start of its own."""
    squares = discs_placed(record)
    if isinstance(record.game, Othello):
        return "".join(map(record.game.square_name, squares))
    return " ".join(names(record))


def read_moves_file(path: Path | str, game: Game, memory: int | None = None) -> list[Record]:
    """Return the games of a file; `memory` and ValueError as in `jsonl.read_jsonl`."""
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            return parse_moves(game, (line for _, line in read_lines(file, path, memory)))
    except ValueError as error:  # a UnicodeDecodeError too
        named = str(error).startswith(str(path))
        raise ValueError(str(error) if named else f"{path}, {error}") from None


def write_moves_file(path: Path | str, records: Iterable[Record]) -> None:
    """Write the games, one a line; `path` is replaced only when all of them are written."""
    with replacing(Path(path)) as file:
        file.writelines(f"{write_moves(record)}\n".encode() for record in records)


# ---- tournament Othello --------------------------------------------------------------------------


def with_passes(game: Game, moves: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the actions of games given as squares of discs, without passes.

    The rules insert the passes. An illegal move and what follows it stay as they are.
    """
    if not moves:
        return []
    played = play(game, starts_of(game, [None] * len(moves)), moves, insert_passes=True)
    return [
        actions + tuple(squares[len(squares) - left :])
        for actions, squares, left in zip(played.actions, moves, played.left.tolist(), strict=True)
    ]


def discs_placed(record: Record) -> list[int]:
    """Return the squares of the discs placed, the inverse of `with_passes` except a last pass.

    ValueError if the game has a start of its own, which these formats cannot hold.
    """
    if record.start is not None:
        raise ValueError(
            "the game began at a position of its own, which only .jsonl can hold: "
            "save it as .jsonl or .jsonl.gz"
        )
    return [action for action in record.actions if action != record.game.noop]


def _parse_squares(game: Game, text: str) -> tuple[int, ...]:
    """Return the discs placed; squares may be separated by spaces."""
    squares: list[int] = []
    for part in _NO_MOVES.sub(" ", text.lower()).split():
        if "-" in part:
            raise ValueError(
                f"{part!r} moves a piece: say which game this is, Othello has no such moves"
            )
        squares += [game.parse_square(part[i : i + 2]) for i in range(0, len(part), 2)]
    return tuple(squares)


def _parse_actions(game: Game, text: str) -> tuple[int, ...]:
    try:
        return parse_names(game, text.split())
    except ValueError:
        return parse_names(game, _CAPTURE.sub("-", text.lower()).split())
