"""Records as a page to step through: see `boardenvs.render.page`."""

from __future__ import annotations

from collections.abc import Sequence

from boardenvs.games import spec_of
from boardenvs.records.record import GOALS, Record, until_illegal
from boardenvs.render.page import ShownGame, to_page


def write_page(records: Sequence[Record], *, title: str = "Games", legal: bool = False) -> str:
    """Return an HTML page with all the games, each on a board to step through.

    legal: mark the squares that the side to move can play to. A game that breaks the rules ends
    before the illegal action, and says so. ValueError if there are no games.
    """
    shown = [show(record) for record in records]
    if len({record.game for record in records}) > 1:
        texts = (spec_of(record.game) for record in records)
        shown = [
            game._replace(title=f"{text}: {game.title}")
            for game, text in zip(shown, texts, strict=True)
        ]
    return to_page(shown, title=title, legal=legal)


def show(record: Record) -> ShownGame:
    """Return a record as the page shows it."""
    game, (session, error) = record.game, until_illegal(record)
    sides = game.sides
    players = record.players or sides
    details = [("game", spec_of(game)), *details_of(record, sides)]
    if error is not None:
        details.append(("breaks the rules", str(error)))
    title = " against ".join(players)
    return ShownGame(game, session.positions, session.actions, title, details)


def details_of(record: Record, sides: tuple[str, str]) -> list[tuple[str, str]]:
    """Return the names and texts of all details of a game except its moves and lists."""
    details = list(zip(sides, record.players or (), strict=False))
    if record.goal is not None:
        results = f"{sides[0]} won", "draw", f"{sides[1]} won"
        details.append(("result", results[GOALS.index(record.goal)]))
    if record.start is not None:
        details.append(("from", record.start.fen()))
    plain = [item for item in record.info.items() if not isinstance(item[1], list)]
    return details + [(str(key), str(value)) for key, value in plain]
