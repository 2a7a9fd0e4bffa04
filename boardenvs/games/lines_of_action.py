"""Lines of Action, after its rule sheet or after a description of it.

Source: the rule sheet `linesOfAction` of the General Game Playing repository (it ends with step
50). With `rules="classic"` a piece moves exactly as many squares as there are pieces of both
sides on its whole line of movement; it may pass over its own side's pieces, not over the other's,
and ends on an empty square or captures. With `rules="described"` the description is taken at its
word: black starts on ranks 2 and 7, and the distance is the length of the unbroken line of own
pieces ahead, the moving one included, so that a piece lands on the first square beyond them.

The game ends when, after a move, either side is one group (one piece, or none, is one), or at the
last step. One side connected wins; both or neither is a draw.

With `rules="tournament"` pieces move as in "classic", and the game ends as in tournaments and in
OpenSpiel: a move that connects both sides wins, one that repeats a position of the last 60 draws, a
side without a move loses, and the last step is the 1,000th.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add, or_
from typing import ClassVar

from boardenvs.board.bitboard import (
    DIRECTIONS,
    NE,
    NW,
    RINGS,
    SIZE,
    Direction,
    E,
    N,
    all_empty,
    by_role,
    fill,
    from_squares,
    highest,
    lowest,
    ray,
    steps,
)
from boardenvs.board.bitslice import countdown, line_counts
from boardenvs.board.symmetry import ALL_EIGHT, Symmetry
from boardenvs.game.errors import PositionError
from boardenvs.game.game import MAX_PLY, Game
from boardenvs.game.look import BLACK, WHITE, Look
from boardenvs.game.notation import Moving
from boardenvs.game.position import Position
from boardenvs.game.rules import About, Feature
from boardenvs.games.appearance import ABOUT_LINES_OF_ACTION, instructions_of_lines_of_action
from boardenvs.games.lines_of_action_features import (
    MEN,
    all_features,
    connected,
    count_groups,
    euler_number,
)
from boardenvs.kernel import ALL, Bits, Table, guard, less, nonzero, popcount, spread
from boardenvs.utils.checks import check_name, is_whole, quote

_WHITE = from_squares([f + r for f in "ah" for r in "234567"])
_BLACK = {
    "classic": from_squares([f + r for f in "bcdefg" for r in "18"]),
    "described": from_squares([f + r for f in "bcdefg" for r in "27"]),
}
_BLACK["tournament"] = _BLACK["classic"]
_STEPS_TO_LEARN = 200
_LAST_STEP = 1000  # of a tournament's game
_REMEMBERED = 60  # positions of a tournament's game that are known when they come again

_ACTIONS = [(d, square) for d in DIRECTIONS for square in range(64)]
# For each action (0 for noop): the square it leaves, the line of movement, and the squares ahead.
_SOURCE = Table([1 << s for _, s in _ACTIONS] + [0])
_RAYS = {(d, s): ray(s, d) for d, s in _ACTIONS}
_AHEAD = Table([_RAYS[action] for action in _ACTIONS] + [0])
_LINE = Table([1 << s | _RAYS[d, s] | _RAYS[d.opposite, s] for d, s in _ACTIONS] + [0])
GROUP = 30  # what another group costs
RING = 4  # what each piece costs for each ring of squares farther from the centre

# One step in the action's direction as a number of squares, modulo 64.
_STRIDE = Table([d.shift % 64 for d, _ in _ACTIONS] + [0])


@dataclass(frozen=True)
class LinesOfAction(Game):
    """Bring all your pieces together in one group, neighbours in any of the eight directions.

    Action 64*d + s moves the piece on square s in direction d, as far as the rules say; 512 is
    noop. Planes: own pieces, opposing pieces, and the steps left, in binary, lowest digit first,
    each digit a constant plane.
    """

    id: str = "lines_of_action"
    rules: str = "classic"
    max_steps: int = 50

    roles: ClassVar = ("black", "white")
    variants: ClassVar = tuple(_BLACK)
    notation: ClassVar = Moving()
    look: ClassVar = Look("wood", (BLACK, WHITE))

    def __post_init__(self) -> None:
        check_name("rules", self.rules, _BLACK)
        if not is_whole(self.max_steps, 1, MAX_PLY):
            raise ValueError(
                f"max_steps is {quote(self.max_steps)}: it must be 1 or more, at most 2**30, "
                "and whole"
            )

    @property
    def about(self) -> About:
        ranks = (2, 7) if self.rules == "described" else (1, 8)
        starts = " and ".join(f"b{rank} to g{rank}" for rank in ranks)
        instructions = instructions_of_lines_of_action(self.rules, self.max_steps, starts)
        return replace(ABOUT_LINES_OF_ACTION, instructions=instructions)

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return ALL_EIGHT

    @property
    def for_training(self) -> LinesOfAction:
        # Of random games 45 % are decided in 200 steps, .4 % in 50.
        enough = self.rules == "tournament" or self.max_steps >= _STEPS_TO_LEARN
        return self if enough else replace(self, max_steps=_STEPS_TO_LEARN)

    def plies_before(self, game: Game) -> int | None:
        if not isinstance(game, LinesOfAction) or self.rules == "tournament":
            return super().plies_before(game)
        plies = self.max_steps - game.max_steps
        alike = replace(self, max_steps=game.max_steps).has_rules_of(game)
        return plies if alike and plies >= 0 else None

    @property
    def judged_as(self) -> LinesOfAction:
        return replace(self, rules="classic") if self.rules == "tournament" else self

    def setup(self) -> tuple[int, int]:
        return _BLACK[self.rules], _WHITE

    @property
    def history(self) -> int:  # type: ignore[override]
        return _REMEMBERED if self.rules == "tournament" else 0

    def repetition_key(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        """Whose pieces are where, whoever is to move."""
        return by_role(own, opp, to_move)

    def moves(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        return (_described_moves if self.rules == "described" else _classic_moves)(own, opp)

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        source = _SOURCE[action]
        if self.rules != "described":
            distance = popcount((own | opp) & _LINE[action])
            square = (action + _STRIDE[action] * distance) & 63
            target = nonzero(source) << square
        else:
            # The first square ahead that is not own: the nearest one, whichever way numbers go.
            ahead, upward = _AHEAD[action] & ~own, spread(less(_STRIDE[action], 32))
            target = lowest(ahead & upward) | highest(ahead & ~upward)
        return (own & ~source) | target, opp & ~target

    def over(
        self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits, repeats: Bits
    ) -> Bits:
        tournament = self.rules == "tournament"
        last_step = _LAST_STEP if tournament else self.max_steps
        over = connected(own) | connected(opp) | less(ply, last_step) ^ 1
        return over | all_empty(moves) | nonzero(repeats) if tournament else over

    def points(self, own: Bits, opp: Bits, to_move: Bits, repeats: Bits) -> tuple[Bits, Bits]:
        if self.rules == "tournament":
            return _tournament_points(own, opp, repeats)
        return connected(own), connected(opp)

    def planes(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, ...]:
        if self.rules == "tournament":
            return own, opp
        return (own, opp, *countdown(ply, self.max_steps))

    def standing(self, position: Position) -> tuple[str, str]:
        first, second = (
            f"{pieces.bit_count()} (groups: {count_groups(pieces)})"
            for pieces in position.by_role()
        )
        return first, second

    def check_squares(self, squares: tuple[int, ...]) -> None:
        for role, bits in zip(self.roles, squares, strict=True):
            if bits.bit_count() > MEN:
                raise PositionError(
                    f"{role} has {bits.bit_count()} pieces: a side has at most {MEN}"
                )

    def evaluate(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
        """Few groups near the centre; each side is credited with what the other's cost."""
        return _cost(opp), _cost(own)

    def features(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> dict[str, Feature]:
        return all_features(own, opp)


def _tournament_points(own: Bits, opp: Bits, repeats: Bits) -> tuple[Bits, Bits]:
    """Return a point for the winner; `opp` has moved, and wins if that connected both sides."""
    mine, theirs, counts = connected(own), connected(opp), nonzero(repeats) ^ 1
    stuck = all_empty(_classic_moves(own, opp))
    return counts & mine & (theirs ^ 1), counts & (theirs | (stuck & (mine ^ 1)))


def _classic_moves(own: Bits, opp: Bits) -> tuple[Bits, ...]:
    """Compute all moves at once: for each distance k, the pieces whose line holds k pieces, and of
    these the ones with no opposing piece on the squares 1 to k-1 ahead and no own piece on square
    k.
    """
    moves: dict[Direction, Bits] = {}
    free = ~own & ALL
    for axis in (N, E, NE, NW):
        exactly = line_counts(own | opp, axis)
        for d in (axis, axis.opposite):
            each = [
                guard(own & exactly[k], partial(_that_can_go, direction=d, distance=k), free, opp)
                for k in range(1, SIZE)
            ]
            moves[d] = reduce(or_, each)
    return tuple(moves[d] for d in DIRECTIONS)


def _that_can_go(movers: Bits, free: Bits, opp: Bits, direction: Direction, distance: int) -> Bits:
    """Return the movers with a free square at this distance and no piece of `opp` before it."""
    back = direction.opposite
    movers = movers & steps(free, back, distance)
    if distance > 1:
        movers = movers & ~reduce(or_, [steps(opp, back, k) for k in range(1, distance)])
    return movers


def _described_moves(own: Bits, opp: Bits) -> tuple[Bits, ...]:
    """A piece can move wherever the board goes on beyond the own pieces ahead of it."""
    free = ~own & ALL
    return tuple(fill(free, own, d.opposite) for d in DIRECTIONS)


def _cost(pieces: Bits) -> Bits:
    """Return the penalty of a side for its groups and its distance from the centre."""
    distance = reduce(add, [popcount(pieces & (ALL ^ inner)) for inner in RINGS[1:]])
    # Twelve pieces cannot enclose eight holes: the sum stays above 0.
    return (euler_number(pieces) + 8) * GROUP + distance * RING
