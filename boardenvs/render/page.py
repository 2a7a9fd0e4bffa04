"""Games on one self-contained HTML page, with a board to step through each game.

The page opens from a file or in a notebook, loads nothing, and works with mouse, touch and
keyboard, in light and dark.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from boardenvs.board.bitboard import squares_of
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.render.geometry import (
    HOLE,
    MARGIN,
    NOTEBOOK_UNIT,
    Cells,
    mark_of,
    pieces_in,
    scene,
    target_of,
)
from boardenvs.render.svg import id_of, write_layers
from boardenvs.render.view import View, views

_TEMPLATE = Path(__file__).with_name("page.html")
_HEIGHT = 640  # pixels of a frame that cannot adapt to its content
_FIT = "const d = this.contentDocument; if (d) this.style.height = d.body.scrollHeight + 4 + 'px'"


Mark: TypeAlias = Literal["best", "good", "inaccuracy", "mistake", "blunder"]


class ShownGame(NamedTuple):
    """A game on a page."""

    game: Game
    positions: Sequence[Position]  # N + 1
    actions: Sequence[int]  # N
    title: str
    details: Sequence[tuple[str, str]] = ()  # facts, such as the players
    notes: Sequence[str] = ()  # N + 1, one for each position, or none
    # N + 1: the first side's share of a win in each position, or none.
    curve: Sequence[float | None] = ()
    marks: Sequence[Mark | None] = ()  # N + 1: how good the move before each position was, or none


def to_page(games: Sequence[ShownGame], *, title: str, legal: bool = False) -> str:
    """Return the page of one or more games; `legal` marks squares that can be played to.

    ValueError if there is no game.
    """
    if not games:
        raise ValueError("there are no games to put on the page")
    empties: dict[View, int] = {}  # the boards of the games
    captions: dict[str, int] = {}
    content = {
        "games": [_describe(shown, empties, captions, legal) for shown in games],
        "captions": list(captions),
        "looks": [_describe_look(empty) for empty in empties],
        "unit": NOTEBOOK_UNIT,
    }
    # Without "<" nothing can end the script.
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    before, after = _TEMPLATE.read_text(encoding="utf-8").split("{{data}}")
    return "".join([before.replace("{{title}}", html.escape(title)), data, after])


def to_frame(page: str) -> str:
    """Return the page in a frame of its own for a notebook, as high as its content."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" title="game" loading="lazy" onload="{_FIT}" '
        f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
    )


def _describe(
    shown: ShownGame, empties: dict[View, int], captions: dict[str, int], legal: bool
) -> dict[str, Any]:
    """Return a game as the page's script reads it, with its board and captions by number."""
    game, positions, actions = shown.game, shown.positions, shown.actions
    contents = views(game, positions, actions, legal=legal)
    empty = contents[0]._replace(
        pieces=(0, 0),
        badges=(0,) * len(game.look.badges),
        figures=(0,) * len(game.look.figures),
        labels=None,
        holes=0,
        marks=0,
        targets=0,
        caption=" and ".join(game.sides),
    )
    plies = zip(actions, positions, strict=False)
    names = ["start", *(f"{game.move_number(p)} {game.usual_name(a, p)}" for a, p in plies)]
    boards = [[0] * game.board.size, *map(_kinds, contents)]
    kinds = 2 * len(game.look.figures) + 3
    steps = [
        [
            name,
            # For each square that changes: its number times the contents + its new content.
            [kinds * s + kind for s, kind in enumerate(board) if kind != before[s]],
            list(squares_of(view.marks)),
            captions.setdefault(view.caption, len(captions)),
            [[list(squares_of(squares)) for squares in view.badges], view.labels or {}],
            game.standing(position),
            list(squares_of(view.targets)),
        ]
        for name, before, board, view, position in zip(
            names, boards, boards[1:], contents, positions, strict=False
        )
    ]
    return {
        "title": shown.title,
        "details": list(shown.details),
        "look": empties.setdefault(empty, len(empties)),
        "holes": list(squares_of(0 if game.look.surface else game.holes)),
        "steps": steps,
        "notes": list(shown.notes),
        "curve": list(shown.curve),
        "marks": list(shown.marks),
    }


def _describe_look(empty: View) -> dict[str, Any]:
    """Return an empty board, and what can lie on it."""
    look, corners = empty.look, Cells(empty.board, empty.look.hexagons).corners
    badges = [drawing for _, drawing in look.badges]
    drawings = [HOLE, mark_of(look), target_of(look), *(x for _, _, x in pieces_in(empty))]
    hole, mark, target, *pieces = map(id_of, drawings)
    picture = scene(empty, caption=False)
    return {
        "picture": write_layers(picture, [*drawings, *badges], ("marks", "pieces", "targets")),
        "hole": hole,
        "mark": mark,
        "pieces": pieces,
        "target": target,
        "badges": [[name.replace("_", " "), id_of(drawing)] for name, drawing in look.badges],
        "board": empty.board,
        "corners": [[round(MARGIN + x, 3) for x in corner] for corner in corners],
        "width": picture.width,
        "sides": empty.sides,
        "files": look.files,
        "fromTop": look.from_top,
    }


def _kinds(contents: View) -> list[int]:
    """Return for each square 0 for nothing, or which of `pieces_in` is on it, from 1."""
    kinds = [0] * contents.board.size
    for number, (_, squares, _) in enumerate(pieces_in(contents), start=1):
        for square in squares_of(squares):
            kinds[square] = number
    return kinds
