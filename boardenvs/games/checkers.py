"""Checkers by the American rules: men and kings, a turn that goes on while a piece can jump again,
and a draw after 40 moves of each side without a capture or a man's move.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import ClassVar

from boardenvs.board import (
    NE,
    NW,
    RANK_1,
    SE,
    SW,
    Direction,
    Symmetry,
    all_empty,
    digits,
    step,
    steps,
)
from boardenvs.game import (
    BLACK,
    CROWN,
    WHITE,
    About,
    Game,
    Look,
    Moving,
    Parts,
    Position,
    PositionError,
)
from boardenvs.kernel import ALL, Bits, Table, less, nonzero, popcount, spread
from boardenvs.utils.checks import check_name, check_whole

WAYS = (NW, NE, SE, SW)
DARK = 0xAA55AA55AA55AA55
LAST_RANKS = RANK_1 | RANK_1 << 56
# What makes a draw, in plies and in words.
QUIET = {"american": 80, "openspiel": 40}
DRAWN = {
    "american": "40 moves of each side without a capture or a man's move",
    "openspiel": "40 plies without a capture",
}
MOST = max(QUIET.values())

# The squares 1 to 32 of checkers' players: black, who begins with them, is our white.
NUMBERED = tuple(8 * y + 6 + y % 2 - 2 * x for y in range(8) for x in range(4))

# An action: a step (1) or a jump (2), one of the ways, and the square that the piece leaves.
_ACTIONS = [(length, way, 1 << square) for length in (1, 2) for way in WAYS for square in range(64)]
_SOURCE = Table([source for _, _, source in _ACTIONS] + [0])
_TARGET = Table([steps(source, way, length) for length, way, source in _ACTIONS] + [0])
_JUMPED = Table([step(source, way) if length == 2 else 0 for length, way, source in _ACTIONS] + [0])


@dataclass(frozen=True)
class Checkers(Game):
    """Capture all opposing pieces, or leave them no move."""

    id: str = "checkers"
    rules: str = "american"

    roles: ClassVar = ("white", "black")
    squares: ClassVar = ("own", "opp", "kings", "jumper")  # that has jumped and must go on
    variants: ClassVar = tuple(QUIET)
    numbers: ClassVar = {"quiet": MOST + 1}  # plies since a capture or a man's move
    notation: ClassVar = Parts((Moving(WAYS, distance=1), Moving(WAYS, distance=2)), NUMBERED)
    mover_symmetry: ClassVar = Symmetry(flip_files=True, flip_ranks=True)
    look: ClassVar = Look("wood", (WHITE, BLACK), badges=(("kings", CROWN),))

    @property
    def about(self) -> About:
        return About(
            title="Checkers",
            rules="""\
White's men start on the dark squares of ranks 1 to 3, black's on those of ranks 6 to 8; white moves
first. Men step diagonally forwards, kings in all four directions. A piece captures by jumping over
an opposing one to the empty square behind it; a side that can capture must, and goes on with the
same piece while it can capture again. A man on the last rank becomes a king, which ends the
turn.""",
            planes=(
                "kings of both sides",
                "the piece that must go on capturing",
                "everywhere if black is to move",
                "plies since a capture or a man's move, in binary, lowest digit first; the last "
                "shows 64 on dark squares",
            ),
            end="A side without a move loses; a draw is after "
            f"{DRAWN[self.rules]}. Nothing is truncated.",
            options={"rules": f'in "openspiel", {DRAWN["openspiel"]} are a draw'},
            source="American checkers (English draughts), but white moves first, as in OpenSpiel.",
            instructions=f"""\
