"""What a learnt evaluation may weigh of a position in Lines of Action.

How far each side's pieces are from one another, as in the evaluation of MIA (M. Winands, "Informed
Search in Complex Games", 2004), and on what squares they stand.
"""

from __future__ import annotations

from functools import reduce
from operator import add

from boardenvs.board.bitboard import SIZE, square_name
from boardenvs.game.rules import Feature
from boardenvs.games.lines_of_action_groups import MEN
from boardenvs.kernel import ALL, Bits, Table, popcount

_SPREADS = 99  # two pieces in opposite corners have 98


def _kinds() -> list[list[int]]:
    """The squares that are images of one another by turning and mirroring the board, ten kinds."""
    kinds: dict[tuple[int, ...], list[int]] = {}
    for square in range(64):
        rank, file = divmod(square, SIZE)
        to_edges = sorted((min(file, SIZE - 1 - file), min(rank, SIZE - 1 - rank)))
        kinds.setdefault(tuple(to_edges), []).append(square)
    return [kinds[key] for key in sorted(kinds)]


def _digits(numbers: list[int]) -> list[int]:
    """The squares whose numbers have each binary digit, lowest first."""
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
_KINDS = _kinds()
# 2**16 / n**2, to divide by the square of the number of pieces.
_DIVIDE = Table([0] + [(1 << 16) // n**2 for n in range(1, MEN + 1)])


def all_features(own: Bits, opp: Bits) -> dict[str, Feature]:
    """By name; each side has at most twelve pieces."""
    found = {f"own {name}": feature for name, feature in _of_side(own).items()}
    return found | {f"opposing {name}": feature for name, feature in _of_side(opp).items()}


def _of_side(pieces: Bits) -> dict[str, Feature]:
    """What each side has for itself: how many pieces there are on two kinds of squares each, and
    how many there are at all with how they are spread.
    """
    found = {}
    for one, other in zip(_KINDS[::2], _KINDS[1::2], strict=True):
        on_one, on_other = (popcount(pieces & sum(1 << s for s in kind)) for kind in (one, other))
        name = f"on {square_name(one[0])}, {square_name(other[0])}"
        size = (len(one) + 1) * (len(other) + 1)
        found[name] = Feature(on_one * (len(other) + 1) + on_other, size)
    count = popcount(pieces) * _SPREADS
    found["spread"] = Feature(count + _spread(pieces), (MEN + 1) * _SPREADS)
    return found


def _spread(pieces: Bits) -> Bits:
    """The mean of the pieces' squared distances from their centre, in quarters."""
    count = popcount(pieces)
    x = 2 * _total(pieces, _FILES) - 7 * count
    y = 2 * _total(pieces, _RANKS) - 7 * count
    squared = 2 * count + 8 * _total(pieces, _RADIUS)
    return (count * squared - x * x - y * y & ALL) * _DIVIDE[count] >> 16


def _total(pieces: Bits, digits: list[int]) -> Bits:
    """The sum over the pieces of the numbers with these digits."""
    return reduce(add, [popcount(pieces & squares) << k for k, squares in enumerate(digits)])
