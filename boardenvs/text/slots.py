"""The parts of a reply that are made for programs: its thinking, and its answer slots, which are
JSON objects, tags, boxes and labels such as "Final answer:".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_MOST_OBJECTS = 100  # JSON objects that are tried, the last ones of a reply

# ---- thinking ------------------------------------------------------------------------------------

_THINK = r"think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis|scratchpad|seed:think"
_THINKING = re.compile(
    rf"(?P<open><(?:{_THINK})\b[^<>]{{0,40}}>|\[think(?:ing)?\]|◁think▷|<\|begin_of_thought\|>"
    r"|<\|channel\|>(?:analysis|commentary)[^<]{0,80}<\|message\|>)"
    rf"|(?P<close></(?:{_THINK})>|\[/think(?:ing)?\]|◁/think▷|<\|end_of_thought\|>"
    r"|<\|channel\|>final[^<]{0,40}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>)",
    re.IGNORECASE,
)
_NOT_SAID = (
    re.compile(r"<\|[a-z_]{1,30}\|>", re.IGNORECASE),  # tokens of chat templates
    re.compile(r"^[ \t]*>(?![=>]).*$", re.MULTILINE),  # quotes
    re.compile(r"(?<!~)~~(?!~)[^~]{1,500}~~(?!~)"),  # struck out
    re.compile(r"<(s|del|strike|blockquote)>[^<]{0,500}</\1>", re.IGNORECASE),
    re.compile(r"<!--(?:(?!<!--|-->).){0,2000}-->", re.DOTALL),
)


def spoken(text: str) -> str | None:
    """Return a reply without its thinking, its quotes and what is struck out; None if its thinking
    has no end.

    If a reply has only the end of thinking, all before it was thought.
    """
    kept, since, thinking = list[str](), 0, False
    for tag in _THINKING.finditer(text):
        if tag["open"]:
            if not thinking:
                kept.append(text[since : tag.start()])
            thinking = True
        else:
            if not thinking:
                kept = []
            thinking, since = False, tag.end()
    if thinking:
        return None
    text = " ".join([*kept, text[since:]])
    for pattern in _NOT_SAID:
        text = pattern.sub(" ", text)
    return text


# ---- slots ---------------------------------------------------------------------------------------


class Slot(NamedTuple):
    """An answer slot of a text."""

    start: int
    end: int
    answers: tuple[str, ...]  # the texts in it, which must all give the same move
    is_listed: bool = False  # a label without "final" or "my", as candidates in a list have

    def covers(self, text: str) -> bool:
        """Whether nothing but decoration is around it."""
        around = text[: self.start] + text[self.end :]
        return not around.replace("json", "").strip(" \n\t*_`\"'()[].:")


_NAMES = ("move", "final move", "best move", "chosen move", "my move", "your move", "next move",
          "selected move", "final answer", "answer", "action", "final action", "final",
          "play", "square")  # fmt: skip
_KEYS = frozenset(name.replace(" ", "") for name in _NAMES)
_KEY = "|".join(name.replace(" ", "[ _-]?") for name in sorted(_NAMES, key=len, reverse=True))
_PAIR = re.compile(rf"[\"']?\b({_KEY})[\"']?\s*[:=]\s*(\[[^\[\]]*\]|\"[^\"]*\"|'[^']*'|[^,{{}}]*)")
_OBJECT = re.compile(r"\{[^{}]{0,500}\}")
# The beginning of a slot at the end of a text.
OPEN = re.compile(
    rf"(?:\{{\s*[\"']?(?:{_KEY})[\"']?\s*(?::[^{{}}]*)?|\bf?boxed\s*\{{[^{{}}]*"
    rf"|<(?:{_KEY})>[^<>{{}}]*)$"
)
_TAG = re.compile(
    rf"<({_KEY})(?: [^<>]{{0,60}})?>((?:(?!<\1\b(?!\s*/>)).){{0,2000}}?)(?:</\s*\1\s*>|<\1\s*/>)"
    rf"|\[({_KEY})\]([^\[\]]{{0,500}})\[/\3\]",
    re.DOTALL,
)
_BOX = re.compile(r"\\?\bf?boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_MARK = r"[*_`\"']{0,4}"
_NOUN = (
    "(?P<which>(?:(?:so|thus|hence|therefore|my|the|our|final|best|chosen|selected|next),? ){0,3})"
    rf"(?:move|answer|action|choice|decision|play)(?: is)?{_MARK}[ \t]*"
)
_BELOW = r"(?=\s*(?P<answer>[^\n]+))"
_LABELS = (
    re.compile(
        rf"(?:^|(?<=[.!?:;] )(?=(?:my |the )?final ))[ \t]*(?:#{{1,6}}[ \t]+|[-•*][ \t]+"
        rf"(?={_MARK}(?:(?:my |the )?final |answer)))?{_MARK}{_NOUN}(?::|=+>?|->){_MARK}{_BELOW}",
        re.MULTILINE,
    ),
    # Headings without a colon.
    re.compile(rf"^[ \t]*(?:#{{1,6}}[ \t]+{_MARK}|\*\*|__){_NOUN}\n{_BELOW}", re.MULTILINE),
)
# Before a slot, what says that it is not the answer.
_REJECTS = re.compile(
    r"(?:\bnot|n't|\bnever|\bavoid(?:ing)?|\binstead of|\brather than|\bthan|\bexample|\be\.g\.?|"
    r"\bfor instance|\bsuch as|\bpreviously|\bearlier|\bopponent(?: \w+)?|\billegal|\bwrong)\W*$"
)
_REJECTED = re.compile(
    r"[^\S\n]*[`*)]*[^\S\n]*(?:(?:is|was|would|looks) (?:be )?(?:illegal|not|bad|weak|wrong|too|"
    r"worse|losing|an? (?:blunder|mistake))|isn't|wasn't|wouldn't|fails|loses)\b"
)
# The form of an answer, repeated: {"move": "<your move>"}.
_FORM = re.compile(r"<[^<>]*>(?:-<[^<>]*>)?|\.{2,}|(?:(?:your|the|a|my|chosen|final|legal) )*"
                   r"(?:move|answer)(?: here)?")  # fmt: skip


def slots(text: str) -> list[Slot]:
    """Return the answer slots of a `plain` text from left to right, none within another.

    Left out are slots that are rejected or examples, and those that repeat the form of an answer.
    """
    hard = [*_objects(text), *_tags(text), *(_slot(m, m[1]) for m in _BOX.finditer(text))]
    found = list[Slot]()
    for slot in sorted([*hard, *_labels(text, hard)], key=lambda slot: (slot.start, -slot.end)):
        if not found or slot.start >= found[-1].end:
            found.append(slot)
    return [slot for slot in found if slot.answers and _is_meant(slot, text)]


def _is_meant(slot: Slot, text: str) -> bool:
    line = text[max(0, slot.start - 60) : slot.start].rpartition("\n")[2]
    is_form = all(_FORM.fullmatch(answer.strip(" \n\"'`*")) for answer in slot.answers)
    rejected = _REJECTS.search(line) or _REJECTED.match(text, slot.end)
    return not is_form and not rejected


def _slot(found: re.Match[str], *answers: str) -> Slot:
    return Slot(found.start(), found.end(), answers)


def _tags(text: str) -> Iterator[Slot]:
    for found in _TAG.finditer(text):
        yield _slot(found, found[2] if found[1] else found[4])


def _labels(text: str, hard: list[Slot]) -> Iterator[Slot]:
    """Yield the labelled answers, unless they are nothing but the label of another slot."""
    for found in (found for label in _LABELS for found in label.finditer(text)):
        start, end = found.span("answer")
        starts = [slot.start for slot in hard if start <= slot.start < end]
        if text[start : min(starts, default=end)].strip(" *_`\"'(\\"):
            yield Slot(found.start(), end, (found["answer"],), not found["which"])


# ---- JSON ----------------------------------------------------------------------------------------


_DECODER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
_WRAPPERS = ("response", "result", "output", "reply")
_FROM, _TO = ("from", "source", "start"), ("to", "target", "end", "destination", "dest")


def _objects(text: str) -> Iterator[Slot]:
    """Yield the JSON objects; those with slips, such as single quotes, are read pair by pair."""
    end = 0
    for brace in [found.start() for found in re.finditer(r"\{", text)][-_MOST_OBJECTS:]:
        if brace < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, brace)
            yield Slot(brace, end, tuple(_answers(value)))
        except (ValueError, RecursionError):
            if found := _OBJECT.match(text, brace):
                end = found.end()
                yield _slot(found, *(answer for _, answer in _PAIR.findall(found[0])))


def _answers(value: Any, depth: int = 8) -> Iterator[str]:
    """Yield the texts that an object gives as its answer."""
    if isinstance(value, list):
        yield ",".join(map(str, value[:4]))
    elif not isinstance(value, dict):
        yield "null" if value is None else str(value)
    elif depth:
        keys = {re.sub("[ _-]", "", key): inner for key, inner in value.items()}
        ends = [keys[key] for key in (*_FROM, *_TO) if isinstance(keys.get(key), str)]
        if len(ends) == 2:
            yield "-".join(ends)
        for key, inner in keys.items():
            if key in _KEYS or (key in _WRAPPERS and isinstance(inner, dict)):
                yield from _answers(inner, depth - 1)
