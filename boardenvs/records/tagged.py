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
from boardenvs.utils.checks import quote

# Tags, which stay, and what is no move: comments, marks, and numbers.
_ASIDE = re.compile(
    r'(^[ \t]*\[.*\][ \t\r]*$)|\{[^}]*?(?:\}|\Z|(?=^\[\w+ "))|;.*|^%.*|\$\d+|\d+\.+|\be\.p\.|[!?]+',
    re.M,
)
_VARIATION, _DEPTH = re.compile(r"()\([^()\[]*\)"), 9
_GAME = re.compile(
    r"((?:^[ \t]*\[\w+ .*\]\s*)*)([\s\S]*?)"
    r"(?:(?<!\S)(1-0|0-1|1/2-1/2|2-0|0-2|1-1|\*)(?!\S)|(?=^[ \t]*\[)|\Z)",
    re.M,
)
_USUAL = {"GameType": "21.*|", "Variant": "Standard|Chess|From Position|"}


def split_tagged(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield where each game's moves begin, and its tags, the moves of its main line and result."""
    for aside in (_ASIDE, *[_VARIATION] * _DEPTH):
        text = aside.sub(lambda part: part[1] or re.sub(".", " ", part[0]), text)
    return ((game.start(2), game.groups("")) for game in _GAME.finditer(text) if game[2].strip())


def parse_tagged(parts: tuple[str, ...], game: Game | None) -> Record:
    """Return the record of a game; ValueError for a move that is not legal, or another game."""
    words = parts[1].split()
    tags = {"Result": parts[2], **dict(re.findall(r'\[(\w+) +"(.*)"', parts[0]))}
    for name, usual in _USUAL.items():
        if not re.fullmatch(usual, tags.get(name, "")):
            raise ValueError(f"{name} is {quote(tags[name])}: chess and American checkers are read")
    sides, kind = ["White", "Black"], "chess"
    if "GameType" in tags or re.match(r"\d+[-x:]", words[0]):
        sides, kind = ["Black", "White"], "checkers"
    rules = rules_of(kind, game)
    start = parse_position(rules, tags["FEN"]) if "FEN" in tags else rules.start()
    return make_game(rules, tags, sides, words, start)
