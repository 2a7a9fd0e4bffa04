"""What a position is worth to its side to move, in alpha-beta search."""

from __future__ import annotations

from boardenvs.kernel.loops import Word, evaluate, margin_counts, number, points

# A decided game is worth this, plus the margin or less the plies until then.
WIN = 1_000_000
DECIDED = WIN // 2  # values beyond it are of games that are won or lost
INFINITE = 2_000_000


def final_value(own: Word, opp: Word, to_move: Word, distance: int) -> int:
    """The end of a game, so many plies from the root."""
    mine, theirs = points(own, opp, to_move)
    lead = number(mine) - number(theirs)
    if lead == 0:
        return 0
    if margin_counts():
        return WIN + lead if lead > 0 else lead - WIN
    return WIN - distance if lead > 0 else distance - WIN


def static_value(own: Word, opp: Word, to_move: Word, ply: Word) -> int:
    """By the heuristic; for a position that is not over."""
    mine, theirs = evaluate(own, opp, to_move, ply)
    return number(mine) - number(theirs)
