"""Smart Game Format: main lines of Go and Hex, read and written; and GGF of Othello, read.

    (;GM[1]SZ[9]KM[7.5]PB[Ann]PW[Bob]RE[B+3.5];B[ee];W[gc]C[a comment](;B[cg])(;B[gg]))

Sources: A. Hollosi, https://www.red-bean.com/sgf/; http://www.skatgame.net/mburo/ggsa/ggf. Points
of Go are "ac", the third from above in the first file. Hex has "a3", and Little Golem "ac" for it,
where white may begin; "swap" or "swap-pieces" makes the first stone white's, on the other side of
the long diagonal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.notation import PASS, plain_move
from boardenvs.game.position import Position
from boardenvs.game.rules import DRAW, LOSS, WIN
from boardenvs.games import make
from boardenvs.games.go import Go
from boardenvs.games.hex import Hex
from boardenvs.records.moves import discs_placed, make_game, rules_of
from boardenvs.records.record import Record
from boardenvs.utils.checks import quote

Properties: TypeAlias = list[tuple[str, str]]  # of a game's main line, in their order

_VALUE = r"\[((?:[^\]\\]|\\.)*)(?:\]|\Z)"
# A root, which alone says what is in the file, and all up to the first end of a variation.
_MAIN = re.compile(rf"\(\s*;(?=[^;()]*\b(?:FF|GM|SZ)\s*\[)(?:[^()[\]]+|{_VALUE}|\()*", re.S | re.I)
_PROPERTY = re.compile(rf"([a-z]*)\s*{_VALUE}", re.S | re.I)
_GAMES = {"1": "go", "11": "hex", "othello": "othello"}
_SIDES, _STONES = ("PB", "PW"), ("B", "W", "AB", "AW", "AE")
_NO_MOVES = ("swap", "swap-pieces", "swap-sides", "resign", "forfeit")  # in Hex


def split_sgf(text: str) -> Iterator[tuple[int, Properties]]:
    """Yield where each game begins, and the properties of its main line; one without a name is
    another value of that before.
    """
    for game in _MAIN.finditer(text):
        found = _PROPERTY.findall(game[0])
        yield game.start(), [(name.upper(), re.sub(r"\\(.)", r"\1", text)) for name, text in found]


def parse_sgf(properties: Properties, game: Game | None) -> Record:
    """Return the record of a game; ValueError for another game or size, or a wrong move."""
    tags = dict(reversed(properties))
    kind = tags.get("GM") or ("11" if tags.get("EV", "").startswith("hex") else "1")
    name = _GAMES.get(kind.lower())
    if name is None:
        raise ValueError(f"GM is {quote(kind)}: 1, Go, 11, Hex, and Othello are read")
    if name == "othello":
        rules = rules_of(name, game)
        return make_game(rules, tags, _SIDES, *read_ggf(properties, rules))
    size = tags.get("SZ", "19" if name == "go" else "11").split(":")[0]
    komi = {"komi": float(tags["KM"])} if tags.get("KM") and name == "go" else {}
    rules = make(name, size=int(size), **komi)
    return make_game(rules, tags, _SIDES, *_read_stones(properties, rules))


def read_ggf(properties: Properties, game: Game) -> tuple[list[str], Position]:
    """Return the names of the moves of a game of Othello, and its start."""
    _, _, board = dict(properties).get("BO", "").strip().partition("8 ")
    moves = [value.split("/")[0] for name, value in properties if name in _STONES[:2]]
    return [plain_move(move, game) for move in moves], parse_position(game, "".join(board.split()))


def _read_stones(properties: Properties, game: Game) -> tuple[list[str], Position]:
    """Return the names of the moves of a game of Go or Hex, and its start.

    Stones of a handicap are moves between which the other side passes.
    """
    names, moves, start, kind = _points(game), list[str](), game.start(), ""
    set_up = [len(name) > 1 for name, _ in properties if name in _STONES]
    if set_up != sorted(set_up, reverse=True) or (set_up[:1] == [True] and "" not in names):
        raise ValueError("a position is set up: only a handicap of Go is read, before its moves")
    for name, value in properties:
        kind = name or kind
        if kind in _STONES:
            if "" in names and "BW".index(kind[-1]) != len(moves) % 2:
                moves.append(PASS)
            moves.append(names.get(value, value.lower()))
    if moves[1:2] in (["swap"], ["swap-pieces"]):
        y, x = divmod(game.parse_square(moves[0]), game.board.rows)
        start, moves = game.position((0, 1 << game.board.rows * x + y)), moves[2:]
    return [move for move in moves if move not in _NO_MOVES], start


def _points(game: Game) -> dict[str, str]:
    """Return the names of moves by letters, counted from above in Go, in Hex from rank 1."""
    rows, is_go = game.board.rows, isinstance(game, Go)
    names = {"tt": PASS, "": PASS} if is_go else {}
    for square in range(game.board.size):
        y, x = divmod(square, rows)
        names[chr(97 + x) + chr(97 + (rows - 1 - y if is_go else y))] = game.square_name(square)
    return names


def write_sgf(record: Record) -> str:
    """Return the game in SGF; ValueError if it is neither Go nor Hex, or has its own start."""
    game, letters = record.game, dict[str, str]()
    tags = {"SZ": f"{game.board.rows}", **dict(zip(_SIDES, record.players or (), strict=False))}
    if isinstance(game, Go):
        letters = {name: point for point, name in _points(game).items()}
        tags |= {"GM": "1", "KM": f"{game.komi:g}"}
    elif isinstance(game, Hex):
        tags["GM"] = "11"
    else:
        raise ValueError(f"SGF holds Go and Hex, not {game.id}: save it as .jsonl")
    if record.goal:
        tags["RE"] = {WIN: "B+", DRAW: "0", LOSS: "W+"}[record.goal[0]]
    text = "".join(name + "[" + re.sub(r"([]\\])", r"\\\1", tags[name]) + "]" for name in tags)
    for ply, name in enumerate(map(game.action_name, discs_placed(record))):
        text += f";{_STONES[ply % 2]}[{letters.get(name, name)}]"
    return f"(;FF[4]CA[UTF-8]{text})"
