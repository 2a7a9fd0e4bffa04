"""In described Wolf and Sheep the sheep can never win.

The sheep win where the wolf has no move. The proof is by cases, all of them: the sheep start on
one colour of square and never leave it, and wherever four sheep stand on one colour and the wolf
anywhere else, the wolf can move.
"""

from itertools import combinations

import numpy as np
import pytest
from variants import make

from boardenvs.board.bitboard import DIRECTIONS, step
from boardenvs.kernel import ALL

# a1 is dark; x + y is even there.
DARK = sum(1 << s for s in range(64) if (s % 8 + s // 8) % 2 == 0)
LIGHT = ALL ^ DARK


def positions(game):
    """All with the sheep on their colour: by the wolf's square the words of the wolf and of the
    sheep; and the other colour.
    """
    (colour,) = [c for c in (DARK, LIGHT) if game.setup()[1] & ~c == 0]
    flocks = np.array([sum(four) for four in combinations(bits(colour), 4)], np.uint64)
    checked = 0
    for wolf in bits(ALL):
        sheep = flocks[flocks & np.uint64(wolf) == 0]
        checked += len(sheep)
        yield np.full_like(sheep, wolf), sheep, np.uint64(ALL ^ colour)
    assert checked == 35960 * 60


def bits(word):
    return [1 << s for s in range(64) if word >> s & 1]


@pytest.mark.parametrize("name", ["wolf_and_sheep", "wolf_and_sheep_described"])
def test_sheep_keep_their_colour(name):
    """At the start they share it, and no move of theirs leaves it, whatever the position is."""
    game = make(name)
    for wolf, sheep, other_colour in positions(game):
        moves = game.moves(sheep, wolf, np.ones_like(sheep))
        for word, direction in zip(moves, DIRECTIONS, strict=True):
            assert not (step(word, direction) & other_colour).any()
            assert not (word & ~sheep).any()


# On the sheep's colour the wolf has four neighbours inside the board, two on an edge, one in either
# of two corners; the other sheep stand on any of the other squares.
CAUGHT = 18 * 1 + 12 * (29 * 28 // 2) + 2 * (30 * 29 * 28 // 6)


@pytest.mark.parametrize(("name", "expected"), [("", CAUGHT), ("_described", 0)])
def test_the_wolf_can_always_move(name, expected):
    """In all 2,157,600 positions with the sheep on their colour: a move, and the goal for the
    wolf, whoever is to move. The same count for the classic rules finds where it has none.
    """
    game = make(f"wolf_and_sheep{name}")
    caught = 0
    for wolf, sheep, _ in positions(game):
        first, second = np.zeros_like(wolf), np.ones_like(wolf)
        moves = np.bitwise_or.reduce(game.moves(wolf, sheep, first)) != 0
        for points in (game.points(wolf, sheep, first), game.points(sheep, wolf, second)[::-1]):
            np.testing.assert_array_equal(points, [moves, ~moves])
        caught += int((~moves).sum())
    assert caught == expected
