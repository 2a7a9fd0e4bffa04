"""What a player who reads is asked: the rules, the game so far, the position, how to answer."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from boardenvs.board.bitboard import drawn, joined, squares_of
from boardenvs.game.contract import Game
from boardenvs.game.position import Position
from boardenvs.text.disguise import Disguise
from boardenvs.text.reader import Reading
from boardenvs.utils.checks import check_name, cut

Board: TypeAlias = Literal["ascii", "fen", "json", "picture"]

_MOST_QUOTED = 300  # characters of a bad reply


class Shown(TypedDict, total=False):
    """How a game is shown: what `Style.of` takes."""

    board: Board
    legal_moves: bool
    disguise: Disguise | int | None


@dataclass(frozen=True)
class Style:
    """What prompts have in them.

    board: the position as a drawing in characters, as a line after Forsyth-Edwards Notation, as
    JSON, or as a picture, which is not in the text: see `picture`. legal_moves: whether they are
    listed. ValueError for an unknown board, and for a picture of a game in disguise.
    """

    board: Board = "ascii"
    legal_moves: bool = False
    disguise: Disguise | None = None

    def __post_init__(self) -> None:
        check_name("board", self.board, get_args(Board))
        if self.board == "picture" and self.disguise and not self.disguise.is_plain:
            raise ValueError("a picture shows the game's own squares and roles: leave disguise out")

    @classmethod
    def of(
        cls,
        game: Game,
        board: Board = "ascii",
        legal_moves: bool = False,
        disguise: Disguise | int | None = None,
    ) -> Style:
        """The style for a game, in a disguise or in that of a seed."""
        drawn = Disguise.draw(game, disguise) if isinstance(disguise, int) else disguise
        return cls(board, legal_moves, drawn)

    def shown(self, game: Game) -> Disguise:
        """How the game is called."""
        return self.disguise or Disguise(game)

    def write(
        self, positions: Sequence[Position], actions: Sequence[int], reading: Reading | None = None
    ) -> str:
        """The prompt for the last of the positions, with the actions that led from one to the next.

        Each prompt stands alone. After a reply that was no legal move, `reading` is what it was.
        """
        position = positions[-1]
        game = position.game
        shown = self.shown(game)
        own, other = shown.roles[position.to_move], shown.roles[1 - position.to_move]
        about = game.about
        rules = _unwrapped(about.instructions) or f"{about.rules}\n\n{about.end}".strip()
        rules = rules or inspect.cleandoc(type(game).__doc__ or "")
        parts = [
            f"You play {shown.title}. You are {own}, and {other} is your opponent.",
            f"# Rules\n\n{shown.write(rules)}",
            f"# The game so far\n\n{_history(positions, actions, shown)}",
            f"# The position\n\n{self.draw(position)}\n\nIt is your turn: {own} is to move.",
        ]
        if position.legal_actions() == [game.noop]:
            parts.append('You have no move, so you must pass: your move is "pass".')
        elif self.legal_moves:
            names = (shown.move(action, position) for action in position.legal_actions())
            parts.append(f"Your legal moves are: {', '.join(names)}.")
        parts.append(f"# Your answer\n\n{_form(position, shown)}")
        if reading is not None:
            parts.append(complaint(reading))
        return "\n\n".join(parts) + "\n"

    def draw(self, position: Position) -> str:
        """The position alone, as prompts have it."""
        return _position(position, self.shown(position.game), self.board)


def _unwrapped(text: str) -> str:
    """The text with each paragraph in one line."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)


def _form(position: Position, shown: Disguise) -> str:
    start = position.game.start()
    example = shown.move(start.legal_actions()[0], start)
    kind = "as the square that the piece leaves, a hyphen and the square that it goes to, such as"
    if "-" not in example:
        is_square = example in shown.names
        kind = "as the square that you choose, such as" if is_square else "like"
    return (
        f"A move is written {kind} {example}. Think as long "
        "as you like, and then end your reply with your move as JSON, in this form:\n\n"
        '{"move": "<your move>"}'
    )


def complaint(reading: Reading) -> str:
    """What a player is told of a reply that was no legal move."""
    again = 'Choose a legal move, and end your reply with it: {"move": "<your move>"}'
    if reading.kind == "illegal":
        return f"# Your last reply\n\nYou chose {reading.text}, which is not a legal move. {again}"
    if reading.kind == "ambiguous":
        return (
            f"# Your last reply\n\nYou named several moves ({reading.text}) and did not say which "
            f"of them you choose. {again}"
        )
    return (
        "# Your last reply\n\nNo move could be read from your last reply "
        f"({cut(reading.text, _MOST_QUOTED)}). {again}"
    )


