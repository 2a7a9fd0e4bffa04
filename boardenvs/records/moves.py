"""Records as plain moves, one game a line, and how tournament Othello writes games.

Othello is written as in tournaments, `f5d6c3d3c4`, without passes. Other games are written with
spaces and passes, `b1-b3 a3-c3`, and read as `boardenvs.games.notation.read_turn` reads them. Lines
of one move or two after a number from 2 on belong to the game above. Numbers, results, passes
("pass", "pa", "--"), comments in {}, and lines that are empty, begin with "#" or have no move are
passed over. Players, results and starts of their own are not kept.

A line can also be a game of Connect Four by its files, with a score or without, `4453 -2`, or a
position of Othello as problems have it (OBF): 64 squares and the side to move.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.notation import PASS, Parts, plain_move
from boardenvs.game.position import Position
from boardenvs.game.rules import DRAW
from boardenvs.games import make
from boardenvs.games.notation import read_turn
from boardenvs.games.othello import Othello
from boardenvs.records.batch import group_by_game, play, starts_of
from boardenvs.records.record import GOALS, Record, names, parse_names

# What is no move: comments, tags, numbers of moves, and results.
_ASIDE = re.compile(
    r"\{[^}]*\}|^\s*#.*|^\s*\[.*\]\s*$|\b\d+\s*[.):]+|,|(?<!\S)(?:1-0|0-1|1/2-1/2|½-½|\*)(?!\S)"
)
_NO_DISCS = re.compile(
    r"(?<![a-z])(?:pass|pa|ps)(?!\d)|--|(?<![a-z\d])[-+(]*\d+[-:)\s\d]*(?![a-z])"
)
_LIKE_A_MOVE = re.compile(r"(?<![a-z])[a-z]\d")
# Before a number from 2 on, with one move or two, with which a game goes on.
_ROW = r"\d+[.)][ \t]*[\w:-]{1,8}(?:[ \t]+[\w:-]{1,8})?[ \t]*"
_MORE = rf"\n[ \t]*(?!1\D)(?:{_ROW})+(?:1-0|0-1|1/2-1/2|\*)?[ \t]*\r?$"
LINES = re.compile(rf"[^\r\n].*(?:{_MORE})*", re.M)  # one game each
_OBF = re.compile(r"\s*([-.*xXoObBwW_]{64})[\s,]*([xXoObBwW*])(.*)")
_COLUMNS = re.compile(r"\s*([1-9]{2,})(?:\s+(-?\d+))?\s*")
_RESULT = re.compile(
    r"(1-0|2-0|B|\+[0.]*[1-9])|(1/2|½|1-1|1-1|[-+]?0[.0]*$|D|J)|(0-1|0-2|W|-)", re.I
)
_PLAYERS = {"chess": ("White", "Black"), "checkers": ("Black", "White")}  # their tags, by role
_INFO = (
    *("Event", "Site", "Date", "Round", "Result", "Termination"),
    *("EV", "DT", "PC", "RE", "score", "note"),
)


def parse_line(line: str, game: Game | None) -> Record | None:
    """Return the game of a line, in Othello without its passes; None if it has no move.

    ValueError for a text that is no move.
    """
    if match := _OBF.fullmatch(line):
        rules, note = rules_of("othello", game), match[3].strip("; %")
        return make_game(rules, {"note": note}, (), parse_position(rules, match[1] + match[2]))
    if match := _COLUMNS.fullmatch(line):
        return make_game(rules_of("connect_four", game), {"score": match[2]}, match[1])
    rules, text = game or make("othello"), _ASIDE.sub(" ", line)
    words = text.split()
    if isinstance(rules, Othello):
        words = re.findall(r"[a-z]\d+(?=[a-z\s]|$)|\S+", _NO_DISCS.sub(" ", text.lower()))
    try:
        return make_game(rules, {}, words) if words else None
    except ValueError:
        if _LIKE_A_MOVE.search(plain_move(text, rules)):
            raise
        return None  # a title


def make_game(
    game: Game,
    tags: Mapping[str, str],
    words: Sequence[str],
    start: Position | None = None,
) -> Record:
    """Return the record of a game of which a file has these tags; ValueError for a wrong move.

    Players go on where a draw must be claimed: what comes after a draw is left out, and its result.
    """
    position, actions = start or game.start(), list[int]()
    own = None if position == game.start() else position
    result = _RESULT.match(tags.get("Result") or tags.get("RE", ""))
    goal = result and GOALS[(result.lastindex or 1) - 1]
    sides = [tags.get(side, "?") for side in _PLAYERS.get(game.id, ("PB", "PW"))]
    info = {key: tags[key] for key in _INFO if tags.get(key)}
    if not isinstance(game.notation, Parts):  # else "a7-a1" may be two moves or one
        with suppress(ValueError):
            plain = [plain_move(word, game) for word in words]
            actions, words = [*parse_names(game, plain, start)], ()
    for number, word in enumerate(words, start=1):
        if position.is_over() and (word == PASS or position.result()[0] == DRAW):
            info["left out"] = (
                f"what comes after {len(actions)} plies, where the rules end the game"
            )
            goal = None
            break
        try:
            turn = read_turn(word, position)
        except ValueError as error:
            raise ValueError(f"move {number}: {error}") from None
        for action in turn:
            position = position.step(action)
        actions += turn
    players = None if sides == ["?", "?"] else (sides[0], sides[1])
    return Record(game, tuple(actions), own, goal, players, info)


@lru_cache
def rules_of(name: str, game: Game | None) -> Game:
    """Return this game if it has the name, else the usual one of the name."""
    return game if game and game.id == name else make(name)


def write_moves(record: Record) -> str:
    """Return the game as one line; ValueError if it has a start of its own."""
    squares = without_passes(record)
    if isinstance(record.game, Othello):
        return "".join(map(record.game.square_name, squares))
    return " ".join(names(record))


def without_passes(record: Record) -> list[int]:
    """Return the actions except the passes that the rules insert.

    ValueError if the game has a start of its own, which these formats cannot hold.
    """
    if record.start is not None:
        raise ValueError(
            "the game began at a position of its own, which only .jsonl can hold: "
            "save it as .jsonl or .jsonl.gz"
        )
    return [action for action in record.actions if action != record.game.noop]


def put_passes(records: Sequence[Record]) -> list[Record]:
    """Return the games, those of Othello with the passes that the rules insert.

    An illegal move and what follows it stay as they are.
    """
    put = list(records)
    for game, rows in group_by_game(records).items():
        if isinstance(game, Othello):
            moves = [records[row].actions for row in rows]
            starts = starts_of(game, [records[row].start for row in rows])
            for row, actions in zip(
                rows, play(game, starts, moves, insert_passes=True).actions, strict=True
            ):
                put[row] = replace(records[row], actions=actions)
    return put
