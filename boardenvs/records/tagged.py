"""PGN of chess and PDN of checkers, which are only read, main lines alone.

    [White "Ann"]
    [Result "1-0"]

    1. e4 e5 {a comment} 2. Qh5 $2 (2. Nf3 Nc6) 2... Ke7 3. Qxe5# 1-0

Sources: S. J. Edwards, Portable Game Notation; W. Wesselink, PDN 3.0. In PDN black begins on the
squares 1 to 12, as our white does, and wins by "1-0".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.records.moves import make_game, rules_of
from boardenvs.records.record import Record

# Tags, which stay, and what is no move: comments, marks, and numbers.
_ASIDE = re.compile(
    r'(^[ \t]*\[.*\][ \t\r]*$)|\{[^}]*?(?:\}|\Z|(?=^\[\w+ "))|;.*|^%.*|\$\d+|\d+\.+|\be\.p\.|[!?]+',
    re.M,
)
_VARIATION, _DEPTH = re.compile(r"(^[ \t]*\[.*\][ \t\r]*$)|\([^()\[]*\)", re.M), 9
_GAME = re.compile(
    r"((?:^[ \t]*\[\w+ .*\]\s*)*)([\s\S]*?)"
    r"(?:(?<!\S)(1-0|0-1|1/2-1/2|2-0|0-2|1-1|\*)(?!\S)|(?=^[ \t]*\[)|\Z)",
    re.M,
)
_TAG = re.compile(r'\[(\w+) +"(.*)"')
_OTHER = re.compile(
    r'''GameType +"(?!21|").*"|Variant +"(?!(?:Standard|Chess|From Position)?").*"'''
)


def games_of(text: str) -> Iterator[re.Match[str]]:
    """Yield each game's tags, the moves of its main line, and its result."""
    for aside in (_ASIDE, *[_VARIATION] * _DEPTH):
        text = aside.sub(lambda part: part[1] or re.sub(".", " ", part[0]), text)
    return _GAME.finditer(text)


def parse_tagged(match: re.Match[str], game: Game | None) -> Record | None:
    """Return the record of a game, None if it has no move; ValueError for a move that is not legal,
    or another game.
    """
    head, moves, result = match.groups("")
    if not (words := moves.split()):
        return None
    if other := _OTHER.search(head):
        raise ValueError(f"{other[0]}: chess and American checkers are read")
    is_checkers = "[GameType" in head or re.match(r"\d+[-x:]", words[0])
    tags = {"Result": result, **dict(_TAG.findall(head))}
    rules = rules_of("checkers" if is_checkers else "chess", game)
    start = parse_position(rules, tags["FEN"]) if "FEN" in tags else None
    return make_game(rules, tags, words, start)
