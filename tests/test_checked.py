"""Plies that check legality: as the fast ones where legal, else an error that says what is."""

import numpy as np
import pytest

from boardenvs import games
from boardenvs.game.contract import stack
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.state import concat


@pytest.mark.parametrize("action", [-1, 0, 64, 65, 10**6])
def test_illegal_plies_are_refused_with_what_is_legal(action):
    game = games.make("othello")
    with pytest.raises(IllegalActionError, match=r"out of range|legal: 20 .e3., 29 .f4."):
        game.start().step(action)
    with pytest.raises(IllegalActionError, match=r"row 1: action .*(out of range|legal: 20 )"):
        game.step(game.init(3), np.array([20, action, 29]), check=True)


def test_nothing_but_noop_is_played_where_the_game_is_over():
    game = games.make("othello")
    over = game.position((1, 0))
    assert over.terminated
    state = concat([game.init(1), stack([over])])
    after = game.step(state, np.array([20, game.noop]), check=True)
    assert after.ply.tolist() == [1, 0]
    with pytest.raises(IllegalActionError, match=r"row 1: .*nothing, the game is over"):
        game.step(state, np.array([20, 20]), check=True)
    with pytest.raises(IllegalActionError, match="nothing, the game is over"):
        over.step(game.noop)


@pytest.mark.parametrize("actions", [[1, 2], [1.0, 2.0, 3.0], [[1], [2], [3]], [True, True, True]])
def test_actions_must_be_one_integer_a_row(actions):
    game = games.make("othello")
    with pytest.raises(ValueError, match="must be 3 integers, one for each row"):
        game.step(game.init(3), np.array(actions), check=True)
