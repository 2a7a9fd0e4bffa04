"""Read replies: the move that one chooses, an illegal move, or nothing that can be read.

A reply gives its move in an answer slot, of which the last one decides: a JSON object, a tag, a
box or a line "Final answer: e6"; or it is nothing but a move. No move is guessed from prose.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, get_args

from boardenvs.game.errors import IllegalActionError
from boardenvs.game.game import Game
from boardenvs.game.notation import plain_move
from boardenvs.game.position import Position
from boardenvs.games.notation import legal_names, parse_move
from boardenvs.utils.checks import cut

_MOST_READ = 20_000  # characters: the last ones of a reply, without its thinking
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

# ---- what models write ---------------------------------------------------------------------------

_TAGS = "think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis|scratchpad|seed:think"
_THINKS = re.compile(
    rf"<(?:{_TAGS})>|\[think\]|◁think▷|<\|channel\|>(?:analysis|commentary)", re.IGNORECASE
)
_THOUGHT = re.compile(
    rf"</(?:{_TAGS})>|\[/think\]|◁/think▷|<\|channel\|>final[^<]{{0,40}}<\|message\|>",
    re.IGNORECASE,
)
_NAME = "move|answer|action"
_SLOT = re.compile(
    rf"""\{{[^{{}}]{{0,4000}}["'](?:{_NAME})["']\s*:\s*["']([^"'{{}}]{{0,100}})["']"""
    r"[^{}]{0,4000}\}"
    rf"|<({_NAME})>([^<>{{}}]{{0,100}})</\2>"
    r"|\\boxed\{((?:[^{}]|\{[^{}]{0,100}\}){0,100})\}"
    r"|\bfinal answer\W{0,4}:([^\n{<\\]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_OPEN = re.compile(rf"(?:\{{|<(?:{_NAME})>)[^{{}}<>]*\Z", re.IGNORECASE)  # a slot without an end
_SQUARE = re.compile(r"\b[a-z]\d{1,2}\b", re.IGNORECASE)
_TOGETHER = re.compile(r"[^\n]*|\W*")  # between slots of one line, or of a list
# What is no part of a move: Markdown, LaTeX, quotes, brackets, arrows and words.
_AROUND = re.compile(r"\\[a-z]+|\b(?:from|to|move)\b|[^\w\s+#=-]|_", re.IGNORECASE)


@dataclass(frozen=True)
class Reading:
    """The reading of a reply."""

    kind: Kind
    action: int | None  # of a legal move
    text: str  # the move, or why none could be read


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
    *_, text = _THOUGHT.split(reply[-_MOST_TAKEN:])
    if _THINKS.search(text):
        return Reading("cut_off", None, "the reply ends before its thinking does")
    if not text.strip():
        return Reading("no_answer", None, "the reply is empty, except for its thinking")
    text = unicodedata.normalize("NFKC", html.unescape(text[-_MOST_READ:]))[-_MOST_READ:]
    slots = [*_SLOT.finditer(text)]
    slot = slots[-1] if slots else None
    rest = text[slot.end() :] if slot else text
    if _OPEN.search(rest):
        return Reading("cut_off", None, "the answer is cut off")
    if slot is None:
        return _reading(text, position, "there is neither an answer slot nor a move alone")
    if _SQUARE.search(rest):
        return Reading("unreadable", None, "the reply names a square after its answer")
    for earlier in slots[-2:-1]:
        between = text[earlier.end() : slot.start()]
        answers = {plain_move(_answer(each), position.game) for each in (earlier, slot)}
        if len(answers) > 1 and _TOGETHER.fullmatch(between):
            return Reading("unreadable", None, "the reply gives several answers")
    answer = _answer(slot)
    return _reading(answer, position, f"the answer {cut(answer)!r} is no move")


def _answer(slot: re.Match[str]) -> str:
    return slot[slot.lastindex or 0].strip()


def _reading(answer: str, position: Position, otherwise: str) -> Reading:
    """Return the reading of an answer, which is unreadable if it has not the form of a move."""
    game, text = position.game, _AROUND.sub(" ", answer)
    try:
        action = parse_move(text, position)
    except IllegalActionError:
        move = plain_move(text, game)
    else:
        return Reading("move", action, game.action_name(action, position))
    actions = map(game.action_name, range(game.num_actions))
    names = [*legal_names(position), *legal_names(game.start()), *actions]
    forms = {_form(plain_move(name, game), game) for name in names}
    if _form(move, game) in forms or game.notation.usual.fullmatch("".join(text.split())):
        return Reading("illegal", None, move)
    return Reading("unreadable", None, otherwise)


def _form(move: str, game: Game) -> str:
    """Return the move with all squares alike, and two for all those of a piece that goes on."""
    move = re.sub(r"\d+", "1", re.sub(r"[a-z](?=\d)", "a", move))
    return move if game.alternates else re.sub("(-a1)+", "-a1", move)
