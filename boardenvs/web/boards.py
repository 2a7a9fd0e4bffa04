"""Games and positions as JSON values for the page, and games as files."""

from __future__ import annotations

import base64
import tempfile
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from boardenvs import games, records
from boardenvs.agents.analyse import default_analyst, exact_analyst
from boardenvs.board.bitboard import drawn, squares_of
from boardenvs.game import fen
from boardenvs.game.game import Game
from boardenvs.game.look import Drawing
from boardenvs.game.notation import Dropping
from boardenvs.game.position import Position
from boardenvs.play.session import record_of, session_of
from boardenvs.records.openings import opening_of
from boardenvs.records.page import show
from boardenvs.records.record import Record, parse_names, until_illegal
from boardenvs.render import to_page, to_svg
from boardenvs.render.geometry import (
    LINED,
    MARGIN,
    SHADE,
    Cells,
    board_look,
    ground_of,
    hexagon,
    moved,
)
from boardenvs.render.svg import write_drawing
from boardenvs.render.view import view
from boardenvs.web.messages import Line, SaveRequest

# One object for all requests, so that a game's rules are compiled once.
parsed = lru_cache(maxsize=64)(games.parse)


def describe_game(game: Game) -> dict[str, Any]:
    """Return what the page needs to show and offer a game."""
    return {
        "text": games.spec_of(game),
        "name": game.title,
        "sides": game.sides,
        "shape": game.board,  # ranks and files
        "look": _describe_look(game),
        "turns": game.fills_by_capture,  # whether pieces that are lost turn over
        # The badges of kinds of pieces, where pieces can be placed by hand.
        "placed": [name for name, _ in game.look.badges if name in game.further_words]
        if game.can_be_set_up
        else None,
        "drops": isinstance(game.notation, Dropping),  # a click anywhere in a file drops there
        "points": game.margin_counts,  # whether points are counted at the end
        "limit": getattr(game, "max_steps", None) or game.max_plies,
        "advisor": default_analyst(game),
        "solver": exact_analyst(game),
        "rules": game.rules_text,
        "picture": _data_url(to_svg(game, game.start(), legal=True, caption=False)),
    }


def _describe_look(game: Game) -> dict[str, Any]:
    look = game.look
    pieces = look.pieces_of(game.sides)
    cells = Cells(game.board, look.hexagons)
    width, height = cells.size
    ground = (moved(shape, MARGIN) for shape in ground_of(look, game.board, game.sides))
    return {
        "cells": {
            "size": (width, height),
            "corners": cells.corners,
            "outline": hexagon(LINED) if look.hexagons else None,
        },
        "files": look.files,
        "labels": look.file_labels(game.board.columns),
        "from_top": look.from_top,
        "colours": {**board_look(look.board)._asdict(), "hole": SHADE},
        "shades": [piece.colour for piece in pieces],
        "pieces": [_picture(piece.drawing) for piece in pieces],
        "badges": [[name, _picture(drawing)] for name, drawing in look.badges],
        "figures": [
            [figure.word, [_picture(drawing) for drawing in figure.pieces]]
            for figure in look.figures
        ],
        # The empty board, half a square larger on all sides.
        "ground": _picture(Drawing(width + 2 * MARGIN, height + 2 * MARGIN, tuple(ground)))
        if look.surface or look.borders
        else None,
    }


def read_line(game: Game, line: Line) -> Record:
    """Return a line as a record; ValueError for a wrong position or move."""
    start = None if line.start is None else fen.parse_position(game, line.start)
    return Record(game, parse_names(game, line.moves, start), start)


def describe_line(record: Record, since: int = 0) -> tuple[list[dict[str, Any]], str | None]:
    """Return a record's positions after `since` plies and later, and the error of the next move, or
    None.
    """
    session, error = until_illegal(record)
    positions = session.positions
    plies = list(zip(positions, [None, *session.actions], [None, *positions], strict=False))[since:]
    return [describe_position(*ply) for ply in plies], None if error is None else str(error)


def describe_position(
    position: Position, action: int | None = None, before: Position | None = None
) -> dict[str, Any]:
    """Return a position and the action that led to it."""
    game = position.game
    contents = view(game, position, action, before=before)
    over = position.is_over()
    legal = [] if over else position.legal_actions()
    first, second = contents.pieces
    return {
        "board": drawn([("0", first), ("1", second), ("#", contents.holes)], game.board.size),
        "move": None if action is None else game.action_name(action, before),
        "marks": list(squares_of(contents.marks)),
        "to_move": position.to_move,
        "ply": position.ply,
        "legal": [_describe_move(position, action) for action in legal],
        "badges": [list(squares_of(squares)) for squares in contents.badges],
        "figures": [list(squares_of(squares)) for squares in contents.figures],
        "counts": position.counts(),
        "labels": contents.labels,  # what is written in squares
        "standing": game.standing(position),
        "number": game.move_number(position),
        "over": over,
        "opening": opening_of(position),
        "goals": position.result() if over else None,
        "caption": contents.caption,
        "fen": position.fen(),
    }


def _describe_move(position: Position, action: int) -> tuple[Any, ...]:
    """Return an action's name, its squares, those of the pieces that it captures or turns over, the
    name that people write, and which figure of the look is on its last square then, if any.
    """
    game, after, other = position.game, position.step(action), 1 - position.to_move
    squares = game.action_squares(action, position)
    lost = position.pieces(other) & ~after.pieces(other)
    words = enumerate(after.word(figure.word) for figure in game.look.figures)
    figure = next((k for k, word in words if squares and word >> squares[-1] & 1), None)
    usual = game.usual_name(action, position)
    return game.action_name(action, position), squares, list(squares_of(lost)), usual, figure


def write_game(game: Game, request: SaveRequest) -> tuple[str, bytes]:
    """Return the name and the content of a file with a game."""
    line = replace(read_line(game, request.line), players=request.players, info=request.info)
    session = session_of(line)
    if request.format == "svg":
        picture = to_svg(game, session.position, session.last, before=session.before)
        return "board.svg", picture.encode()
    record = record_of(session)
    record = replace(record, goal=record.goal or request.goals)
    if request.format == "page":
        shown = show(record)._replace(notes=request.notes, curve=request.curve, marks=request.marks)
        return "game.html", to_page([shown], title=game.title).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"game{records.FORMATS[request.format].suffixes[0]}"
        records.save(path, [record])
        return path.name, path.read_bytes()


def _picture(drawing: Drawing) -> str:
    return _data_url(write_drawing(drawing))


def _data_url(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
