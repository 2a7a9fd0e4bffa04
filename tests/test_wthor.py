"""Real tournament games of Othello in the WTHOR format, every move of two years.

The reader puts in the passes, which the files do not have. That it reads what is written there is
shown by writing the files again, byte for byte, in `test_records.py`.
"""

import numpy as np
import pytest
from variants import SHARED, make

from boardenvs.records.wthor import read_wthor

FOLDER = SHARED / "records" / "wthor"

pytestmark = [
    pytest.mark.usefixtures("backend"),
    pytest.mark.skipif(not FOLDER.exists(), reason="the WTHOR records are not beside this project"),
]


@pytest.mark.parametrize(("year", "games", "cut_off"), [(2000, 4253, 33), (2013, 2303, 0)])
def test_tournament_games(year, games, cut_off):
    """Every move is legal in its turn, every game not cut off is over after its last move, with
    the recorded discs, and never before.
    """
    game = make("othello")
    _, records = read_wthor(FOLDER / f"WTH_{year}.wtb")
    assert len(records) == games
    lengths = np.array([len(record.actions) for record in records])
    actions = np.full((games, lengths.max()), game.noop)
    for row, record in zip(actions, records, strict=True):
        row[: len(record.actions)] = record.actions
    state = game.init(games)
    for ply, column in enumerate(actions.T):
        live = lengths > ply
        assert not state.terminated[live].any()
        assert game.is_legal(state, column)[live].all()
        after = game.step(state, column)
        for old, new in zip(state, after, strict=True):
            new[~live] = old[~live]
        state = after
    over = state.terminated
    assert (~over).sum() == cut_off
    first = np.where(state.to_move == 0, state.own, state.opp)
    second = np.where(state.to_move == 0, state.opp, state.own)
    discs = np.stack([np.bitwise_count(first), np.bitwise_count(second)], 1).astype(np.int64)
    # Four discs at the start, and one more for each move of the file.
    moves = (FOLDER / f"WTH_{year}.wtb").read_bytes()[16:]
    written = np.count_nonzero(np.frombuffer(moves, np.uint8).reshape(-1, 68)[:, 8:], axis=1)
    np.testing.assert_array_equal(discs.sum(axis=1), 4 + written)
    empties = 64 - discs.sum(axis=1)
    ahead = np.sign(discs[:, 0] - discs[:, 1])
    counted = discs[:, 0] + np.select([ahead > 0, ahead == 0], [empties, empties // 2], 0)
    black = np.array([record.info["score"] for record in records])
    np.testing.assert_array_equal(counted[over], black[over])
    goals = 50 + 50 * np.stack([ahead, -ahead], 1)
    np.testing.assert_array_equal(game.goal(state)[over], goals[over])
    assert [record.goal for record, ended in zip(records, over, strict=True) if ended] == [
        tuple(goal) for goal in goals[over].tolist()
    ]
    assert (game.goal(state)[~over] == 0).all()
