"""Games on one self-contained HTML page, with a board to step through each game.

The page opens from a file or in a notebook, loads nothing, and works with mouse, touch and
keyboard, in light and dark.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase, digits
from typing import Any, NamedTuple

from boardenvs.board.bitboard import drawn, squares_of
from boardenvs.game.contract import Game
from boardenvs.game.look import Drawing
from boardenvs.game.position import Position
from boardenvs.render.geometry import (
    MARGIN,
    NOTEBOOK_UNIT,
    Cells,
    board_look,
    mark_of,
    scene,
    target,
)
from boardenvs.render.svg import id_of, write_layers
from boardenvs.render.view import View, view

_TEMPLATE = Path(__file__).with_name("page.html")
_HEIGHT = 640  # pixels of a frame that cannot adapt to its content
_DIGITS = digits + ascii_lowercase
_FIT = "const d = this.contentDocument; if (d) this.style.height = d.body.scrollHeight + 4 + 'px'"


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


def to_page(games: Sequence[ShownGame], *, title: str, legal: bool = False) -> str:
    """Return the page of one or more games; `legal` marks squares that can be played to.

    ValueError if there is no game.
    """
    if not games:
        raise ValueError("there are no games to put on the page")
    writer = _Writer(legal)
    content = {
        "games": [writer.game(shown) for shown in games],
        "looks": writer.looks,
        "captions": list(writer.captions),
        "unit": NOTEBOOK_UNIT,
    }
    # Without "<" nothing can end the script.
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    template = _TEMPLATE.read_text(encoding="utf-8")
    before, rest = template.split("{{boards}}")
    before = before.replace("{{title}}", html.escape(title))
    between, after = rest.split("{{data}}")
    return "".join([before, "\n".join(writer.boards), between, data, after])


def to_frame(page: str) -> str:
    """Return the page in a frame of its own for a notebook, as high as its content."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" title="game" loading="lazy" onload="{_FIT}" '
        f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
    )


class _Writer:
    """Collects what the games of a page have in common: boards, looks and captions."""

    def __init__(self, legal: bool) -> None:
        self.looks: list[dict[str, Any]] = []
        self.boards: list[str] = []
        self.captions: dict[str, int] = {}
        self._legal = legal
        self._numbers: dict[Any, int] = {}  # of looks

    def game(self, shown: ShownGame) -> dict[str, Any]:
        """Return a game as the page's script reads it."""
        game, positions = shown.game, shown.positions
        first, boards = view(game, positions[0]), list(map(_squares, positions))
        kinds = len(kinds_of(first)) + 1
        steps = []
        pairs = zip(pairwise(positions), pairwise(boards), strict=True)
        for action, ((before, after), (squares, now)) in zip(shown.actions, pairs, strict=False):
            seen = view(game, after, action, before=before)
            name = game.action_name(action, before)
            # For each square that changes: its number times the contents + its new content.
            changes = [kinds * s + int(x, 36) for s, x in enumerate(now) if x != squares[s]]
            marks = list(squares_of(seen.marks))
            counts = after.counts()
            steps.append([name, changes, marks, self._caption(seen), _further(seen), counts])
        content = {
            "title": shown.title,
            "details": [list(detail) for detail in shown.details],
            "look": self._look(first),
            "start": boards[0],
            "caption": self._caption(first),
            "further": _further(first),
            "counts": positions[0].counts(),
            "steps": steps,
            "notes": list(shown.notes),
            "curve": list(shown.curve),
        }
        if self._legal:
            seen_legal = (view(game, position, legal=True) for position in positions)
            content["targets"] = [list(squares_of(seen.targets)) for seen in seen_legal]
        return content

    def _caption(self, seen: View) -> int:
        return self.captions.setdefault(seen.caption, len(self.captions))

    def _look(self, seen: View) -> int:
        """Return the number of a look, and write it if it is new."""
        key = (seen.look, seen.sides, seen.holes, seen.board)
        if key in self._numbers:
            return self._numbers[key]
        number = self._numbers[key] = len(self.looks)
        look, sides = board_look(seen.look.board), seen.sides
        cells = Cells(seen.board, seen.look.hexagons)
        badges = [drawing for _, drawing in seen.look.badges]
        drawings = [mark_of(seen), *kinds_of(seen), target(look)]
        marked, *pieces, dot = map(id_of, drawings)
        empty = seen._replace(
            pieces=(0, 0),
            badges=(0,) * len(seen.badges),
            figures=(0,) * len(seen.figures),
            labels=None,
            marks=0,
            targets=0,
            caption=" and ".join(sides),
        )
        for flipped in (False, True):
            picture = scene(empty, caption=False, flipped=flipped)
            board = write_layers(picture, [*drawings, *badges], ("marks", "pieces", "targets"))
            name = f"board-{number}{'-flipped' if flipped else ''}"
            self.boards.append(f'<template id="{name}">{board}</template>')
        self.looks.append(
            {
                "mark": marked,
                "pieces": pieces,
                "target": dot,
                "badges": [[name.replace("_", " "), id_of(d)] for name, d in seen.look.badges],
                "board": seen.board,
                "corners": [
                    [round(MARGIN + x, 3) for x in cells.corner(square)]
                    for square in range(seen.board.size)
                ],
                "width": picture.width,
                "sides": list(sides),
                "files": seen.look.files,
                "fromTop": seen.look.from_top,
            }
        )
        return number


def kinds_of(seen: View) -> list[Drawing]:
    """Return the drawings of a piece and the figures, for each side."""
    kinds: list[Drawing] = []
    for role, usual in enumerate(seen.look.pieces_of(seen.sides)):
        kinds += [usual.drawing, *(figure.pieces[role] for figure in seen.look.figures)]
    return kinds


def _further(seen: View) -> list[Any]:
    """Return what squares show besides pieces: the squares of each badge, and texts by square."""
    badges = [list(squares_of(squares)) for squares in seen.badges]
    return [badges, seen.labels or {}] if badges or seen.labels else []


def _squares(position: Position) -> str:
    """Return a digit in base 36 for each square: 0 for nothing, 1 for the first of the kinds."""
    game = position.game
    words = [figure.word for figure in game.look.figures]
    sets = [
        (_DIGITS[1 + role * (1 + len(words)) + number], position.pieces(role) & squares)
        for role in (0, 1)
        for number, squares in enumerate([-1, *map(position.word, words)])
    ]
    return drawn(reversed(sets), game.board.size, "0")