def _history(positions: Sequence[Position], actions: Sequence[int], shown: Disguise) -> str:
    first = positions[0]
    began = "" if first == first.game.start() else "The game began at a position of its own. "
    if not actions:
        return f"{began}Nobody has moved yet."
    plies = [
        f"{number}. {shown.roles[before.to_move]}: {shown.move(action, before)}"
        for number, (before, action) in enumerate(zip(positions, actions, strict=False), 1)
    ]
    return "\n".join([*([began.strip()] if began else []), *plies])


# ---- positions -----------------------------------------------------------------------------------


def _position(position: Position, shown: Disguise, board: Board) -> str:
    write = {"ascii": _ascii, "fen": _fen, "json": _json, "picture": _see}[board]
    return "\n".join([write(position, shown), *_further(position, shown)])


def _rows(position: Position, shown: Disguise) -> list[str]:
    """The rows from the top, a character a square."""
    sets = [(role[0].upper(), position.pieces(i)) for i, role in enumerate(shown.roles)]
    signs = drawn([*sets, ("#", position.game.holes)], position.game.board.size)
    return ["".join(signs[square] for square in row) for row in shown.rows]


def _ascii(position: Position, shown: Disguise) -> str:
    rows = _rows(position, shown)
    names = [shown.names[row[0]] for row in shown.rows]
    files = [shown.names[square][0] for square in shown.rows[0]]
    wide = max(len(name) for name in names) - 1
    head = " " * (wide + 1) + " ".join(files)
    drawn = [f"{name[1:]:>{wide}} {' '.join(row)}" for name, row in zip(names, rows, strict=True)]
    return "\n".join([*(f"    {line}" for line in (head, *drawn)), "", _legend(shown, rows)])


def _legend(shown: Disguise, rows: list[str]) -> str:
    corners = [shown.names[row[i]] for row in (shown.rows[0], shown.rows[-1]) for i in (0, -1)]
    first, second = shown.roles
    holes = ", # a hole" if any("#" in row for row in rows) else ""
    return (
        f"{first[0].upper()} is one of the {shown.pieces} of {first}, {second[0].upper()} one of "
        f"{second}, and . an empty square{holes}. The square in the upper left corner is "
        f"{corners[0]}, in the upper right {corners[1]}, in the lower left {corners[2]}, in the "
        f"lower right {corners[3]}."
    )


def _fen(position: Position, shown: Disguise) -> str:
    rows = _rows(position, shown)
    return (
        f"    {joined(rows)} {shown.roles[position.to_move]}\n\nThese are the rows from the top,"
        f" each from left to right, a number being so many empty squares. {_legend(shown, rows)}"
    )


def _json(position: Position, shown: Disguise) -> str:
    found: dict[str, Any] = {"to_move": shown.roles[position.to_move]}
    for role, name in enumerate(shown.roles):
        found[name] = [shown.names[s] for s in squares_of(position.pieces(role))]
    if position.game.holes:
        found["holes"] = [shown.names[s] for s in squares_of(position.game.holes)]
    found["rows"] = [[shown.names[s] for s in row] for row in shown.rows]
    return (
        f"{json.dumps(found)}\n\nEach role has the squares of its {shown.pieces}; rows has all "
        "squares of the board, from the upper left corner, row by row."
    )


def _see(position: Position, shown: Disguise) -> str:
    return "The board is in the picture, with the names of its columns and rows on the edge."


def _further(position: Position, shown: Disguise) -> list[str]:
    """What else a position is made of, such as kings."""
    game = position.game
    rest = zip(game.further_words, position.by_role()[2:], strict=True)
    texts = [(name, game.word_text(name, word)) for name, word in rest if word]
    return [shown.write(f"{name.replace('_', ' ')}: {text}") for name, text in texts]


def picture(position: Position, last_action: int | None, before: Position | None) -> bytes:
    """The position as a picture, PNG. ImportError where pygame or Pillow is missing."""
    from boardenvs.render import to_rgb
    from boardenvs.render.raster import write_png

    pixels = to_rgb(
        position.game, position, last_action, before=before, caption=False, unit=48, rule_sheet=True
    )
    return write_png(pixels)
