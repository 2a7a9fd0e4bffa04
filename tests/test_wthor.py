"""Real tournament games of Othello in the WTHOR format, every move of two years.

A file is a header of 16 bytes and 68 bytes a game: 8 of header, with the black disc count in byte
6, where empty squares count for the winner, and 60 moves as 10 * row + column, 0 after the end.
Passes are not written.
"""

import numpy as np
import pytest
from variants import SHARED, make

FOLDER = SHARED / "records" / "wthor"

pytestmark = [
    pytest.mark.usefixtures("backend"),
    pytest.mark.skipif(not FOLDER.exists(), reason="the WTHOR records are not beside this project"),
]


def read(year):
    """Black's disc counts (B,) and the moves as squares (B, 60), -1 after the end."""
    data = np.frombuffer((FOLDER / f"WTH_{year}.wtb").read_bytes(), np.uint8)
    rows = data[16:].reshape(-1, 68)
    moves = rows[:, 8:].astype(np.int64)
    # A tournament counts rows from the top: its d3 is the cell (4, 9 - 3).
    x, y = moves % 10, 9 - moves // 10
    return rows[:, 6].astype(np.int64), np.where(moves == 0, -1, 8 * (y - 1) + (x - 1))


@pytest.mark.parametrize(("year", "games", "cut_off"), [(2000, 4253, 33), (2013, 2303, 0)])
def test_tournament_games(year, games, cut_off):
    """Every move is legal in its turn, every game not cut off is over after its last move, with
    the recorded discs, and never before.
    """
    game = make("othello")
    black, moves = read(year)
    assert len(moves) == games
    moves = np.pad(moves, [(0, 0), (0, 1)], constant_values=-1)
    rows = np.arange(games)
    played = np.zeros(games, np.int64)
    state = game.init(games)
    while True:
        move = moves[rows, played]
        live = move >= 0
        if not live.any():
            break
        assert not state.terminated[live].any()
        passes = game.is_legal(state, np.full(games, game.noop)) & live
        actions = np.where(passes, game.noop, move)
        assert game.is_legal(state, actions)[live].all()
        after = game.step(state, np.where(live, actions, game.noop))
        for old, new in zip(state, after, strict=True):
            new[~live] = old[~live]
        state = after
        played += live & ~passes
    over = state.terminated
    assert (~over).sum() == cut_off
    first = np.where(state.to_move == 0, state.own, state.opp)
    second = np.where(state.to_move == 0, state.opp, state.own)
    discs = np.stack([np.bitwise_count(first), np.bitwise_count(second)], 1).astype(np.int64)
    empties = 64 - discs.sum(axis=1)
    ahead = np.sign(discs[:, 0] - discs[:, 1])
    counted = discs[:, 0] + np.select([ahead > 0, ahead == 0], [empties, empties // 2], 0)
    np.testing.assert_array_equal(counted[over], black[over])
    np.testing.assert_array_equal(
        game.goal(state)[over], 50 + 50 * np.stack([ahead, -ahead], 1)[over]
    )
    assert (game.goal(state)[~over] == 0).all()
