"""OpenSpiel as a second opinion: its Othello in full, its Lines of Action for the moves.

Its Othello counts rows from the top, as tournaments do, so that its board is ours upside down; a
pass is a move there too. Its Lines of Action has our board, but other ends: no limit of steps, a
rule against repetition, and a simultaneous connection is the mover's win.
"""

import random

import pytest
from variants import make

from boardenvs import games
from boardenvs.board.symmetry import Symmetry

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

UPSIDE_DOWN = Symmetry(flip_ranks=True)


def squares(rows, piece):
    """Where a board printed from rank 8 down has this piece, as a word."""
    cells = [(7 - i, x) for i, row in enumerate(rows) for x in range(8) if row[x] == piece]
    return sum(1 << (8 * y + x) for y, x in cells)


@pytest.mark.parametrize("name", ["othello", "reversi"])
def test_othello(name):
    """Random games: players, discs, legal actions, the end and the result at each ply."""
    game, rng = make(name), random.Random(0)
    theirs_of = make("othello").action_images(UPSIDE_DOWN).tolist()
    passes = 0
    for _ in range(60):
        position = game.start()
        state = pyspiel.load_game("othello").new_initial_state()
        while not position.terminated:
            assert not state.is_terminal()
            assert state.current_player() == position.to_move
            rows = [line.split()[1:9] for line in str(state).split("\n")[2:10]]
            for role, disc in enumerate("xo"):
                found = [
                    8 * (7 - row) + x for row in range(8) for x in range(8) if rows[row][x] == disc
                ]
                assert sum(1 << square for square in found) == position.pieces(role)
            legal = position.legal_actions()
            assert sorted(theirs_of[a] for a in legal) == state.legal_actions()
            passes += legal == [game.noop]
            action = rng.choice(legal)
            position = position.step(action)
            state.apply_action(theirs_of[action])
        assert state.is_terminal()
        assert [50 + 50 * value for value in state.returns()] == list(position.result())
    assert passes > 0


def test_lines_of_action_moves():
    """Random games as long as both go on: players, pieces and moves at each ply."""
    game, rng = games.make("lines_of_action", max_steps=200), random.Random(0)
    compared = 0
    for _ in range(40):
        position = game.start()
        state = pyspiel.load_game("lines_of_action").new_initial_state()
        while not position.terminated and not state.is_terminal():
            assert state.current_player() == position.to_move
            rows = [line[1:] for line in str(state).split("\n")[:8]]
            for role, piece in enumerate("xo"):
                found = [
                    8 * (7 - row) + x for row in range(8) for x in range(8) if rows[row][x] == piece
                ]
                assert sum(1 << square for square in found) == position.pieces(role)
            theirs = {
                # A capture is written with an x.
                state.action_to_string(a).replace("x", "-"): a
                for a in state.legal_actions()
            }
            legal = position.legal_actions()
            if legal == [game.noop]:
                break
            ours = {game.action_name(a, position): a for a in legal}
            assert ours.keys() == theirs.keys()
            compared += 1
            name = rng.choice(sorted(ours))
            position = position.step(ours[name])
            state.apply_action(theirs[name])
    assert compared > 1000
