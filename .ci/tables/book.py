"""Makes the opening book of Connect Four, or goes on with it.

    python .ci/tables/book.py --plies 6

It has the positions that come up if one side keeps the result, whatever the other side plays, and
the answers of that side: those that take longest are searched once. The file is written after each
position, so that it can be stopped at any time.
"""

from __future__ import annotations

import io
import time
from typing import Annotated

import numpy as np
import typer

from boardenvs.game.position import Position
from boardenvs.games import ConnectFour
from boardenvs.tablebase import connect_four
from boardenvs.tablebase.dropping import BIAS, pack
from boardenvs.utils.files import write_atomically

_SLOTS = 1 << 25  # of the solver's table: 256 MB


def main(
    plies: Annotated[int, typer.Option(help="Longest openings.", min=1, max=7)] = 5,
) -> None:
    """Solve the positions, shortest openings first."""
    search, book = connect_four.ExactSearch(_SLOTS), set(np.load(connect_four.BOOK).tolist())
    level = {(ConnectFour().start(), role) for role in (0, 1)}
    while level:
        after: set[tuple[Position, int]] = set()
        for position, role in sorted(level, key=lambda one: one[0].words):
            actions = position.legal_actions()
            if position.to_move == role:
                actions = [search.best_action(position)]
                answer = position.step(actions[0])
                for solved in (position, answer):
                    book.add(data := data_of(solved, search))
                    search.keep(data)
                write(sorted(book))
                typer.echo(f"{position.fen()} {time.process_time():.0f} s")
            after |= {(_image(position.step(action)), role) for action in actions}
        level = {(one, role) for one, role in after if one.ply < plies and not one.is_over()}
        typer.echo(f"{len(book)} positions")


def data_of(position: Position, search: connect_four.ExactSearch) -> int:
    """The result of a position that is not over, as the book has it."""
    low, high = [(0, 0), (1, BIAS - 1), (1 - BIAS, -1)][search.solution(position).value]
    return pack(connect_four.key_of_position(position), low, high)


def _image(position: Position) -> Position:
    """One of the position and its mirror image."""
    return min(map(position.image, position.game.symmetries), key=lambda one: one.words)


def write(book: list[int]) -> None:
    file = io.BytesIO()
    np.save(file, np.array(book, np.uint64))
    write_atomically(connect_four.BOOK, file.getvalue())


if __name__ == "__main__":
    typer.run(main)
