"""Figures of a table as people read them."""

from __future__ import annotations

import numpy as np

from boardenvs import games
from boardenvs.arena.tournament.results import OVERALL, Crosstable


def title(table: Crosstable) -> str:
    """A table's name for people."""
    return "All games" if table.name == OVERALL else game_title(table.name)


def game_title(text: str) -> str:
    """A game's text for people: "Lines of action", "Wolf and sheep (rules=described)"."""
    game, _, parameters = text.partition(":")
    if game not in games.GAMES:  # but of a module
        return text
    return game.replace("_", " ").capitalize() + (f" ({parameters})" if parameters else "")


def rating_text(table: Crosstable, i: int) -> str:
    """A rating in whole points."""
    return _whole(table.ratings.rating[i])


def points_text(table: Crosstable, i: int, j: int) -> str:
    """The points of i against j, such as "62½"; a dot where they did not meet."""
    won, drawn, lost = table.counts[i, j].astype(int).tolist()
    return points(won, drawn) if won + drawn + lost else "·"


def points(won: int, drawn: int) -> str:
    """Wins and half the draws, such as "62½"."""
    whole, half = divmod(2 * won + drawn, 2)
    return f"{whole or '' if half else whole}{'½' * half}"


def interval_text(table: Crosstable, i: int) -> str:
    """The interval of a rating, such as "85 to 170"."""
    low, high = table.ratings.low[i], table.ratings.high[i]
    if table.entrants[i] == table.ratings.anchor:
        return "anchor"
    if np.isinf(low):
        return f"below {_whole(high)}"
    return f"above {_whole(low)}" if np.isinf(high) else f"{_whole(low)} to {_whole(high)}"


def spread_text(table: Crosstable, i: int) -> str:
    """Half the width of a rating's interval, such as "±43"; nothing for the anchor's."""
    if table.entrants[i] == table.ratings.anchor:
        return ""
    width = table.ratings.high[i] - table.ratings.low[i]
    return f"±{width / 2:.0f}" if np.isfinite(width) else "(or beyond)"


def time_text(milliseconds: float | None) -> str:
    """A time a move in the unit that suits it."""
    if milliseconds is None:
        return ""
    if milliseconds < 1:
        return f"{1000 * milliseconds:.3g} µs"
    return f"{milliseconds:.3g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.3g} s"


def _whole(value: float) -> str:
    return f"{round(value)}".replace("-", "\N{MINUS SIGN}")
