"""What belongs to a game hangs on its class: no table that gives wrong results for others."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from negamax import WIN, worth
from three_in_a_row import FullThreeInARow, ThreeInARow
from variants import random_line, searched

from boardenvs import perft
from boardenvs.game.game import Game
from boardenvs.game.position import stack
from boardenvs.games import Othello, WolfAndSheep
from boardenvs.search import Limits, alphabeta_for

THREE = pytest.mark.parametrize("game", [ThreeInARow(), FullThreeInARow()], ids=lambda g: g.id)


@THREE
def test_a_game_of_placing_that_is_not_othello_is_searched_right(game: Game) -> None:
    """Sooner is better, no margin counts, and the solver of Othello's endgames is not asked."""
    # The known numbers of lines of play, of which those of five plies are the first to be won.
    assert [perft(game, depth) for depth in range(1, 7)] == [9, 72, 504, 3024, 15120, 54720]
    for position in {p for seed in range(10) for p in random_line(game, seed, 9)[0][3:-1]}:
        value, found = worth(game, position, 9), searched(position)
        assert found.outcome == ("draw" if value == 0 else "win" if value > 0 else "loss")
        assert found.plies == (WIN - abs(value) if value else None)
        assert found.margin is None
    roots, seeds = stack([game.start()]), np.zeros(1, np.uint64)
    plain, asked = (
        alphabeta_for(game).search(roots, seeds, Limits(depth=9, endgame=n)) for n in (0, 64)
    )
    assert plain.value.tolist() == asked.value.tolist() == [0]
    assert plain.nodes.tolist() == asked.nodes.tolist()


def test_games_of_one_rule_know_one_another() -> None:
    assert Othello(id="reversi").has_rules_of(Othello())
    assert not Othello(holes=1 << 8).has_rules_of(Othello())
    assert not dataclasses.replace(WolfAndSheep(), rules="described").has_rules_of(WolfAndSheep())
    assert not ThreeInARow().has_rules_of(Othello())
