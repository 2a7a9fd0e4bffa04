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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.notation import Parts, plain_move
from boardenvs.game.position import Position
from boardenvs.game.rules import DRAW, LOSS, WIN
from boardenvs.games import make
from boardenvs.games.notation import read_turn
from boardenvs.games.othello import Othello
from boardenvs.records.batch import play, starts_of
from boardenvs.records.record import Record, names, parse_names

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
_GOES_ON = re.compile(rf"\r?\n(?=[ \t]*(?!1\D)(?:{_ROW})+(?:1-0|0-1|1/2-1/2|\*)?[ \t]*\r?$)", re.M)
_OBF = re.compile(r"\s*([-.*xXoObBwW_]{64})[\s,]*([xXoObBwW*])(.*)")
_COLUMNS = re.compile(r"\s*([1-9]{2,})(?:\s+(-?\d+))?\s*")
_RESULTS = {
    r"1-0|2-0|B|\+": (WIN, LOSS),
    r"0-1|0-2|W|-": (LOSS, WIN),
    "1/2|½|1-1|0|D|J": (DRAW, DRAW),
}
_INFO = ("Event", "Site", "Date", "Round", "Result", "Termination", "EV", "DT", "PC", "RE")


def split_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield where each game begins, and its line or lines."""
    joined = _GOES_ON.sub(lambda end: " " * len(end[0]), text)
    return ((line.start(), line[0]) for line in re.finditer("[^\r\n]+", joined))


def parse_line(line: str, game: Game | None) -> Record | None:
    """Return the game of a line, in Othello without its passes; None if it has no move.

    ValueError for a text that is no move.
    """
    if match := _OBF.fullmatch(line):
        rules = rules_of("othello", game)
        start = parse_position(rules, match[1] + match[2])
        return Record(rules, (), start, info={"note": match[3].strip("; %")})
    if match := _COLUMNS.fullmatch(line):
        rules = rules_of("connect_four", game)
        return Record(rules, parse_words(rules, [*match[1]]), info={"score": match[2]})
    rules, text = game or make("othello"), _ASIDE.sub(" ", line).strip()
    try:
        read = _parse_squares if isinstance(rules, Othello) else parse_words
        actions = read(rules, text.split())
    except ValueError:
        if _LIKE_A_MOVE.search(plain_move(text, rules)):
            raise
        actions = ()  # a title
    return Record(rules, actions) if actions else None


def parse_moves(game: Game, lines: Iterable[str]) -> list[Record]:
    """Return the games of the lines; ValueError for a line that cannot be read.

    Legality is not checked here: see `check`.
    """
    return put_passes([record for line in lines if (record := parse_line(line, game))])


def make_game(
    game: Game, tags: Mapping[str, str], sides: Sequence[str], words: Sequence[str], start: Position
) -> Record:
    """Return the record of a game of which the file has tags; `sides` are those of the players."""
    result = (tags.get("Result") or tags.get("RE", "")).upper()
    goal = next((goal for form, goal in _RESULTS.items() if re.match(form, result)), None)
    players = tags.get(sides[0], "?"), tags.get(sides[1], "?")
    info = {key: tags[key] for key in _INFO if key in tags}
    own, actions = None if start == game.start() else start, parse_words(game, words, start)
    return Record(game, actions, own, goal, None if players == ("?", "?") else players, info)


def parse_words(game: Game, words: Sequence[str], start: Position | None = None) -> tuple[int, ...]:
    """Return the actions that these words mean, up to the end; ValueError for other words."""
    is_plain = not isinstance(game.notation, Parts)  # else "a7-a1" may be two moves or one
    for forms in (words, [plain_move(word, game) for word in words])[: 1 + is_plain]:
        with suppress(ValueError):
            return parse_names(game, forms, start)
    position, actions = start or game.start(), list[int]()
    for number, word in enumerate(words, start=1):
        if position.is_over():  # players may go on where a draw must be claimed
            break
        try:
            turn = read_turn(word, position)
        except ValueError as error:
            raise ValueError(f"move {number}: {error}") from None
        for action in turn:
            position = position.step(action)
        actions += turn
    return tuple(actions)


@lru_cache
def rules_of(name: str, game: Game | None) -> Game:
    """Return this game if it has the name, else the usual one of the name."""
    return game if game is not None and game.id == name else make(name)


def write_moves(record: Record) -> str:
    """Return the game as one line; ValueError if it has a start of its own."""
    squares = discs_placed(record)
    if isinstance(record.game, Othello):
        return "".join(map(record.game.square_name, squares))
    return " ".join(names(record))


# ---- tournament Othello --------------------------------------------------------------------------


def put_passes(records: list[Record]) -> list[Record]:
    """Return the games of lines, those of Othello with the passes that the rules insert."""
    if not records or not all(isinstance(record.game, Othello) for record in records):
        return records
    played = with_passes(records[0].game, [record.actions for record in records])
    return [replace(record, actions=line) for record, line in zip(records, played, strict=True)]


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


def _parse_squares(game: Game, words: Sequence[str]) -> tuple[int, ...]:
    """Return the discs placed; squares may be separated by spaces."""
    text = "".join(_NO_DISCS.sub(" ", " ".join(words).lower()).split())
    return tuple(map(game.parse_square, re.findall(r"[a-z]\d+|.+", text)))
