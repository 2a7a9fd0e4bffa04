"""What a learnt evaluation may weigh of a side's pieces in Lines of Action.

After the evaluation of MIA (M. Winands, "Informed Search in Complex Games", 2004): how close the
pieces are together, how many of them stand where, and what 2x2 blocks they form.
"""

from __future__ import annotations

from functools import reduce
from operator import add

from boardenvs.board.bitboard import SIZE
from boardenvs.game.features import Feature
from boardenvs.games.lines_of_action_groups import MEN, links
from boardenvs.kernel import ALL, Bits, Table, popcount

SPREADS = 99  # two pieces in opposite corners have 98
_HALF = SIZE // 2


def _squares(which: list[int]) -> int:
    return sum(1 << square for square in which)


def _kinds() -> list[list[int]]:
    """The squares that are images of one another by turning and mirroring the board, ten kinds."""
    kinds: dict[tuple[int, int], list[int]] = {}
    for square in range(64):
        file, rank = square % SIZE, square // SIZE
        edges = sorted((min(file, SIZE - 1 - file), min(rank, SIZE - 1 - rank)))
        kinds.setdefault((edges[0], edges[1]), []).append(square)
    return [kinds[key] for key in sorted(kinds)]


def _digits(numbers: list[int]) -> list[int]:
    """The squares of which these numbers have a digit, lowest first."""
    return [
        _squares([s for s in range(64) if numbers[s] >> digit & 1])
        for digit in range(max(numbers).bit_length())
    ]


_KINDS = _kinds()
_FILES = _digits([square % SIZE for square in range(64)])
_RANKS = _digits([square // SIZE for square in range(64)])
# In halves of a square the squared distance from the centre is 2 + 8 times this.
_DISTANCES = _digits(
    [((2 * (s % SIZE) - 7) ** 2 + (2 * (s // SIZE) - 7) ** 2 - 2) // 8 for s in range(64)]
)
# 2**16 / n**2, to divide by the square of the number of pieces.
_PER_SQUARE = Table([0] + [(1 << 16) // n**2 for n in range(1, MEN + 1)])


def side_features(pieces: Bits) -> dict[str, Feature]:
    """Those of one side's pieces, at most twelve, by name."""
    count = popcount(pieces)
    straight, diagonal, triples, blocks = links(pieces)
    euler = count + triples - straight - diagonal - blocks + 8
    found = {
        f"on {k}": Feature(popcount(pieces & _squares(kind)), len(kind) + 1)
        for k, kind in enumerate(_KINDS)
    }
    found["spread"] = Feature(count * SPREADS + _spread(pieces, count), (MEN + 1) * SPREADS)
    found["groups"] = Feature(count * 32 + (euler & 31), (MEN + 1) * 32)
    found["straight"] = Feature(straight, 24)
    found["diagonal"] = Feature(diagonal, 24)
    found["triples"] = Feature(triples, 32)
    found["blocks"] = Feature(blocks, 16)
    return found


def _spread(pieces: Bits, count: Bits) -> Bits:
    """The mean of the pieces' squared distances from their centre, in quarters of a square."""
    x = 2 * _total(pieces, _FILES) - 7 * count
    y = 2 * _total(pieces, _RANKS) - 7 * count
    squared = 2 * count + 8 * _total(pieces, _DISTANCES)
    return ((count * squared - x * x - y * y) * _PER_SQUARE[count] & ALL) >> 16


def _total(pieces: Bits, digits: list[int]) -> Bits:
    """The sum over the pieces of the numbers with these digits."""
    return reduce(add, [popcount(pieces & squares) << k for k, squares in enumerate(digits)])