White and black take turns, white first. Pieces stand on squares of the colour of a1. White starts
with twelve men on all of these in ranks 1 to 3, black with twelve on all in ranks 6 to 8. A man
steps to a diagonally adjacent empty square, towards the other side's end of the board; a king in
all four diagonal directions. A piece captures by jumping over a diagonally adjacent opposing piece
to the empty square just beyond it, men again only forwards. A side that can capture must. If the
piece that has captured can capture again, the side is to move again and must go on with it. A man
that reaches the last row becomes a king, and the turn ends. A side that has no move loses.
After {DRAWN[self.rules]} the game is a draw.""",
        )

    def __post_init__(self) -> None:
        check_name("rules", self.rules, QUIET)

    def check_squares(self, squares: tuple[int, ...]) -> None:
        if light := (squares[0] | squares[1]) & ~DARK:
            raise PositionError(f"{self.square_names(light)}: pieces stand on dark squares")

    def parse_fen(self, text: str) -> Position:
        """Read PDN's "B:W21,K32:B1,2", too."""
        if not text.startswith(("B:", "W:")):
            return super().parse_fen(text)
        sets = dict.fromkeys("BWK", 0)
        for side, pieces in re.findall(r":([BW])([^:]*)", text):
            for king, number in re.findall(r"(K?)(\d+)", pieces):
                check_whole("square", int(number), 1, len(NUMBERED))
                for kind in side + king:
                    sets[kind] |= 1 << NUMBERED[int(number) - 1]
        return self.position((*sets.values(), 0, 0), "BW".index(text[0]))

    def setup(self) -> tuple[int, ...]:
        return DARK & 0xFFFFFF, DARK & 0xFFFFFF << 40, 0, 0, 0

    def moves(self, own: Bits, opp: Bits, kings: Bits, jumper: Bits, to_move: Bits) -> list[Bits]:
        walks, jumps = [], []
        empty = DARK & ~(own | opp)
        for way in WAYS:
            movers = own & (kings | _men_go(way, to_move)) & (jumper | spread(nonzero(jumper) ^ 1))
            walks.append(movers & step(empty, way.opposite))
            jumps.append(movers & step(opp & step(empty, way.opposite), way.opposite))
        free = spread(all_empty(jumps))
        return [*(walk & free for walk in walks), *jumps]

    def play(
        self, own: Bits, opp: Bits, kings: Bits, quiet: Bits, to_move: Bits, action: Bits
    ) -> tuple[Bits, ...]:
        source, target, jumped = _SOURCE[action], _TARGET[action], _JUMPED[action]
        king = spread(nonzero(kings & source))
        crowned = target & LAST_RANKS & ~king
        kings = kings & ~(source | jumped) | target & king | crowned
        own, opp = own & ~source | target, opp & ~jumped
        jumps = nonzero(jumped)
        ends = [  # none of a man that is crowned: it goes forwards alone
            steps(target & (king | _men_go(way, to_move)), way, 2) & step(opp, way) for way in WAYS
        ]
        goes_on = reduce(or_, ends) & ~(own | opp)
        jumper = target & spread(jumps & nonzero(goes_on & DARK))
        counts = spread(jumps ^ 1) & (king if self.rules == "american" else ALL)
        return own, opp, kings, jumper, (quiet + 1) & counts

    def again(self, jumper: Bits) -> Bits:
        return nonzero(jumper)

    def over(self, moves: Sequence[Bits], quiet: Bits) -> Bits:
        return all_empty(moves) | less(quiet, QUIET[self.rules]) ^ 1

    def points(self, quiet: Bits) -> tuple[Bits, Bits]:
        """The side without a move loses, unless it is a draw."""
        return 0, less(quiet, QUIET[self.rules])

    def turn(self, position: Position) -> str:
        return "to capture again" if position.word("jumper") else "to move"

    def ending(self, position: Position) -> str:
        if position.word("quiet") >= QUIET[self.rules]:
            return f"after {DRAWN[self.rules]}"
        return "by capturing all pieces" if not position.own else "by leaving no move"

    def planes(
        self, own: Bits, opp: Bits, kings: Bits, jumper: Bits, quiet: Bits, to_move: Bits
    ) -> tuple[Bits, ...]:
        *low, high, highest = digits(quiet, MOST + 1)  # the two highest are never both there
        return own, opp, kings, jumper, spread(to_move), *low, high | highest & DARK

    def evaluate(self, own: Bits, opp: Bits, kings: Bits) -> tuple[Bits, Bits]:
        """Count the men; a king is worth a man and a half."""
        return (
            popcount(own) * 100 + popcount(own & kings) * 50,
            popcount(opp) * 100 + popcount(opp & kings) * 50,
        )

    def forcing(self) -> list[Bits]:
        """Jumps."""
        return [0] * len(WAYS) + [ALL] * len(WAYS)


def _men_go(way: Direction, to_move: Bits) -> Bits:
    """Return all squares where men of the side go this way, else none."""
    return spread(to_move ^ 1 if way.dy > 0 else to_move)
