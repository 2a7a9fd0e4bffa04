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
from functools import cached_property, partial, reduce
from operator import add, or_
from typing import ClassVar

from boardenvs.board.bitboard import (
    EIGHT,
    LARGEST,
    Board,
    Direction,
    all_empty,
    by_role,
    each_square,
    fill,
    highest,
    lowest,
    ray,
    rings,
    steps,
)
from boardenvs.board.bitslice import countdown, line_counts
from boardenvs.board.symmetry import Symmetry, symmetries_of
from boardenvs.game.errors import PositionError
from boardenvs.game.game import MAX_PLY, Game
from boardenvs.game.look import BLACK, WHITE, Look
from boardenvs.game.notation import Moving
from boardenvs.game.position import Position
from boardenvs.game.rules import About, Feature
from boardenvs.games.appearance import about_lines_of_action
from boardenvs.games.lines_of_action_features import (
    all_features,
    connected,
    count_groups,
    euler_number,
    men,
)
from boardenvs.kernel import Bits, Table, guard, less, nonzero, popcount, spread
from boardenvs.utils.checks import check_name, check_whole

# The rank, from the edge, on which black starts.
_START = {"classic": 0, "described": 1, "tournament": 0}
_STEPS_TO_LEARN = 200
_LAST_STEP = 1000  # of a tournament's game
_REMEMBERED = 60  # positions of a tournament's game that are known when they come again

GROUP = 30  # what another group costs
RING = 4  # what each piece costs for each ring of squares farther from the centre


