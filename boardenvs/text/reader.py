"""What a reply means: which move it chooses, or that it chooses none, an illegal one, or two.

What counts is the writer's last word. The reply is read without its thinking; the last answer slot
decides, and where there is none, what the prose around the moves says. No move is ever put in
place of one that the writer has named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from boardenvs.game.position import Position
from boardenvs.text import phrases
from boardenvs.text.disguise import Disguise
from boardenvs.text.moves import PASS, Moves, plain
from boardenvs.text.prose import Chosen, choice
from boardenvs.text.slots import is_open, said, slots
from boardenvs.utils.checks import cut

MOST_READ = 20_000  # characters of what is said: the last ones
_MOST_TAKEN = 1 << 22  # characters of a reply, the last ones

Kind: TypeAlias = Literal["move", "illegal", "ambiguous", "unparsable"]


@dataclass(frozen=True)
class Reading:
    """What a reply was read as.

    `text` is the move as it was read, or the moves, or why there is none.
    """

    kind: Kind
    action: int | None  # of a legal move
    text: str


def read(
    reply: str, position: Position, disguise: Disguise | None = None, *, finished: bool = True
) -> Reading:
    """What a reply means in a position, in which the game is not over.

    `finished=False` is for a reply of which it is known that it was cut off, by a limit of tokens:
    only what stands in a slot then counts. Never raises, whatever the text is.

    ```python
    import boardenvs
    from boardenvs.text import read

    position = boardenvs.games.make("lines_of_action").start()
    print(read('I like c1-c3, but safer is {"move": "b1-b3"}', position))
    ```
    """
    moves = Moves.of(position, disguise or Disguise(position.game))
    text, thought = said(reply[-_MOST_TAKEN:])
    if not thought:
        return Reading("unparsable", None, "the reply ends before its thinking does")
    text = plain(text[-MOST_READ:])[-MOST_READ:]
    found, rest = slots(text)
    for slot in reversed(found):
        if slot.text is None:
            return Reading("unparsable", None, "the answer is cut off")
        if phrases.REJECTS.search(rest[max(0, slot.start - 60) : slot.start].rpartition("\n")[2]):
            continue  # 'not {"move": "d3"}'
        chosen = _answer(slot.text, moves)
        later = rest[slot.end :]
        if chosen and not slot.strict and phrases.RETRACTS.search(later):
            return _verdict(choice(later, moves), moves, "the reply takes its answer back")
        if chosen or slot.strict:
            return _verdict(chosen, moves, f"{cut(slot.text.strip())!r} is no move")
    if not finished or is_open(rest):
        return Reading("unparsable", None, "the reply is cut off")
    return _verdict(choice(rest, moves), moves, "the reply chooses no move")


def _answer(text: str, moves: Moves) -> Chosen:
    """The move in a slot."""
    named = moves.find(text, answer=True)
    if not named:
        return (PASS,) if moves.is_pass(text) else ()
    distinct = tuple(dict.fromkeys(mention.squares for mention in named))
    if len(distinct) == 1:
        return distinct
    between = text[named[0].end : named[1].start].strip(" ,;*`'\"")
    lead = text[: named[0].start].strip(" \"'*`([{")
    if not lead and between[:1] in (".", "(") and not phrases.RETRACTS.search(between):
        return distinct[:1]
    chosen = choice(text, moves)
    if len(chosen) == 1:
        return chosen
    if not lead and between not in ("", "or", "and", "/", "&", "|", "+", "or maybe", "or else"):
        return distinct[:1]  # what follows explains it
    return distinct


def _verdict(chosen: Chosen, moves: Moves, why: str) -> Reading:
    named = [" or ".join("-".join(squares) for squares in chosen)]
    if not chosen:
        return Reading("unparsable", None, why)
    if len(chosen) > 1:
        return Reading("ambiguous", None, cut(named[0]))
    action = moves.legal.get(chosen[0])
    return Reading("illegal" if action is None else "move", action, named[0])
