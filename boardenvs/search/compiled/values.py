"""What a position is worth to its side to move, in alpha-beta search."""

from __future__ import annotations

from boardenvs.kernel.loops import Word, margin_counts, number, points

# A decided game is worth this, plus the margin or less the plies until then.
WIN = 1_000_000
DECIDED = WIN // 2  # values beyond it are of games that are won or lost
INFINITE = 2_000_000


def final_value(own: Word, opp: Word, to_move: Word, distance: int) -> int:
    """The end of a game, so many plies from the root."""
    lead = final_lead(own, opp, to_move)
    if margin_counts():
        return value_of_lead(lead)
    if lead == 0:
        return 0
    return WIN - distance if lead > 0 else distance - WIN


def final_lead(own: Word, opp: Word, to_move: Word) -> int:
    """The points that `own` is ahead where the game ends so."""
    mine, theirs = points(own, opp, to_move)
    return number(mine) - number(theirs)


def value_of_lead(lead: int) -> int:
    """What a lead at the end is worth where it counts."""
    if lead == 0:
        return 0
    return WIN + lead if lead > 0 else lead - WIN


def lead_of(value: int) -> int:
    """The inverse of `value_of_lead`."""
    if value == 0:
        return 0
    return value - WIN if value > 0 else value + WIN
