"""Which move a writer chooses in prose: what is said of each move that is named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise, zip_longest

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
        listed_here = _runs(sentence, mentions)
        question = sentence.rstrip().endswith("?")
        end, said, unreserved = 0, "", len(self.open)
        for mention, following in zip_longest(mentions, mentions[1:]):
            move, near = mention.squares, max(0, mention.start - _FAR)
            before, whole = sentence[max(end, near) : mention.start], sentence[near : mention.start]
            after, end = sentence[mention.end : mention.end + _FAR], mention.end
            linked = said if phrases.LINK.fullmatch(before) else ""
            others = bool(self._others.search(whole))
            between = following and sentence[mention.end : following.start]
            if len(move) > 1 and between != " to ":
                before, whole = (phrases.FROM.sub("", part) for part in (before, whole))
            introduced = phrases.INTRODUCES.search(whole) and not (
                after.strip(" \n.!\"'")
                or phrases.LISTS.search(before)
                or self._others.search(before)
            )
            praised = (
                phrases.PRAISED.match(after)
                or phrases.BETTER.fullmatch(between or "")
                or phrases.UNBEATEN.search(before)
                or phrases.BEST_IS.search(whole)
            )
            is_out = not (introduced or praised) and (
                phrases.REJECTS.search(before)
                or (
                    phrases.REJECTED.match(after)
                    and not (after[:2] == ", " and self._commits(before, whole, "", others))
                )
            )
            instead = linked == "rejected" and phrases.INSTEAD.search(whole)
            linked = "" if instead else linked
            if instead and not after.strip(" \n.!"):
                said = "chosen"
                self._choose(move)
            elif is_out or phrases.ONLY_IF.match(after) or linked == "rejected":
                said = (
                    "against" if phrases.FROM.search(before) and between == " to " else "rejected"
                )
                if move in self.chosen:
                    self.chosen, self.withdrawn = [], True
                elif linked and phrases.COULD.search(sentence[: mentions[0].start]):
                    self.possible += [mentions[0].squares, move]
            elif question or mention in listed_here:
                said = ""
                if question and phrases.ALSO.search(before):
                    self.possible += [mentions[0].squares, move]
            elif (
                phrases.AGAINST.search(before)
                or phrases.WITH.fullmatch(between or "")
                or (before.endswith("from ") and between == " to ")
            ):
                said = "against"
            elif linked == "chosen" and phrases.ALSO.search(before):
                self.chosen.append(move)
            elif (
                introduced
                or (praised and not (others or phrases.UNLESS.search(whole)))
                or (said == "against" and phrases.WITH_IT.fullmatch(before))
                or self._commits(before, whole, after, others)
            ):
                said = "chosen"
                self._choose(move)
            elif (
                listed
                or others
                or linked == "away"
                or (said in ("open", "chosen") and phrases.SAME_CLAUSE.fullmatch(before))
                or phrases.AWAY.search(whole)
                or phrases.NEGATIVE.search(before)
                or phrases.IF.search(whole)
            ):
                said = "away"  # or an object: "d3 stops e4"
            else:
                said = "open"
                self.open.append(move)
        if mentions and said != "rejected" and phrases.TAKES_IT.search(sentence[end:]):
            self._choose(mentions[0].squares)
        if mentions:
            named = _distinct(self.open[unreserved:])
            at_end = not sentence[mentions[-1].end :].strip(" \n.!*`'\"")
            self.last = [*named] if at_end and named == (mentions[-1].squares,) else []

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
