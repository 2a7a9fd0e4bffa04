"""In described Wolf and Sheep the sheep can never win.

The sheep win where the wolf has no move. The proof is by cases, all of them: the sheep start on
one colour of square and never leave it, and wherever four sheep stand on one colour and the wolf
anywhere else, the wolf can move.
"""

from itertools import combinations

import numpy as np
import pytest
from variants import load_playouts, make

from boardenvs.board.bitboard import DIRECTIONS, step
from boardenvs.game.state import State
from boardenvs.kernel import ALL

# a1 is dark; x + y is even there.
DARK = sum(1 << s for s in range(64) if (s % 8 + s // 8) % 2 == 0)
LIGHT = ALL ^ DARK


def colour_of_the_sheep(game):
    (colour,) = [c for c in (DARK, LIGHT) if game.setup()[1] & ~c == 0]
    return colour


def flocks(colour):
    """All sets of four squares of a colour, (35960,) words."""
    squares = [1 << s for s in range(64) if colour >> s & 1]
    return np.array([sum(four) for four in combinations(squares, 4)], np.uint64)


def positions(sheep, wolf_square, to_move) -> State:
    """The positions with the wolf on this square, where no sheep is."""
    wolf = np.uint64(1 << wolf_square)
    sheep = sheep[sheep & wolf == 0]
    rows = len(sheep)
    own, opp = (np.full(rows, wolf), sheep) if to_move == 0 else (sheep, np.full(rows, wolf))
    return State(
        own,
        opp,
        np.zeros((rows, 9), np.uint64),
        np.full(rows, to_move, np.int8),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.bool_),
    )


@pytest.mark.parametrize("name", ["wolf_and_sheep", "wolf_and_sheep_described"])
def test_sheep_keep_their_colour(name):
    """At the start they share it, and no move of theirs leaves it, whatever the position is."""
    game = make(name)
    colour = colour_of_the_sheep(game)
    sheep = flocks(colour)
    checked = 0
    for wolf_square in range(64):
        state = positions(sheep, wolf_square, to_move=1)
        checked += len(state.own)
        for word, direction in zip(
            game.moves(state.own, state.opp, np.ones(len(state.own), np.uint64)),
            DIRECTIONS,
            strict=True,
        ):
            assert not (step(word, direction) & np.uint64(ALL ^ colour)).any()
            assert not (word & ~state.own).any()
    assert checked == 35960 * 60


def test_the_wolf_can_always_move():
    """In all 2,157,600 positions with the sheep on their colour: a move, and the goal for the
    wolf, whoever is to move.
    """
    game = make("wolf_and_sheep_described")
    sheep = flocks(colour_of_the_sheep(game))
    checked = 0
    for wolf_square in range(64):
        state = positions(sheep, wolf_square, to_move=0)
        checked += len(state.own)
        moves = game.moves(state.own, state.opp, np.zeros(len(state.own), np.uint64))
        assert np.bitwise_or.reduce(moves).all(), wolf_square
        assert (game.score_margin(state) > 0).all()
        assert (game.score_margin(positions(sheep, wolf_square, to_move=1)) < 0).all()
    assert checked == 35960 * 60
    ends = {tuple(sorted(r["goals"].items())) for r in load_playouts(game_file()) if r["goals"]}
    assert ends == {(("sheep", 0), ("wolf", 100))}


def game_file():
    return "wolf_and_sheep_described"


def test_the_classic_wolf_can_be_caught():
    """The same count for the classic rules finds positions where the wolf has no move."""
    game = make("wolf_and_sheep")
    sheep = flocks(colour_of_the_sheep(game))
    caught = 0
    for wolf_square in range(64):
        state = positions(sheep, wolf_square, to_move=0)
        moves = np.bitwise_or.reduce(
            game.moves(state.own, state.opp, np.zeros(len(state.own), np.uint64))
        )
        np.testing.assert_array_equal(game.score_margin(state) < 0, moves == 0)
        caught += int((moves == 0).sum())
    # On the sheep's colour the wolf has four neighbours inside the board, two on an edge, one in
    # either of two corners; the other sheep stand on any of the other squares.
    inner, edge, corner = 18, 12, 2
    others = {1: 30 * 29 * 28 // 6, 2: 29 * 28 // 2, 4: 1}
    assert caught == inner * others[4] + edge * others[2] + corner * others[1]
