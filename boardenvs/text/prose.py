"""Which move a writer chooses in prose: what is said of each move that is named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from boardenvs.text import phrases
from boardenvs.text.moves import PASS, SQUARE, Mention, Move, Moves

_WORD = re.compile(r"\S+")
_FENCED = re.compile(r"(?:```|~~~)[a-z]*[ \t]*\n?(.*?)(?:```|~~~|$)", re.DOTALL)
_QUOTED = re.compile(r'"(?=[^"\n]* [^"\n]* )[^"\n]{0,500}"')  # more than a move
_TABLE = re.compile(r"^[ \t]*\|(?!\|).*$", re.MULTILINE)
_FROM_TO = re.compile(
    rf"\b(?:from|source|start|origin|piece)(?: square)?\W*[:=]\W{{0,3}}({SQUARE})\W*\s"
    rf"\W*(?:to|target|end|destination)(?: square)?\W{{1,4}}({SQUARE})\b"
)  # in two lines
_BULLET = re.compile(r"^[ \t]*(?:[-*•+]|\(?\d{1,3}[.)])[ \t]+")
_SENTENCE = re.compile(r"[^\n.!?]*(?:[.!?](?=\S)[^\n.!?]*)*[.!?\n]*")
_MARKS = re.compile(r"[*_`]")
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,30})\]")
_BRACKETED = re.compile(rf"[(<]({SQUARE})[)>]")
_EMPHASIS = re.compile(r"(?:\*\*|__|\*|`|\[)([^*_`\[\]\n]{1,40})(?:\*\*|__|\*|`|\])")
_BEFORE_IT = re.compile(r"^\W*(?:\d{1,3}\.+\s+)?(?:i )?(?:(?:move|play)\W{1,3})?")
_END = re.compile(r"(?:[.!?…)\]\"'*`>}~|]|[^\w\s,;:(\[-])\s*$")

_FAR = 400  # characters of a sentence that are looked at on either side of a move

Chosen = tuple[Move, ...]  # one move, several without a choice between them, or none


def choice(text: str, moves: Moves) -> Chosen:
    """Which move a text, which is `plain` and without thinking and slots, chooses.

    That which is the last line or sentence alone; or the last that the writer commits to; or the
    only one that is emphasised, stands in the first line alone, or is named without a reservation.
    """
    text = _WORD.sub(lambda word: " " if word[0].count("/") > 2 else word[0], text)  # no FEN
    text = _FENCED.sub(lambda block: _unfenced(block[1]), text)
    text = _FROM_TO.sub(r"\1-\2", _TABLE.sub("", text)).strip()
    if text.count('"') > 2 or text[:1] + text[-1:] != '""':  # not all of it
        text = _QUOTED.sub(" ", text)
    text = phrases.IF_ANY.sub("", text)
    bare = _MARKS.sub("", _BRACKETED.sub(r"\1", _BRACKETS.sub(r"\1", text)))
    lines = [line for line in bare.split("\n") if re.search(r"\w", line)]
    if not lines:
        return ()
    if last := _closing(lines, moves):
        return (last,)
    story = _Story(moves, lines)
    if story.chosen or story.withdrawn:
        return _distinct(story.chosen)
    sentences = [s for s in _SENTENCE.findall(_BULLET.sub("", lines[-1])) if s.strip()]
    if len(sentences) > 1 and (last := _closing(sentences, moves)):
        return (last,)
    emphasised = (_alone(match[1], moves) for match in _EMPHASIS.finditer(text))
    marked = _distinct(move for move in emphasised if move in story.open)
    if len(marked) == 1:
        return marked
    opening = [s for s in _SENTENCE.findall(lines[0]) if s.strip()][1::-1]
    if len(opening) > 1 and (first := _closing(opening, moves)):
        return (first,)
    if first := _closing(lines[1::-1], moves):
        return (first,)
    return () if _is_cut_off(lines[-1], moves) else story.remaining()


class _Sentence(NamedTuple):
    """A sentence, and the moves that it mentions."""

    text: str
    mentions: list[Mention]
    runs: list[Mention]  # those that are listed in it
    listed: bool  # whether it is itself an item of a list
    question: bool


class _Near(NamedTuple):
    """What stands around a move in its sentence."""

    before: str  # since the move before it
    whole: str  # since the sentence began
    after: str
    between: str  # it and the next move
    links: bool  # whether nothing but "and", "or" and the like is before it
    others: bool  # whether the other side is spoken of before it


class _Story:
    """What a text says of moves, sentence by sentence."""

    def __init__(self, moves: Moves, lines: list[str]) -> None:
        self.moves = moves
        self.chosen: list[Move] = []  # more than one: "this or that"
        self.withdrawn = False  # the last choice, without another
        self.open: list[Move] = []  # named without a choice or a reservation
        self.last: list[Move] = []  # of these, those in the last sentence with any, at its end
        self.possible: list[Move] = []  # named as what could be played, and no more
        self._others, self._own = _patterns_of(*moves.roles)
        bullets = sum(bool(_BULLET.match(line)) for line in lines) > 1
        for line in lines:
            listed = bullets and bool(_BULLET.match(line))
            for sentence in _SENTENCE.findall(_BULLET.sub("", line)):
                self._read(sentence, listed)

    def remaining(self) -> Chosen:
        """What may be meant where nothing is chosen."""
        found = self.open
        if self.moves.per_move == 1:
            # Prose names squares with pieces on them, too, as what they are.
            found = [move for move in found if move[0] not in self.moves.occupied] or found
        chosen = _distinct(found)
        if len(chosen) > 1 and self.last and self.last[0] in chosen:
            return (self.last[0],)
        possible = _distinct(self.possible)
        return possible if not chosen and len(possible) > 1 else chosen

    def _read(self, sentence: str, listed: bool) -> None:
        if not self.chosen:  # else it is of what comes next
            sentence = phrases.THEN.sub("", sentence)
        passes = phrases.PASSES.search(sentence)
        if passes and not (
            phrases.UNLESS.search(sentence[: passes.start()])
            or self._others.search(sentence[: passes.end()])
        ):
            self._choose(PASS)
            return
        mentions = self.moves.find(sentence)
        if not mentions and self.chosen and phrases.WITHDRAWS.search(sentence):
            self.chosen, self.withdrawn = [], True
        said, unreserved = "", len(self.open)
        about = _Sentence(
            sentence, mentions, _runs(sentence, mentions), listed, sentence.rstrip().endswith("?")
        )
        for number, mention in enumerate(mentions):
            said = self._say(self._near(about, number), about, mention, said)
        if mentions:
            rest = sentence[mentions[-1].end :]
            if said != "rejected" and phrases.TAKES_IT.search(rest):
                self._choose(mentions[0].squares)
            named = _distinct(self.open[unreserved:])
            at_end = not rest.strip(" \n.!*`'\"")
            self.last = [*named] if at_end and named == (mentions[-1].squares,) else []

    def _near(self, about: _Sentence, number: int) -> _Near:
        """What stands around the mention of this number in its sentence."""
        text, mentions = about.text, about.mentions
        mention, left = mentions[number], max(0, mentions[number].start - _FAR)
        end = mentions[number - 1].end if number else 0
        before, whole = text[max(end, left) : mention.start], text[left : mention.start]
        links, others = bool(phrases.LINK.fullmatch(before)), bool(self._others.search(whole))
        between = ""
        if number + 1 < len(mentions):
            between = text[mention.end : mentions[number + 1].start]
        if len(mention.squares) > 1 and between != " to ":
            before, whole = (phrases.FROM.sub("", part) for part in (before, whole))
        after = text[mention.end : mention.end + _FAR]
        return _Near(before, whole, after, between, links, others)

    def _say(self, near: _Near, about: _Sentence, mention: Mention, said: str) -> str:
        """What is said of a move that is mentioned; `said` is what was of the one before it."""
        move, before, whole, after = mention.squares, near.before, near.whole, near.after
        linked = said if near.links else ""
        introduced, praised = self._introduces(near), _praises(near)
        if linked == "rejected" and phrases.INSTEAD.search(whole):
            linked = ""
            if not after.strip(" \n.!"):
                self._choose(move)
                return "chosen"
        is_out = not (introduced or praised) and self._rejects(near)
        if is_out or phrases.ONLY_IF.match(after) or linked == "rejected":
            if move in self.chosen:
                self.chosen, self.withdrawn = [], True
            elif linked and phrases.COULD.search(about.text[: about.mentions[0].start]):
                self.possible += [about.mentions[0].squares, move]
            return (
                "against" if phrases.FROM.search(before) and near.between == " to " else "rejected"
            )
        if about.question or mention in about.runs:
            if about.question and phrases.ALSO.search(before):
                self.possible += [about.mentions[0].squares, move]
            return ""
        if (
            phrases.AGAINST.search(before)
            or phrases.WITH.fullmatch(near.between)
            or (before.endswith("from ") and near.between == " to ")
        ):
            return "against"
        if linked == "chosen" and phrases.ALSO.search(before):
            self.chosen.append(move)
            return "chosen"
        if (
            introduced
            or (praised and not (near.others or phrases.UNLESS.search(whole)))
            or (said == "against" and phrases.WITH_IT.fullmatch(before))
            or self._commits(before, whole, after, near.others)
        ):
            self._choose(move)
            return "chosen"
        if (
            about.listed
            or near.others
            or linked == "away"
            or (said in ("open", "chosen") and phrases.SAME_CLAUSE.fullmatch(before))
            or phrases.AWAY.search(whole)
            or phrases.NEGATIVE.search(before)
            or phrases.IF.search(whole)
        ):
            return "away"  # or an object: "d3 stops e4"
        self.open.append(move)
        return "open"

    def _introduces(self, near: _Near) -> bool:
        """Whether it ends what was announced: "My move: d3"."""
        return bool(phrases.INTRODUCES.search(near.whole)) and not (
            near.after.strip(" \n.!\"'")
            or phrases.LISTS.search(near.before)
            or self._others.search(near.before)
        )

    def _rejects(self, near: _Near) -> bool:
        """Whether it is said to be no good, or not to be played."""
        if phrases.REJECTS.search(near.before):
            return True
        commits = near.after[:2] == ", " and self._commits(near.before, near.whole, "", near.others)
        return bool(phrases.REJECTED.match(near.after)) and not commits

    def _commits(self, before: str, whole: str, after: str, others: bool) -> bool:
        """Whether a move is chosen: by what is said since the move before it, in the sentence up to
        it and after it; `others` where that speaks of the other side.
        """
        if not others and phrases.CONFIRMS.match(after):
            return not phrases.UNLESS.search(whole)
        said = [*phrases.COMMITS.finditer(before), *self._own.finditer(before)]
        if not said:
            return False
        last = max(said, key=lambda match: match.end())
        ahead = whole[: len(whole) - len(before) + last.start()]
        clause = (ahead + before[last.start() :]).rpartition(",")[2]
        if others and self._others.search(clause) and not re.search(r"\bi\b", last[0]):
            return False
        if self.chosen and phrases.AFTER.search(ahead):
            return False  # of what comes next
        return not phrases.UNLESS.search(ahead)

    def _choose(self, move: Move) -> None:
        self.chosen, self.withdrawn = [move], False


def _praises(near: _Near) -> bool:
    """Whether it is said to be the best."""
    return bool(
        phrases.PRAISED.match(near.after)
        or phrases.BETTER.fullmatch(near.between)
        or phrases.UNBEATEN.search(near.before)
        or phrases.BEST_IS.search(near.whole)
    )


@lru_cache(maxsize=64)
def _patterns_of(own: str, other: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return phrases.others(other), phrases.own(own)


def _unfenced(content: str) -> str:
    """What stands for a block of code: its only line, or nothing, as of boards."""
    return f"\n{content.strip()}\n" if "\n" not in content.strip() else "\n"


def _closing(parts: list[str], moves: Moves) -> Move | None:
    """The move that the last of these says alone; not where the one before it does too: a list."""
    if not parts or (len(parts) > 1 and _alone(parts[-2], moves)):
        return None
    return _alone(parts[-1], moves)


def _alone(text: str, moves: Moves) -> Move | None:
    """The move that a text says and nothing else."""
    bare = _BEFORE_IT.sub("", _MARKS.sub("", text)).strip(" \t\n.,;!'\"()[]{}<>=#+|")
    if len(bare) > 40:
        return None
    if bare in ("pass", "noop", "skip"):
        return PASS
    found = moves.find(bare, answer=True)
    if len(found) == 1 and (found[0].start, found[0].end) == (0, len(bare)):
        return found[0].squares
    return None


def _distinct(found: Iterable[Move]) -> Chosen:
    return tuple(dict.fromkeys(found))


def _runs(sentence: str, mentions: list[Mention]) -> list[Mention]:
    """Those in rows of three or more: lists."""
    runs, run = list[Mention](), mentions[:1]
    for before, mention in pairwise(mentions):
        if not phrases.LINK.fullmatch(sentence[before.end : mention.start]):
            runs, run = runs + run * (len(run) > 2), []
        run = [*run, mention]
    return runs + run * (len(run) > 2)


def _is_cut_off(line: str, moves: Moves) -> bool:
    """Whether a text whose last line this is ends in the middle of what it weighs."""
    if _END.search(line):
        return False
    sentence = next((s for s in reversed(_SENTENCE.findall(line.rstrip())) if s.strip()), "")
    found = moves.find(sentence)
    if found and not sentence[found[-1].end :].strip():
        return False
    if found and sentence[found[-1].end :].startswith(":"):
        return True
    half = phrases.WEIGHS.search(sentence) or sentence.rstrip().endswith((":", ",", ";", "-", "("))
    return bool(half) or len(sentence.split()) > 12
