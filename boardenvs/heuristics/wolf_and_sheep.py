"""Wolf and Sheep: whether the sheep's line has gaps, and how far the wolf is behind it."""

from __future__ import annotations

from functools import reduce
from operator import or_

from boardenvs.board.bitboard import highest, lowest, rank_of, step
from boardenvs.games.wolf_and_sheep import STEPS, WOLF, WolfAndSheep, by_role
from boardenvs.kernel import Bits, less, popcount, spread

GAP = 64  # what a way through the line is worth to the wolf
RANK = 4  # what each rank is worth to it: those come down, and those the sheep are spread over
ROOM = 1  # what each square within its reach is worth to it

_WAY = 10  # the longest way that is looked for, in steps


def evaluate(
    game: WolfAndSheep, own: Bits, opp: Bits, to_move: Bits, ply: Bits
) -> tuple[Bits, Bits]:
    """The wolf's prospects are credited to it; the sheep's are what it lacks."""
    wolf, sheep = by_role(own, opp, to_move)
    reached = _within_reach(wolf, sheep, game)
    gap = less(rank_of(lowest(sheep)), rank_of(lowest(reached))) ^ 1
    spread_out = rank_of(highest(sheep)) - rank_of(lowest(sheep))
    prospects = gap * GAP + (spread_out + 7 - rank_of(wolf)) * RANK + popcount(reached) * ROOM
    even = GAP // 2  # zero lies between a closed line and an open one
    swap = (prospects ^ even) & spread(to_move)
    return prospects ^ swap, even ^ swap


def _within_reach(wolf: Bits, sheep: Bits, game: WolfAndSheep) -> Bits:
    """Where the wolf could go if the sheep stood still."""
    for _ in range(_WAY):
        around = [step(wolf, d) & ~sheep for d in STEPS[game.rules][WOLF]]
        wolf = wolf | reduce(or_, around)
    return wolf
