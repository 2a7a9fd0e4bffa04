"""Moves as texts have them: "b1-b3", "B1 to B3", "from b1 to b3", "c3xa3", "d3", and the pass."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from boardenvs.board.bitboard import squares_of
from boardenvs.game.position import Position
from boardenvs.text.disguise import Disguise

SQUARE = r"[a-z]\d{1,2}"
Move = tuple[str, ...]  # the squares by which it is named
PASS: Move = ("pass",)

_BEFORE, _AFTER = r"(?<!\w)(?<!\w-)", r"(?!\w|-\w)"
_TO = "(?:to|nach|zu|à|a|para|vers|到)"
_ITSELF = (  # between the squares of a move
    r"(?:piece|checker|disc|stone|man|moves?|goes?|should|will|heads|slides?|steps?|jumps?|over|up|down|across|around|"
    r"along|back|forward|straight|all|the|way)"
)
_BETWEEN = (
    r"(?:\s*(?:-+>?|=+>|>+|[—x\u00d7:\u2190-\u21ff\u2794-\u27bf\u27f0-\u27ff]|\.\.+)\s*"
    rf"|\s+(?:{_ITSELF}\s+){{0,3}}(?:on)?{_TO}\s+(?:square )?"
    r"|\s+(?:x|takes|captures|capturing)(?: on| at)? |)"
)
# In prose two squares in a row may be any two squares; a piece's way may be told at length.
_PAIR = rf"{_BEFORE}({SQUARE}){_BETWEEN}({SQUARE}){_AFTER}"
_WAY = (
    rf"(?:\b(?:from|on|at|von|de|da)|从) ({SQUARE}),? (?:[a-z-]{{1,20}},? ){{0,6}}?"
    rf"(?:(?:on)?{_TO}|(?:put|place|drop|set) it (?:on|at)) "
    rf"(?:square )?({SQUARE}){_AFTER}"
)
_IN_A_ROW = rf"{_BEFORE}({SQUARE})(?:\s*[,;/]\s*|\s+)({SQUARE}){_AFTER}"
_ONE = rf"{_BEFORE}({SQUARE}){_AFTER}"
_SPACED = r"(?<!\w)([a-z])(?: |, ?)(\d{1,2})(?!\w)"

_PASSES = re.compile(r"\b(?:pass|passes|passing|noop|no-op|skip)\b")
_NOTHING = re.compile(r"\W*(?:none|null|-+|no (?:legal |valid )?moves?(?: available)?)\W*")

_DASHES = re.compile("[\u2010-\u2013\u2212]")
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_LATEX = re.compile(r"\\(?:text|math)(?:[a-z]{2,6})?\s*\{([^{}]*)\}")
_LATEX_ARROW = re.compile(r"\\(?:to|rightarrow|Rightarrow|longrightarrow)\b")
_STRAIGHT = str.maketrans({"\u2019": "'", "\u2018": "'", "“": '"', "”": '"', "$": None, "\r": "\n"})


class Mention(NamedTuple):
    """A move that a text names, legal or not, and where."""

    squares: Move
    start: int
    end: int


def plain(text: str) -> str:
    """The text in small letters and simple characters: what looks alike is alike."""
    text = unicodedata.normalize("NFKC", text)
    text = _INVISIBLE.sub("", _DASHES.sub("-", text)).translate(_STRAIGHT)
    return _LATEX_ARROW.sub("->", _LATEX.sub(r"\1", text)).lower()


@dataclass(frozen=True)
class Moves:
    """The moves of a position, by the squares that a player is told."""

    legal: dict[Move, int]
    per_move: int  # how many squares name a move
    others: tuple[str, ...] = ()  # names of moves that are not made of squares
    roles: tuple[str, str] = ("", "")  # the side to move, and the other
    occupied: frozenset[str] = frozenset()  # squares with a piece

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, position: Position, disguise: Disguise) -> Moves:
        """The legal moves under a disguise."""
        game, legal, others = position.game, dict[Move, int](), []
        for action in position.legal_actions():
            shown = disguise.move(action, position).lower()
            squares = tuple(re.findall(SQUARE, shown))
            if action == game.noop:
                squares = PASS
            elif not squares:
                squares = (shown,)
                others.append(shown)
            legal[squares] = action
        lengths = {len(squares) for squares in legal if squares != PASS}
        per_move = max(lengths or {1 if re.fullmatch(SQUARE, game.action_name(0)) else 2})
        own, other = disguise.roles[position.to_move], disguise.roles[1 - position.to_move]
        pieces = squares_of(position.pieces(0) | position.pieces(1))
        occupied = frozenset(disguise.names[square] for square in pieces)
        return cls(legal, per_move, tuple(others), (own, other), occupied)

    def find(self, text: str, *, answer: bool = False) -> list[Mention]:
        """The moves that a text, which is `plain`, names, from left to right.

        `answer`: the text is nothing but an answer, so that two squares in a row are a move too.
        """
        found = [
            Mention(match.groups() or (match[0],), match.start(), match.end())
            for pattern in _patterns(self.per_move, answer, self.others)
            for match in pattern.finditer(text)
        ]
        if answer and not found and self.per_move == 1:
            for match in re.finditer(_SPACED, text):  # "d 3"
                found.append(Mention((match[1] + match[2],), match.start(), match.end()))
        found.sort(key=lambda mention: (mention.start, -mention.end))
        kept = list[Mention]()
        for mention in found:
            if not kept or mention.start >= kept[-1].end:
                kept.append(mention)
        return kept

    def is_pass(self, answer: str) -> bool:
        """Whether an answer is the pass."""
        return bool(_PASSES.search(answer)) or (
            PASS in self.legal and _NOTHING.fullmatch(answer) is not None
        )


@lru_cache(maxsize=64)
def _patterns(per_move: int, answer: bool, others: tuple[str, ...]) -> list[re.Pattern[str]]:
    patterns = [_ONE] if per_move == 1 else [_WAY, _PAIR, *([_IN_A_ROW] * answer)]
    if others:
        patterns.append(rf"(?<!\w)(?:{'|'.join(map(re.escape, others))})(?!\w)")
    return [re.compile(pattern, re.ASCII) for pattern in patterns]  # "d3입니다" names d3
