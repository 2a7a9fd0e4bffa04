"""Plies that check legality: what is said of those that are refused. That one board refuses all
that are illegal is in test_interfaces.py.
"""

import numpy as np
import pytest

from boardenvs.game.errors import IllegalActionError
from boardenvs.game.position import stack
from boardenvs.game.state import concat
from boardenvs.games import Othello, make

OTHELLO = Othello()
OVER = OTHELLO.position((1, 0))
STATE = concat([OTHELLO.init(2), stack([OVER])])


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        *(([20, x, 64], IllegalActionError, "row 1: action .*out of range") for x in (-1, 10**6)),
        *(([20, x, 64], IllegalActionError, "row 1: action .*legal: 20 ") for x in (0, 64)),
        ([20, 20, 20], IllegalActionError, "row 2: .*nothing, the game is over"),
        *((x, ValueError, r"shape .*: it must be \(3,\)") for x in ([1, 2], [[1], [2], [3]])),
        *((x, TypeError, "must be integers") for x in ([1.0, 2.0, 3.0], [True, True, True])),
    ],
)  # fmt: skip
def test_illegal_plies_of_a_batch_are_refused(actions, error, message):
    with pytest.raises(error, match=message):
        OTHELLO.step(STATE, np.array(actions), check=True)


def test_nothing_but_noop_is_played_where_the_game_is_over():
    after = OTHELLO.step(STATE, np.array([20, 29, OTHELLO.noop]), check=True)
    assert after.ply.tolist() == [1, 1, 0]
    with pytest.raises(IllegalActionError, match="nothing, the game is over"):
        OVER.step(OTHELLO.noop)


def test_a_game_that_positions_have_ended_stays_as_it_is():
    chess = make("chess")
    over = chess.init(1)
    for move in ["g1f3", "g8f6", "f3g1", "f6g8"] * 2:
        over = chess.step(over, np.array([chess.parse_action(move)]))
    later = chess.step(over, np.array([chess.noop]))
    assert over.terminated[0]
    for before, after in zip(over, later, strict=True):
        np.testing.assert_array_equal(after, before)
