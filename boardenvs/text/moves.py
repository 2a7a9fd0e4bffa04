"""Moves as people write them: "b1-b3", "B1 to B3", '["b1", "b3"]', "column d, row 3", "pass"."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from boardenvs.game.position import Position
from boardenvs.games.notation import legal_spellings

Move = tuple[str, ...]  # the squares that name it, or its whole name
PASS: Move = ("pass",)

_SQUARE = r"[a-z]\d{1,2}"
_PASSES = re.compile(r"(?:i )?(?:must )?(?:pass|noop|no-op|skip)(?: my turn)?")
_NOTHING = ("null", "none", "no move", "no legal move")

# ---- simple characters ---------------------------------------------------------------------------

_DASHES = re.compile("[\u2010-\u2015\u2212]")
_ARROWS = re.compile("[\u2190-\u21ff\u2794-\u27bf\u27f0-\u27ff]")
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad\ufe0f]")
_EMOJI = re.compile("[\u2600-\u27bf\u2b50-\u2bff\U0001f000-\U0001faff]+")
_LATEX_TEXT = re.compile(r"\\(?:text|math)(?:[a-z]{2,6})?\s*\{([^{}]*)\}")
_LATEX_ARROW = re.compile(r"\\(?:to|(?:long)?rightarrow)(?![a-z])", re.IGNORECASE)
_SIMPLE = str.maketrans({"\u2019": "'", "\u2018": "'", "“": '"', "”": '"', "$": None, "\r": "\n",
                         "\u00d7": "x", "\u3002": ".", **dict.fromkeys("«»「」", "`")})  # fmt: skip


def plain(text: str) -> str:
    """Return the text in small letters and simple characters, so that what looks alike is equal."""
    text = unicodedata.normalize("NFKC", html.unescape(text))
    text = _ARROWS.sub("->", _DASHES.sub("-", _INVISIBLE.sub("", text))).translate(_SIMPLE)
    text = _LATEX_TEXT.sub(r"\1", _LATEX_ARROW.sub("->", text))
    return _EMOJI.sub("!", text).lower()


# ---- spellings -----------------------------------------------------------------------------------

_FILE, _RANK = r"(?:column|col|file)", r"(?:row|rank|line)"
_IN_WORDS = (
    (re.compile(rf"\b{_FILE}\W{{0,3}}([a-z])\b\W{{1,3}}(?:and )?{_RANK}\W{{0,3}}(\d{{1,2}})\b"),
     r" \1\2"),
    (re.compile(rf"\b{_RANK}\W{{0,3}}(\d{{1,2}})\b\W{{1,3}}(?:and )?{_FILE}\W{{0,3}}([a-z])\b"),
     r" \2\1"),
    (re.compile(r"\(\s*([a-z])\s*,\s*(\d{1,2})\s*\)"), r"\1\2"),
    (re.compile(r"\A\W*([a-z])[\s,-]{1,2}(\d{1,2})\W*\Z"), r"\1\2"),
)  # fmt: skip
_DECORATION = re.compile(r"[\"'`*_\[\]{}\\]")
_BETWEEN = (
    r"(?:\s*(?:[-=]*>+|-+|x|:|,|;|/|\||\.{2,}|…)\s*"
    r"|,?(?:\s+(?:to|onto|on|x|takes|captures|capturing|moves?|goes|piece|the|square|at|jumps))+\s+"
    r"|\s+|)"
)
# Words before the move within an answer slot, such as "I play".
_LEAD = re.compile(
    r"(?:(?:i|ill|will|play|move|moves|moving|place|put|choose|select|go|with|my|the|a|piece|disc|"
    r"stone|checker|square|column|file|at|on|from|is|answer|final|action|best)\b[\s:]*|[\s(]+)*"
)
# After the move, what begins an explanation of it.
_EXPLAINS = re.compile(
    r"[\s)]*(?:$|[.!](?:\s|$)|[(,;:]|-+\s|\n|(?:is (?:my|the|best|a)|because|since|as|for|which|"
    r"with|by|captur\w+|tak\w+|flip\w+|wins?|here|now)\b)"
)
# An explanation that names another choice or takes this one back.
_ANOTHER = re.compile(
    rf"[\s,;:.!/&|-]*(?:(?:or|and|then|also|else)\b[\s,]*)*{_SQUARE}\b"
    r"|\W*(?:or|and|alternatively|maybe|perhaps|possibly)\b|\W*not\b"
)
# After the move, what names another one that was not chosen.
_OTHER = rf"{_SQUARE}(?:{_BETWEEN}{_SQUARE})*"
_PASSED_OVER = re.compile(
    rf"[\s(,;!-]*(?:not|rather than|instead of|over) {_OTHER}\b\)?"
    rf"|[\s(,;!-]*{_OTHER} (?:(?:was|is|would be|would have been) (?:my|a|the) (?:close )?"
    r"(?:second|alternative)|gives (?:the|my) opponent)\b\)?"
)
_NOT_BUT = re.compile(rf"\W*not {_OTHER},? but (?:rather )?")
RETRACTS = re.compile(
    r"(?:^|[.!?:;,\n(-])\W*(?:but |and |oh,? )*(?:wait|hold on|actually|sorry|oops|hmm+|correction|"
    r"scratch that|no\b(?! \w))"
    r"|\b(?:on second thoughts?|i mean|i meant|changed? my (?:mind|move|answer)|let me re\w+|"
    r"i(?:'ll)? re(?:consider|think)|ignore (?:that|this|the above)|take (?:that|it) back|"
    r"(?:that|this|it|which|move) (?:is|was) (?:actually )?(?:illegal|not legal|invalid|wrong))\b"
    r"|\binstead\b(?! of)"
)


@dataclass(frozen=True)
class MoveReader:
    """Reads the moves of one position."""

    legal: dict[Move, int]  # the action of each legal move
    _patterns: tuple[re.Pattern[str], ...]  # of a move, legal or not

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, position: Position) -> MoveReader:
        """Return the reader of a position."""
        legal = {}
        for named, action in legal_spellings(position).items():
            name = named.lower()
            of_squares = re.fullmatch(rf"{_SQUARE}(?:[-x]{_SQUARE})*", name)
            legal[tuple(re.findall(_SQUARE, name)) if of_squares else (name,)] = action
        names = [move[0] for move in legal if not re.fullmatch(_SQUARE, move[0])]
        lengths = {len(move) for move in legal if move[0] not in names} or {1, 2}
        patterns = [_BETWEEN.join([f"({_SQUARE})"] * n) for n in sorted(lengths, reverse=True)]
        patterns += [f"({re.escape(name)})" for name in names]
        if any(map(str.isdecimal, names)):
            patterns.append(r"(\d{1,2})")  # other files are moves, too, if not legal ones
        return cls(legal, tuple(re.compile(rf"{p}(?!\w)", re.ASCII) for p in patterns))

    def alone(self, text: str) -> Move | None:
        """Return the move if a `plain` text is nothing else, in whatever spelling."""
        text = _spelled(text).strip(" \n\t().!,;:#").removeprefix("from ")
        if _PASSES.fullmatch(text) or (PASS in self.legal and text in _NOTHING):
            return PASS
        found = (pattern.fullmatch(text) for pattern in self._patterns)
        return next((move.groups() for move in found if move), None)

    def answer(self, text: str) -> Move | None:
        """Return the move of a `plain` answer, which may explain it; None if it names no move, or
        more than one, or takes its move back.
        """
        if move := self.alone(text):
            return move
        text = _NOT_BUT.sub("", _spelled(text), count=1)
        start = _LEAD.match(text)
        for pattern in self._patterns:
            found = pattern.match(text, start.end() if start else 0)
            rest = _PASSED_OVER.sub(".", text[found.end() :], count=1) if found else ""
            if found and _EXPLAINS.match(rest):
                is_clear = not _ANOTHER.match(rest) and not RETRACTS.search(rest)
                return found.groups() if is_clear else None
        return None


def _spelled(text: str) -> str:
    """Return an answer without quotes, brackets and Markdown, with its squares written shortly."""
    text = _DECORATION.sub("", text)
    for pattern, square in _IN_WORDS:
        text = pattern.sub(square, text)
    return text.strip()
