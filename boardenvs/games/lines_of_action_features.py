"""Features of Lines of Action for learnt evaluations.

How far each side's pieces are from one another, as in the evaluation of MIA (M. Winands, "Informed
Search in Complex Games", 2004), and on what squares they stand.
"""

from __future__ import annotations

from functools import partial, reduce
from operator import add

from boardenvs.board.bitboard import (
    EIGHT,
    SIZE,
    Board,
    lowest,
    neighbours,
    square_name,
    step,
)
from boardenvs.board.symmetry import ALL_EIGHT
from boardenvs.game.rules import Feature
from boardenvs.kernel import ALL, Bits, Table, less, nonzero, popcount, when

MEN = 12  # a side at the start on 8x8, and so at most


def men(board: Board) -> int:
    """Return how many pieces a side has at the start, and so at most."""
    return 2 * (board.columns - 2)


def connected(pieces: Bits, board: Board = EIGHT) -> Bits:
    """Return the flag 1 where the pieces, at most `men`, are one 8-connected group, or none."""
    # Groups are at least as many as the Euler number, which is cheap. Of at most n pieces it is
    # never below 4 - n: they cannot enclose more than n - 3 holes.
    most = men(board) - 4
    one_perhaps = less(euler_number(pieces, board) + most & ALL, most + 2)
    return when(one_perhaps, partial(_flood, board), pieces)


def euler_number(pieces: Bits, board: Board = EIGHT) -> Bits:
    """Return the number of 8-connected groups less the number of holes in them, modulo 2**64.

    Pieces less neighbouring pairs, plus triples within a 2x2 block, less full blocks: the Euler
    characteristic of the complex whose simplices are the sets of mutual neighbours. Counting a
    board by its 2x2 blocks is Gray's (IEEE Trans. Computers, 1971); its use for this game is
    Winands' (MIA, 2001).
    """
    ways = board.directions
    north, northeast, east, northwest = (step(pieces, d) for d in (*ways[:3], ways[7]))
    here = pieces & north
    pairs = [pieces & east, here, pieces & northeast, pieces & northwest]
    triples = [here & east, here & northeast, pieces & east & northeast, east & north & northeast]
    count = popcount(pieces) + reduce(add, [popcount(block) for block in triples])
    full = popcount(here & east & northeast)
    return (count - reduce(add, [popcount(pair) for pair in pairs]) - full) & ALL


def _flood(board: Board, pieces: Bits) -> Bits:
    """`connected` by breadth-first search from one piece."""
    return nonzero(pieces ^ _group(board, pieces)) ^ 1


def _group(board: Board, pieces: Bits) -> Bits:
    """Return the group of one piece: eleven steps reach the twelfth."""
    group = lowest(pieces)
    for _ in range(men(board) - 1):
        group = neighbours(group, board) & pieces
    return group


def count_groups(pieces: int, board: Board) -> int:
    """Return the number of 8-connected groups."""
    count = 0
    while pieces:
        pieces ^= int(_group(board, pieces))
        count += 1
    return count


_SPREADS = 99  # two pieces in opposite corners have 98


def _digits(numbers: list[int]) -> list[int]:
    """Return the squares whose numbers have each binary digit, lowest first."""
    return [
        sum(1 << square for square in range(64) if numbers[square] >> digit & 1)
        for digit in range(max(numbers).bit_length())
    ]


# Coordinates are in halves of a square, from the centre of the board: 2 * file - 7, 2 * rank - 7.
# Their squares sum up to 2 + 8 * _RADIUS.
_FILES = _digits([square % SIZE for square in range(64)])
_RANKS = _digits([square // SIZE for square in range(64)])
_RADIUS = _digits(
    [((2 * (s % SIZE) - 7) ** 2 + (2 * (s // SIZE) - 7) ** 2 - 2) // 8 for s in range(64)]
)
# The squares that are images of one another by turning and mirroring the board, ten kinds.
_KINDS = sorted({tuple(sorted({s.squares[k] for s in ALL_EIGHT})) for k in range(64)})
# 2**16 / n**2, to divide by the square of the number of pieces.
_DIVIDE = Table([0] + [(1 << 16) // n**2 for n in range(1, MEN + 1)])


def all_features(own: Bits, opp: Bits) -> dict[str, Feature]:
    """By name; each side has at most twelve pieces."""
    features = {f"own {name}": feature for name, feature in _of_side(own).items()}
    return features | {f"opposing {name}": feature for name, feature in _of_side(opp).items()}


def _of_side(pieces: Bits) -> dict[str, Feature]:
    """Features of one side: the numbers of its pieces on pairs of kinds of squares, and the number
    of all its pieces with how they are spread.
    """
    features = {}
    for one, other in zip(_KINDS[::2], _KINDS[1::2], strict=True):
        on_one, on_other = (popcount(pieces & sum(1 << s for s in kind)) for kind in (one, other))
        name = f"on {square_name(one[0])}, {square_name(other[0])}"
        size = (len(one) + 1) * (len(other) + 1)
        features[name] = Feature(on_one * (len(other) + 1) + on_other, size)
    count = popcount(pieces) * _SPREADS
    features["spread"] = Feature(count + _spread(pieces), (MEN + 1) * _SPREADS)
    return features


def _spread(pieces: Bits) -> Bits:
    """Return the mean of the pieces' squared distances from their centre, in quarters."""
    count = popcount(pieces)
    x = 2 * _total(pieces, _FILES) - 7 * count
    y = 2 * _total(pieces, _RANKS) - 7 * count
    squared = 2 * count + 8 * _total(pieces, _RADIUS)
    return (count * squared - x * x - y * y & ALL) * _DIVIDE[count] >> 16


def _total(pieces: Bits, digits: list[int]) -> Bits:
    """Return the sum over the pieces of the numbers with these digits."""
    return reduce(add, [popcount(pieces & squares) << k for k, squares in enumerate(digits)])
