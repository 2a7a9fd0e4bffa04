"""The colours of boards, by the names that games give (`boardenvs.game.look.Look.board`)."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.game.shapes import Ink
from boardenvs.utils.checks import unknown


class BoardLook(NamedTuple):
    """The colours of a board; with two equal squares, lines part them."""

    frame: str
    frame_edge: str
    label: str
    light: str
    dark: str
    line: str
    hole: str
    mark: Ink
    target: Ink


BOARDS = {
    "felt": BoardLook(
        frame="#4b3021",
        frame_edge="#2c1a10",
        label="#e6d3b3",
        light="#2e8b57",
        dark="#2e8b57",
        line="#1d6640",
        hole="#3a2418",
        mark=Ink("#f4e04d", 0.42),
        target=Ink("#0b3a20", 0.45),
    ),
    "wood": BoardLook(
        frame="#4b3021",
        frame_edge="#2c1a10",
        label="#e6d3b3",
        light="#ecd3a6",
        dark="#b98654",
        line="#8f6238",
        hole="#3a2418",
        mark=Ink("#f4e04d", 0.55),
        target=Ink("#3a2212", 0.40),
    ),
}


def board_look(name: str) -> BoardLook:
    """The board look with this name; ValueError for an unknown one."""
    if name not in BOARDS:
        raise ValueError(unknown("board look", name, BOARDS))
    return BOARDS[name]
