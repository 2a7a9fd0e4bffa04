"""Read replies: the move that one chooses, an illegal move, or nothing that can be read.

A reply must give its move in an answer slot, of which the last one decides, or be nothing but a
move. No move is ever guessed from prose, and none is put in place of the one that was named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from boardenvs.game.position import Position
from boardenvs.text.moves import RETRACTS, Move, MoveReader, plain
from boardenvs.text.slots import OPEN, Slot, slots, spoken
from boardenvs.utils.checks import cut

MOST_READ = 20_000  # characters: the last ones of a reply, without its thinking
_MOST_TAKEN = 1 << 22  # characters: the last ones of a reply, with its thinking


Kind = Literal["move", "illegal", "unreadable", "cut_off", "no_answer", "refused", "filtered",
               "tool_call"]  # fmt: skip
KINDS = get_args(Kind)
# By an endpoint's reason for the end of a reply: such replies are no moves, whatever their text.
FINISH_REASONS: dict[str, tuple[Kind, str]] = {
    **dict.fromkeys(
        ("length", "max_tokens", "error", "abort", "timeout"), ("cut_off", "the reply was cut off")
    ),
    "content_filter": ("filtered", "the reply was held back by a content filter"),
    "refusal": ("refused", "the model refuses to answer"),
    **dict.fromkeys(
        ("tool_calls", "function_call", "tool_use"), ("tool_call", "the model calls another tool")
    ),
}


@dataclass(frozen=True)
class Reading:
    """The reading of a reply."""

    kind: Kind
    action: int | None  # of a legal move
    text: str  # the move, or why none could be read


class _UnreadableError(ValueError):
    """Why no move can be read."""

    def __init__(self, why: str, kind: Kind = "unreadable") -> None:
        super().__init__(why)
        self.kind = kind


def read(reply: str, position: Position, *, finish_reason: str = "stop") -> Reading:
    """Read a reply in a position in which the game is not over. Never raises, whatever the text.

    finish_reason: as endpoints give it, such as "length" if a limit of tokens cut the reply off: it
    is then never a move.

    ```python
    import boardenvs
    from boardenvs.text import read

    position = boardenvs.games.make("lines_of_action").start()
    print(read('I like c1-c3, but safer is {"move": "b1-b3"}', position))
    ```
    """
    if finish_reason in FINISH_REASONS:
        kind, why = FINISH_REASONS[finish_reason]
        return Reading(kind, None, why)
    moves = MoveReader.of(position)
    try:
        move = _chosen(reply, moves)
    except _UnreadableError as error:
        return Reading(error.kind, None, str(error))
    action = moves.legal.get(move)
    return Reading("illegal" if action is None else "move", action, "-".join(move))


_CHOOSES = re.compile(
    r"\b(?:i(?:'ll| will|'d)?(?: now| rather)? (?:play|choose|pick|select|take|change|switch|move|"
    r"go with)|(?:move|answer|choice) is)\b[\s:]*(?:to |from )?([^\n]{0,40})"
)


def _chosen(reply: str, moves: MoveReader) -> Move:
    """Return the move that a reply chooses."""
    text = spoken(reply[-_MOST_TAKEN:])
    if text is None:
        raise _UnreadableError("the reply ends before its thinking does", "cut_off")
    if not text.strip():
        raise _UnreadableError("the reply is empty, except for its thinking", "no_answer")
    text = plain(text[-MOST_READ:])[-MOST_READ:]
    found = slots(text)
    last = found[-1] if found else None
    after = text[last.end :] if last else text
    if OPEN.search(after[-2000:]):
        raise _UnreadableError("the answer is cut off", "cut_off")
    if last is None:
        move = moves.alone(re.sub(r"```\w*", "", text))
        if move is None:
            raise _UnreadableError("there is neither an answer slot nor a move alone")
        return move
    move = _answer(last, moves)
    # The text around the slot must not take its move back or choose another.
    if RETRACTS.search(after):
        raise _UnreadableError("the reply takes its answer back")
    others = [moves.alone(after.rstrip().rpartition("\n")[2])]
    others += map(moves.answer, _CHOOSES.findall(after))
    between = text[found[-2].end : last.start].strip() if found[1:] else "-"
    if between == "," or (last.is_listed and not between):
        others += map(moves.answer, found[-2].answers)
    if any(other not in (None, move) for other in others):
        raise _UnreadableError("the reply gives several answers")
    return move


def _answer(slot: Slot, moves: MoveReader, depth: int = 4) -> Move:
    """Return the one move of a slot, which may have another slot within."""
    found = set()
    for answer in slot.answers:
        inner = slots(answer) if depth else []
        if inner and inner[-1].covers(answer):
            found.add(_answer(inner[-1], moves, depth - 1))
        elif move := moves.answer(plain(answer)):
            found.add(move)
    if len(found) == 1:
        return found.pop()
    shown = cut(" / ".join(answer.strip() for answer in slot.answers))
    raise _UnreadableError(f"the answer {shown!r} is {'several moves' if found else 'no move'}")