@dataclass(frozen=True)
class LinesOfAction(Game):
    """Bring all your pieces together in one group, neighbours in any of the eight directions.

    Action 64*d + s moves the piece on square s in direction d, as far as the rules say; 512 is
    noop; on n*n squares they are n*n*d + s and 8*n*n. Planes: own pieces, opposing pieces, and the
    steps left, in binary, lowest digit first, each digit a constant plane.
    """

    id: str = "lines_of_action"
    rules: str = "classic"
    max_steps: int = 50
    size: int = 8  # ranks, and files

    roles: ClassVar = ("black", "white")
    variants: ClassVar = tuple(_START)
    look: ClassVar = Look("wood", (BLACK, WHITE))

    def __post_init__(self) -> None:
        check_name("rules", self.rules, _START)
        check_whole("size", self.size, 5 if self.rules == "described" else 4, LARGEST)
        check_whole("max_steps", self.max_steps, 1, MAX_PLY)

    @property
    def about(self) -> About:
        starts = map(self.square_names, self.setup())
        return about_lines_of_action(self.rules, self.max_steps, self.size, *starts)

    @cached_property
    def notation(self) -> Moving:  # type: ignore[override]
        return Moving(self.board.directions)

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return symmetries_of(self.board)

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
        board, last, edge = self.board, self.size - 1, _START[self.rules]
        inside = board.all & ~(board.rank(0) | board.rank(last))
        upright = board.file(0) | board.file(last)
        across = (board.rank(edge) | board.rank(last - edge)) & ~upright
        return across, upright & inside

    @property
    def history(self) -> int:  # type: ignore[override]
        return _REMEMBERED if self.rules == "tournament" else 0

    def repetition_key(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        """Whose pieces are where, whoever is to move."""
        return by_role(own, opp, to_move, self.board.all)

    @cached_property
    def _tables(self) -> tuple[Table, ...]:
        """For each action (0 for noop): the square it leaves, as a set and as a number; the squares
        ahead; the line of movement; and one step as a number of squares, modulo 1024.
        """
        board = self.board
        actions = [(d, s) for d in board.directions for s in range(board.size)]
        rays = {(d, s): ray(s, d) for d, s in actions}
        lines = [1 << s | rays[d, s] | rays[d.opposite, s] for d, s in actions]
        return (
            Table([*(1 << s for _, s in actions), 0], board.words),
            Table([*(s for _, s in actions), board.size]),
            Table([*rays.values(), 0], board.words),
            Table([*lines, 0], board.words),
            Table([*(d.shift % 1024 for d, _ in actions), 0]),
        )

    def moves(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        moves = _described_moves if self.rules == "described" else _classic_moves
        return moves(self.board, own, opp)

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        sources, squares, rays, lines, strides = self._tables
        source, stride = sources[action], strides[action]
        if self.rules == "described":
            # The first square ahead that is not own: the nearest one, whichever way numbers go.
            ahead, upward = rays[action] & ~own, spread(less(stride, 512), self.board.all)
            target = lowest(ahead & upward) | highest(ahead & ~upward, self.board)
        else:
            distance = popcount((own | opp) & lines[action])
            if self.board == EIGHT:  # a shift is faster than a table
                target = nonzero(source) << ((action + stride * distance) & 63)
            else:
                landings = each_square(self.board, 512 - self.board.size)
                target = landings[(squares[action] + stride * distance) & 511]
        return (own & ~source) | target, opp & ~target

    def over(
        self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits, repeats: Bits
    ) -> Bits:
        tournament = self.rules == "tournament"
        last_step = _LAST_STEP if tournament else self.max_steps
        over = connected(own, self.board) | connected(opp, self.board) | less(ply, last_step) ^ 1
        return over | all_empty(moves) | nonzero(repeats) if tournament else over

    def points(self, own: Bits, opp: Bits, to_move: Bits, repeats: Bits) -> tuple[Bits, Bits]:
        if self.rules == "tournament":
            return _tournament_points(self.board, own, opp, repeats)
        return connected(own, self.board), connected(opp, self.board)

    def planes(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, ...]:
        if self.rules == "tournament":
            return own, opp
        return (own, opp, *countdown(ply, self.max_steps, self.board.all))

    def standing(self, position: Position) -> tuple[str, str]:
        first, second = (
            f"{pieces.bit_count()} (groups: {count_groups(pieces, self.board)})"
            for pieces in position.by_role()
        )
        return first, second

    def check_squares(self, squares: tuple[int, ...]) -> None:
        most = men(self.board)
        for role, bits in zip(self.roles, squares, strict=True):
            if bits.bit_count() > most:
                raise PositionError(
                    f"{role} has {bits.bit_count()} pieces: a side has at most {most}"
                )

    def evaluate(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
        """Few groups near the centre; each side is credited with what the other's cost."""
        return _cost(self.board, opp), _cost(self.board, own)

    def features(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> dict[str, Feature]:
        return all_features(own, opp) if self.board == EIGHT else {}


def _tournament_points(board: Board, own: Bits, opp: Bits, repeats: Bits) -> tuple[Bits, Bits]:
    """Return a point for the winner; `opp` has moved, and wins if that connected both sides."""
    mine, theirs, counts = connected(own, board), connected(opp, board), nonzero(repeats) ^ 1
    stuck = all_empty(_classic_moves(board, own, opp))
    return counts & mine & (theirs ^ 1), counts & (theirs | (stuck & (mine ^ 1)))


def _classic_moves(board: Board, own: Bits, opp: Bits) -> tuple[Bits, ...]:
    """Compute all moves at once: for each distance k, the pieces whose line holds k pieces, and of
    these the ones with no opposing piece on the squares 1 to k-1 ahead and no own piece on square
    k.
    """
    moves = {}
    free, ways = ~own & board.all, board.directions
    for axis in (ways[0], ways[2], ways[1], ways[7]):
        exactly = line_counts(own | opp, axis)
        for d in (axis, axis.opposite):
            each = [
                guard(own & exactly[k], partial(_that_can_go, direction=d, distance=k), free, opp)
                for k in range(1, board.columns)
            ]
            moves[d] = reduce(or_, each)
    return tuple(moves[d] for d in ways)


def _that_can_go(movers: Bits, free: Bits, opp: Bits, direction: Direction, distance: int) -> Bits:
    """Return the movers with a free square at this distance and no piece of `opp` before it."""
    back = direction.opposite
    movers = movers & steps(free, back, distance)
    if distance > 1:
        movers = movers & ~reduce(or_, [steps(opp, back, k) for k in range(1, distance)])
    return movers


def _described_moves(board: Board, own: Bits, opp: Bits) -> tuple[Bits, ...]:
    """A piece can move wherever the board goes on beyond the own pieces ahead of it."""
    free = ~own & board.all
    return tuple(fill(free, own, d.opposite) for d in board.directions)


def _cost(board: Board, pieces: Bits) -> Bits:
    """Return the penalty of a side for its groups and its distance from the centre."""
    outside = [board.all ^ inner for inner in rings(board)[1:]]
    distance = reduce(add, [popcount(pieces & squares) for squares in outside])
    # So many pieces cannot enclose more holes: the sum stays above 0.
    return (euler_number(pieces, board) + men(board) - 4) * GROUP + distance * RING
