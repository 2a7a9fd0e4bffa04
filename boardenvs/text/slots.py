"""The parts of a reply that are made to be read by programs: what is thought and what is said, and
the slots in which an answer stands, such as JSON, tags, boxes and labels.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_MOST_OBJECTS = 100  # of JSON that are tried, the last of a reply
_MOST_SLOTS = 100  # that are looked at, the last

# ---- thinking ------------------------------------------------------------------------------------

_THINK = r"think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis|scratchpad|seed:think"
_TAG = re.compile(
    rf"(?P<open><(?:{_THINK})\b[^<>]{{0,40}}>|\[think(?:ing)?\]|◁think▷|<\|begin_of_thought\|>"
    r"|<\|channel\|>(?:analysis|commentary)[^<]{0,80}<\|message\|>)"
    rf"|(?P<close></(?:{_THINK})>|\[/think(?:ing)?\]|◁/think▷|<\|end_of_thought\|>"
    r"|<\|channel\|>final[^<]{0,40}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"<\|[a-z_]{1,30}\|>", re.IGNORECASE)  # of chat templates
_QUOTED = re.compile(r"^[ \t]*>(?![=>]).*$", re.MULTILINE)
_STRUCK = re.compile(r"(?<!~)~~(?!~)[^~]{1,500}~~(?!~)")


def said(text: str) -> tuple[str, bool]:
    """What is left of a reply without its thinking, quotes and what is struck out, and whether its
    thinking came to an end.

    Where only the end of thinking is there, all before it was thought.
    """
    kept, since, thinking = list[str](), 0, False
    for tag in _TAG.finditer(text):
        if tag["open"]:
            if not thinking:
                kept.append(text[since : tag.start()])
            thinking = True
        else:
            if not thinking:
                kept = []
            thinking, since = False, tag.end()
    if not thinking:
        kept.append(text[since:])
    text = _TOKEN.sub(" ", " ".join(kept))
    return _STRUCK.sub(" ", _QUOTED.sub("", text)), not thinking


# ---- slots ---------------------------------------------------------------------------------------


class Slot(NamedTuple):
    """An answer in its place; `text` is None where it was cut off."""

    text: str | None
    start: int
    end: int
    strict: bool  # made for programs: nothing but the answer stands in it


# The first of these that an object has is its answer; the others where what they have is a move.
_KEYS = (
    *("move", "final_move", "best_move", "chosen_move", "my_move", "your_move", "next_move"),
    *("selected_move", "final_answer", "answer"),
)
_OTHER_KEYS = (
    *("final", "action", "play", "choice", "square", "response", "reply", "output", "result"),
    *("value", "notation", "decision"),
)
_KEY = "|".join(key.replace("_", "[_ ]?") for key in (*_KEYS, *_OTHER_KEYS))
# A key that none of these words are in may be a move's too.
_NOT_KEY = re.compile(
    "opp|enem|their|runner|last|prev|threat|expect|predict|alt|second|backup|candidate|consider|legal|"
    "valid|avail|option|reject|avoid|bad|worst|weak|reason|thought|think|analy|comment|note|"
    "explan|why|plan|idea|history|board|state|pv|line|variation|ponder|player|role|turn|from|if"
)
_PAIR = re.compile(
    rf"""(?:["']|[{{,]\s*)(?:{_KEY})["']?\s*:\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^"'\s,{{}}\[\]][^,}}\n]*)(?=[,}}]))"""
)
_OPEN_PAIR = re.compile(rf"""["'{{](?:{_KEY})["']?\s*:?\s*["'{{\[]?[^"'}}>\n]{{0,60}}$""")
_NAMES = r"move|final[_ ]?move|best[_ ]?move|final[_ ]?answer|answer|action|final|output"
_XML = re.compile(
    rf"<({_NAMES})(?: [^<>\n]{{0,60}})?(?<!/)>\s*(?:\n\s*)?([^<]{{0,2000}})(?:</\1>|(?=\n|$)|<)"
    rf"|\[({_NAMES})\]\s*([^\[\]]{{0,2000}})\[/\3\]|<({_NAMES}) ([a-z]\d[^<>]{{0,20}})/?>"
)
_BOXED = re.compile(r"\\?\bf?boxed\s*\{((?:[^{}]|\{[^{}]*\})*)(\}|$)")
_CALL = re.compile(
    r"\b(?:make|play|submit|best)_?move\b\s*(?:\(\s*(?:move\s*=\s*)?[\"']?([^\"'()\n]{0,60})[\"']?\s*\)"
    r"|[: ]\s*(\S{1,30}))"
)
_WHICH = r"(?:(?:my|the|our|final|best|chosen|selected|next|recommended|actual|definitive) ){0,3}"
_MARK = r"[*_`#\"]{0,4}"
_LABEL = re.compile(
    rf"(?:^|(?<=[.!?:;\n]))[ \t>#*_\-•]*{_MARK}{_WHICH}"
    r"(?:move|answer|action|choice|decision|selection|final|result|output|response)"
    rf"(?: is| now| \([^()\n]{{0,40}}\))?{_MARK}"
    rf"\s?(?::|=+>?|->|→|—| - ){_MARK}"
    r"[ \t]*(?P<rest>[^\n]*)(?=(?:\n\s*(?P<below>[^\n]+))?)"
    rf"|(?<!\w){_MARK}(?:final|my) (?:move|answer|choice|decision){_MARK}\s?(?::|->){_MARK}"
    r"[ \t]*(?P<rest2>[^\n]*)(?=(?:\n\s*(?P<below2>[^\n]+))?)"
    rf"|^[ \t]*(?:#{{1,6}}[ \t]*{_MARK}|\*\*|__){_WHICH}(?:move|answer|choice|decision){_MARK}:?"
    rf"{_MARK}[ \t]*\n+[ \t]*(?P<below3>[^\n]+)"
    r"|^####[ \t]+(?P<rest3>[^\n]+)",
    re.MULTILINE,
)
# Of the form of an answer, repeated: {"move": "<source>-<target>"}, {"move": "your move"}.
_FORM = frozenset(
    "your the my a one legal chosen final source target from to square move here in".split()  # noqa: SIM905
)


def _is_form(answer: str) -> bool:
    bare = answer.strip(" \"'`*")
    words = re.findall("[a-z]+", bare)
    return bool(re.fullmatch(r"<[^<>]*>(?:-<[^<>]*>)?|\.{2,}|…", bare)) or (
        bool(words) and set(words) <= _FORM and not re.search(r"\d", bare)
    )


def slots(text: str) -> tuple[list[Slot], str]:
    """The slots of a text, which is `plain` and without thinking, in order; and the text without
    what is JSON, character for character.
    """
    found, rest = _json_slots(text)
    for match in _PAIR.finditer(rest):
        found.append(_slot(match, next(g for g in match.groups() if g is not None)))
    open_end = _OPEN_PAIR.search(rest)
    if open_end and not any(slot.end > open_end.start() for slot in found):
        found.append(Slot(None, open_end.start(), len(rest), True))
    for match in _XML.finditer(rest):
        found.append(_slot(match, match[2] or match[4] or match[6] or ""))
    for match in _BOXED.finditer(rest):
        found.append(_slot(match, match[1] if match[2] else None))
    for match in _CALL.finditer(rest):
        found.append(_slot(match, match[1] or match[2]))
    for match in _LABEL.finditer(rest):
        beside = next((g for g in ("rest", "rest2", "rest3") if match[g]), None)
        if beside is None or not match[beside].strip(" *_`\"'"):
            beside = next((g for g in ("below", "below2", "below3") if match[g]), None)
        if beside is not None:
            found.append(Slot(match[beside], match.start(), match.end(beside), False))
    found = sorted(found, key=lambda slot: (slot.end, -slot.start))[-_MOST_SLOTS:]
    answers = [
        slot
        for slot in found
        if slot.text is None
        or not (_is_form(slot.text) or (_is_empty(slot.text) and _has_another(slot, found)))
    ]
    return answers, rest


def _is_empty(answer: str) -> bool:
    """Whether nothing is in it, or a fence around what was JSON."""
    return not answer.replace("```json", "").strip(" \n`")


def is_open(rest: str) -> bool:
    """Whether what `slots` left ends within an object of JSON."""
    return re.search(r"""\{\s*"[^"\n]{1,40}"\s*:[^{}]*$""", rest) is not None


def _has_another(outer: Slot, found: list[Slot]) -> bool:
    """Whether there is a slot within, as of JSON between tags."""
    return any(s is not outer and outer.start <= s.start and s.end <= outer.end for s in found)


def _slot(match: re.Match[str], answer: str | None) -> Slot:
    return Slot(answer, match.start(), match.end(), True)


def _json_slots(text: str) -> tuple[list[Slot], str]:
    """The answers in objects of JSON, and the text with these objects blanked out."""
    found, pieces, end = list[Slot](), list[str](), 0
    starts = [match.start() for match in re.finditer(r"\{", text)][-_MOST_OBJECTS:]
    for start in starts:
        if start < end:
            continue
        try:
            value, stop = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        answer, prose = _answer_of(value), ""
        if answer is not None:
            found.append(Slot(answer, start, stop, True))
        elif isinstance(value, dict):  # a reply that was wrapped
            prose = next((v for k in _WRAPS if isinstance(v := value.get(k), str)), "")
        pieces += [text[end:start], prose.ljust(stop - start)[: stop - start]]
        end = stop
    return found, "".join([*pieces, text[end:]])


_SQUARE = re.compile(r"[a-zA-Z]\d{1,2}")
_WRAPS = ("text", "message", "content", "response", "reply", "output")
_TARGET = re.compile(r"(?:\b|_)to(?:\b|_)|target|dest|dst|end|final", re.IGNORECASE)
_NAMED = re.compile(rf"({_SQUARE.pattern})(?:[-x ]*({_SQUARE.pattern}))?")
_MOVELIKE = re.compile(r"(?!.*/.*/).*(?:\d|\bpass\b|\bnoop\b)")  # and no position
_DECODER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)


def _answer_of(value: Any, depth: int = 8) -> str | None:
    """What an object answers: under one of the keys, or in an object within."""
    if not isinstance(value, dict) or not depth:
        return None
    ends = {k: v for k, v in value.items() if isinstance(v, str) and _SQUARE.fullmatch(v)}
    if len(ends) == 2 and _TARGET.search(list(ends)[1]):
        return "-".join(ends.values())  # {"from": "b1", "to": "b3"}
    for keys in (_KEYS, _OTHER_KEYS):
        for key in keys:
            for name in (key, key.replace("_", " "), key.replace("_", "")):
                answer = _text_of(value[name], depth) if name in value else None
                if answer is not None and (keys is _KEYS or _MOVELIKE.match(answer)):
                    return answer
    others = [_text_of(v, 0) for key, v in value.items() if not _NOT_KEY.search(key)]
    named = [text for text in others if text is not None and _NAMED.fullmatch(text)]
    if len(named) == 1:
        return named[0]
    alone = (v[0] if isinstance(v, list) and len(v) == 1 else v for v in value.values())
    inner = (_answer_of(v, depth - 1) for v in alone if isinstance(v, dict))
    return next((answer for answer in inner if answer is not None), None)


def _text_of(value: Any, depth: int) -> str | None:
    if isinstance(value, dict):
        return _answer_of(value, depth - 1)
    if isinstance(value, list):
        return " ".join(str(v) for v in value[:4]) if len(value) < 5 else None
    return "null" if value is None else str(value)
