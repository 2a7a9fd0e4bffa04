"""The perfect agent gets what the solution promises, and no more, against anyone."""

from __future__ import annotations

import numpy as np
import pytest
from placings import CLASSIC, DESCRIBED, SHEEP, WOLF, game_of, random_placings
from variants import make

from boardenvs.agents import check_game, make_agent
from boardenvs.agents.perfect import PerfectAgent
from boardenvs.game.state import concat, put, take
from boardenvs.games import TicTacToe, WolfAndSheep
from boardenvs.tablebase import Tablebase


@pytest.mark.parametrize("max_plies", [None, 12])
@pytest.mark.parametrize("opponent", ["random", "greedy", "perfect"])
@pytest.mark.parametrize("variant", [CLASSIC, DESCRIBED])
def test_from_anywhere_it_gets_what_is_promised(
    variant: str, opponent: str, max_plies: int | None
) -> None:
    """Playing either role: a winner wins in time; a loser wins or lasts as long as it can."""
    game = game_of(variant, max_plies)
    state = concat([game.init(20), random_placings(game, 400 if max_plies else 60, seed=7)])
    value, distance = Tablebase.load(game).lookup(state)
    assert (value == 0).any() == (max_plies is not None)  # that is the wolf's, at the cap
    promised_to_wolf = (value == 0) | ((value == 1) == (state.to_move == WOLF))
    for role in (WOLF, SHEEP):
        final, rng = take(state, np.arange(len(state.ply))), np.random.default_rng(role)
        while (live := ~game.is_over(final)).any():
            part = take(final, live)
            perfect, other = (
                agent.act(game, part, rng) for agent in (PerfectAgent(), make_agent(opponent))
            )
            actions = np.where(part.to_move == role, perfect, other)
            assert game.is_legal(part, actions).all()
            put(final, live, game.step(part, actions))
        promised = promised_to_wolf == (role == WOLF)
        got, plies = game.results(final)[:, role] == 100, final.ply - state.ply
        assert (got & (plies <= distance))[promised].all()
        assert (got | (plies >= distance))[~promised].all()
        if opponent == "perfect":
            np.testing.assert_array_equal(got, promised)
            np.testing.assert_array_equal(plies, distance)
        elif variant == CLASSIC:
            assert got[~promised].any()  # others go wrong


def test_the_first_mark_is_in_a_corner_whichever() -> None:
    """All nine squares draw, but after a corner only the reply in the centre does."""
    game, rng = TicTacToe(), np.random.default_rng(0)
    played = PerfectAgent().act(game, game.init(60), rng)
    assert {*played.tolist()} == {0, 2, 6, 8}


class OfOtherRules(WolfAndSheep):
    """A subclass may have them."""


@pytest.mark.parametrize("game", [make("othello"), OfOtherRules()], ids=["othello", "subclass"])
def test_other_games_are_refused(game: WolfAndSheep) -> None:
    with pytest.raises(ValueError, match=r"'perfect' cannot play .*'wolf_and_sheep'"):
        check_game(PerfectAgent(), game)
    with pytest.raises(ValueError, match="'perfect' cannot play"):
        PerfectAgent().act(game, game.init(1), np.random.default_rng(0))
