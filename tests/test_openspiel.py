"""OpenSpiel as an oracle: legal actions, ends and results at every ply of random games."""

import pytest
from openspiel_games import OWN, SIZES, compare

from boardenvs.game.fen import parse_position
from boardenvs.games import LinesOfAction


@pytest.mark.parametrize("name", [*OWN, *SIZES])
def test_random_games_are_theirs(name):
    assert compare(name) > 30


@pytest.mark.parametrize(("rules", "result"), [("tournament", (0, 100)), ("classic", (50, 50))])
def test_who_connects_both_sides(rules, result):
    """White, which made the move, wins; by the rule sheet it is a draw."""
    game = LinesOfAction(rules=rules)
    position = parse_position(game, "8/8/8/4b3/b2w4/8/1w6/8 white 35")
    assert position.step(game.parse_action("b2-ne")).result() == result


def test_the_thousandth_step_of_a_tournament_is_the_last():
    """In OpenSpiel too, whose random games are over before."""
    game = LinesOfAction(rules="tournament")
    position = game.start()._replace(ply=998)
    before = position.step(game.parse_action("b1-b3"))
    after = before.step(game.parse_action("a2-c2"))
    assert not before.is_over()
    assert after.is_over()
    assert after.result() == (50, 50)
