"""Prompts: the rules, the game so far, the position, and how to answer."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from textwrap import indent

from boardenvs.board.bitboard import drawn
from boardenvs.game.contract import Game
from boardenvs.game.position import Position
from boardenvs.text.reader import Reading

_FORM = '{"move": "<your move>"}'


def write_prompt(
    positions: Sequence[Position],
    actions: Sequence[int] = (),
    *,
    legal_moves: bool = False,
    reading: Reading | None = None,
) -> str:
    """Return the prompt for the last of the positions, after the actions between them.

    Each prompt stands alone. legal_moves: whether they are listed. reading: of the last reply, if
    it was no legal move.
    """
    position, game = positions[-1], positions[-1].game
    own, other = game.sides[position.to_move], game.sides[1 - position.to_move]
    parts = [
        f"You play {game.title}. You are {own}, and {other} is your opponent.",
        f"# Rules\n\n{_rules(game)}",
        f"# The game so far\n\n{_history(positions, actions)}",
        f"# The position\n\n{_draw(position)}\n\nIt is your turn: {own} is to move.",
    ]
    if legal_moves:
        parts.append(f"Your legal moves are: {', '.join(legal_names(position))}.")
    parts.append(f"# Your answer\n\n{_form(game)}")
    if reading is not None:
        parts.append(f"# Your last reply\n\n{_complaint(reading)}")
    return "\n\n".join(parts) + "\n"


def legal_names(position: Position) -> list[str]:
    """Return the legal moves as prompts write them."""
    return [position.game.action_name(a, position) for a in position.legal_actions()]


def _line(cells: Sequence[str], wide: int) -> str:
    return " ".join(cell.ljust(wide) for cell in cells).rstrip()


def _draw(position: Position) -> str:
    game, (height, width) = position.game, position.game.board
    own = game.text_of(position)
    if own is not None:
        return indent(own, "    ")
    first, second = game.sides
    sets = [(side[0].upper(), position.pieces(i)) for i, side in enumerate(game.sides)]
    signs = drawn([*sets, ("#", game.holes)], game.board.size)
    firsts = reversed(range(0, height * width, width))  # of each row, from the top
    labels = game.labels(position) or {}
    cells = [f"{sign}{labels.get(square, '')}" for square, sign in enumerate(signs)]
    wide = max(map(len, cells))
    rows = [f"{game.square_name(a)[1:]:>2} {_line(cells[a:][:width], wide)}" for a in firsts]
    lines = [f"   {_line('abcdefghijklmnop'[:width], wide)}", *rows]
    legend = (
        f"{first[0].upper()} is one of the {game.about.pieces} of {first}, "
        f"{second[0].upper()} one of {second}, and . an empty square"
        f"{', # a hole' if game.holes else ''}."
    )
    rest = zip(game.further_words, position.by_role()[2:], strict=True)  # such as kings
    texts = [f"{name.replace('_', ' ')}: {game.word_text(name, w)}" for name, w in rest if w]
    return "\n".join([*(f"    {line}" for line in lines), "", legend, *texts])


def _rules(game: Game) -> str:
    about = game.about
    one_line_each = re.sub(r"(?<!\n)\n(?!\n)", " ", about.instructions)
    rules = one_line_each or f"{about.rules}\n\n{about.end}".strip()
    return rules or inspect.cleandoc(game.source.__doc__ or "")


def _form(game: Game) -> str:
    start = game.start()
    form = game.notation.form(game, start.legal_actions()[0], start)
    return (
        f"A move is written {form}. Think as long "
        f"as you like, and then end your reply with your move as JSON, in this form:\n\n{_FORM}"
    )


def _complaint(reading: Reading) -> str:
    wrong = f"No move could be read from your last reply: {reading.text}."
    if reading.kind == "illegal":
        wrong = f"You chose {reading.text}, which is not a legal move."
    return f"{wrong} Choose a legal move, and end your reply with it, in the form {_FORM}"


def _history(positions: Sequence[Position], actions: Sequence[int]) -> str:
    game = positions[0].game
    lines = [] if positions[0] == game.start() else ["The game began at a position of its own."]
    for number, (before, action) in enumerate(zip(positions, actions, strict=False), 1):
        lines.append(f"{number}. {game.sides[before.to_move]}: {game.action_name(action, before)}")
    return "\n".join(lines) if actions else " ".join([*lines, "Nobody has moved yet."])
