"""Plies that check legality: what is said of those that are refused. That one board refuses all
that are illegal is in test_interfaces.py.
"""

import numpy as np
import pytest

from boardenvs.game.errors import IllegalActionError
from boardenvs.game.position import stack
from boardenvs.game.state import concat
from boardenvs.games import Othello

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
