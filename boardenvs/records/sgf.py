"""Smart Game Format: main lines of Go and Hex, read and written; and GGF of Othello, read.

    (;GM[1]SZ[9]KM[7.5]PB[Ann]PW[Bob]RE[B+3.5];B[ee];W[gc]C[a comment](;B[cg])(;B[gg]))

Sources: A. Hollosi, https://www.red-bean.com/sgf/; http://www.skatgame.net/mburo/ggsa/ggf. Points
of Go are "ac", the third from above in the first file. Hex has "a3", and Little Golem "ac" for it,
where white may begin; "swap" or "swap-pieces" makes the first stone white's, on the other side of
the long diagonal.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TypeAlias

from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.notation import PASS
from boardenvs.game.position import Position
from boardenvs.games import make_from_file
from boardenvs.games.go import Go
from boardenvs.records.moves import make_game, rules_of, without_passes
from boardenvs.records.record import GOALS, Record
from boardenvs.utils.checks import quote

Properties: TypeAlias = list[tuple[str, str]]  # of a game's main line, in their order

_VALUE = r"\[((?:[^\]\\]|\\.)*)(?:\]|\Z)"
# A root, which alone says what is in the file, and all up to the first end of a variation.
GAMES = re.compile(rf"\(\s*;(?=[^;()]*\b(?:FF|GM|SZ)\s*\[)(?:[^()[\]]+|{_VALUE}|\()*", re.S | re.I)
_PROPERTY = re.compile(rf"([a-z]*)\s*{_VALUE}", re.S | re.I)
_KINDS = {"1": "go", "11": "hex", "othello": "othello"}  # by GM
_SIZES = {"go": "19", "hex": "11"}  # of files without SZ
_NO_MOVES = ("swap", "swap-pieces", "swap-sides", "resign", "forfeit")  # in Hex


def properties_of(text: str) -> Properties:
    """Return the properties of a main line; one without a name is another value of that before."""
    found = _PROPERTY.findall(text)
    return [(name.upper(), re.sub(r"\\(.)", r"\1", value)) for name, value in found]


def parse_sgf(match: re.Match[str], game: Game | None) -> Record:
    """Return the record of a game; ValueError for another game or size, or a wrong move."""
    properties = properties_of(match[0])
    tags = dict(reversed(properties))
    kind = tags.get("GM") or ("11" if tags.get("EV", "").startswith("hex") else "1")
    if (name := _KINDS.get(kind.lower())) is None:
        raise ValueError(f"GM is {quote(kind)}: 1, Go, 11, Hex, and Othello are read")
    rules = rules_of(name, game)
    if name != "othello":
        komi = f",komi={tags['KM']}" if name == "go" and tags.get("KM") else ""
        rules = make_from_file(f"{name}:size={tags.get('SZ', _SIZES[name])}{komi}")
    return make_game(rules, tags, *read_moves(properties, rules))


def read_moves(properties: Properties, game: Game) -> tuple[list[str], Position]:
    """Return the moves of a game, and its start.

    Stones of a handicap of Go are moves between which the other side passes; other stones that are
    set up stay as the names of their properties, which are no moves.
    """
    points, moves, start, kind = _points(game), list[str](), game.start(), ""
    played = {"B", "W", "AB"} if game.id == "go" else {"B", "W"}
    for name, value in properties:
        kind = name or kind
        if kind == "BO":
            start = parse_position(game, "".join(value.split()[1:]))
        elif kind in ("B", "W", "AB", "AW", "AE"):
            if game.id == "go" and "BW".find(kind[-1]) != len(moves) % 2:
                moves.append(PASS)
            moves.append(points.get(value, value.split("/")[0].lower()) if kind in played else kind)
            played &= {kind, "B", "W"}  # a handicap comes first
    if moves[1:2] in (["swap"], ["swap-pieces"]):
        y, x = divmod(game.parse_square(moves[0]), game.board.rows)
        start, moves = game.position((0, 1 << game.board.rows * x + y)), moves[2:]
    return [move for move in moves if move not in _NO_MOVES], start


def _points(game: Game) -> dict[str, str]:
    """Return the names of moves by letters, counted from above in Go, in Hex from rank 1."""
    files = "abcdefghijklmnop"[: game.board.rows]
    pairs = product(files[:: -1 if game.id == "go" else 1], files)
    names = {file + rank: game.square_name(s) for s, (rank, file) in enumerate(pairs)}
    return {"tt": PASS, "": PASS, **names}


def write_sgf(record: Record) -> str:
    """Return the game in SGF; ValueError if it is neither Go nor Hex, or has its own start."""
    game, points = record.game, dict[str, str]()
    tags = {"GM": "11", "SZ": f"{game.board.rows}"}
    if isinstance(game, Go):
        points = {name: point for point, name in _points(game).items()}
        tags |= {"GM": "1", "KM": f"{game.komi:g}"}
    elif game.id != "hex":
        raise ValueError(f"SGF holds Go and Hex, not {game.id}: save it as .jsonl")
    tags |= zip(("PB", "PW"), record.players or (), strict=False)
    if record.goal:
        tags["RE"] = ("B+", "0", "W+")[GOALS.index(record.goal)]
    text = "".join(name + "[" + re.sub(r"([]\\])", r"\\\1", tags[name]) + "]" for name in tags)
    for ply, name in enumerate(map(game.action_name, without_passes(record))):
        text += f";{'BW'[ply % 2]}[{points.get(name, name)}]"
    return f"(;FF[4]CA[UTF-8]{text})"
