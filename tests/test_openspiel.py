"""OpenSpiel as an oracle of the rules, and its bots as our players: whole games, with each ply
compared to OpenSpiel's state.
"""

import numpy as np
import pytest
from boardenvs_breakthrough import Breakthrough
from variants import random_line

from boardenvs import games, make_agent
from boardenvs.agents import agent_for, check_game
from boardenvs.arena import play_match
from boardenvs.game.fen import parse_position
from boardenvs.game.position import stack

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

from boardenvs.agents import openspiel  # noqa: E402
from boardenvs.agents.openspiel import (  # noqa: E402
    COUNTERPARTS,
    Counterpart,
    translation_of,
)

pytestmark = pytest.mark.usefixtures("in_python")

THEIRS = "openspiel:mcts,simulations=5"
LINES = "lines_of_action"


def agree(translation, position, state):
    """Whether a position that goes on is played as OpenSpiel's state is, which says little of its
    board: that it is the same is seen from the plies that follow.
    """
    assert state.current_player() == position.to_move
    role = position.to_move
    theirs = [translation.our_action(role, a) for a in state.legal_actions()]
    assert sorted(theirs) == position.legal_actions()
    for action in theirs:
        assert translation.our_action(role, translation.their_action(state, action)) == action


@pytest.fixture
def breakthrough(monkeypatch):
    """A game of another package, with the line that makes it known."""
    monkeypatch.setitem(games.GAMES._factories, "breakthrough", Breakthrough)
    counterpart = Counterpart("breakthrough", lambda text: f"{text[:2]}-{text[2:4]}")
    monkeypatch.setitem(COUNTERPARTS, "breakthrough", counterpart)
    yield
    translation_of.cache_clear()


def followed(translation, actions):
    """OpenSpiel's state after these of our actions, compared at each ply, and how often a
    side had to pass. OpenSpiel may end Lines of Action by rules of its own.
    """
    position, state, passes = translation.ours.start(), translation.theirs.new_initial_state(), 0
    for action in actions:
        agree(translation, position, state)
        passes += position.legal_actions() == [translation.ours.noop]
        state.apply_action(translation.their_action(state, action))
        position = position.step(action)
        if state.is_terminal():
            break
    assert state.is_terminal() or not position.terminated
    if translation.ours.id != "lines_of_action":
        assert state.is_terminal() == position.terminated
        assert [50 + 50 * value for value in state.returns()] == list(position.result())
    return state, passes


@pytest.mark.parametrize("text", ["othello", "lines_of_action:max_steps=20"])
def test_our_matches_are_their_games(text):
    """Each game of a match with OpenSpiel's bot, ply by ply; the same seed gives the same games."""
    game = games.make(text)
    result, same, other = (play_match(game, "greedy", THEIRS, pairs=2, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(result.actions, same.actions)
    assert not np.array_equal(result.actions, other.actions)
    for row in result.actions.reshape(4, -1):
        followed(translation_of(game), row[row >= 0].tolist())
    assert not any(faults.forfeits for faults in result.faults)


@pytest.mark.parametrize("game_id", ["othello", "reversi", "lines_of_action", "breakthrough"])
def test_random_games(game_id, breakthrough):
    """Every action there and back, and OpenSpiel's state after any number of plies."""
    game, passes = games.make(game_id), 0
    translation = translation_of(game)
    for seed in range(4):
        positions, actions = random_line(game, seed, 200)
        passes += followed(translation, actions)[1]
        some = 7 * seed + 3
        state = translation.state(actions[:some])
        if not state.is_terminal():
            agree(translation, positions[some], state)
    assert passes > 0 or game_id not in ("othello", "reversi")


def test_lines_of_action_of_tournaments_is_their_game():
    """Random games: all legal moves, the end and the result at every ply."""
    game, theirs = games.make("lines_of_action:rules=tournament"), pyspiel.load_game(LINES)
    translation, rng = translation_of(game), np.random.default_rng(0)
    drawn = 0
    for _ in range(6):
        position, state = game.start(), theirs.new_initial_state()
        while not state.is_terminal():
            agree(translation, position, state)
            action = int(rng.choice(state.legal_actions()))
            position = position.step(translation.our_action(position.to_move, action))
            state.apply_action(action)
            assert position.terminated == state.is_terminal()
        assert [50 + 50 * value for value in state.returns()] == list(position.result())
        drawn += state.returns() == [0, 0]
    assert 0 < drawn < 6
    # One move connects both sides, and white, which made it, wins; by the rule sheet it is a draw.
    for rules, result in (("tournament", (0, 100)), ("classic", (50, 50))):
        game = games.make(LINES, rules=rules)
        position = parse_position(game, "8/8/8/4b3/b2w4/8/1w6/8 white 35")
        assert position.step(game.parse_action("b2-ne")).result() == result


def test_a_repeated_position_is_played_on():
    """OpenSpiel's game of Lines of Action is drawn there, ours goes on."""
    game = games.make("lines_of_action")
    translation, position = translation_of(game), game.start()
    actions = [game.parse_action(text) for text in ("b1-n", "a2-e", "b3-s", "c2-w")] * 2
    for action in actions:
        assert position.is_legal(action)
        position = position.step(action)
    agree(translation, position, translation.state(actions))
    strict = translation.theirs.new_initial_state()
    for action in actions[:4]:
        strict.apply_action(translation.their_action(strict, action))
    assert strict.is_terminal()
    state = stack([position])
    rng = np.random.default_rng(0)
    chosen = make_agent(THEIRS).act_after(game, state, np.array([actions]), rng)
    assert game.is_legal(state, chosen).all()
    with pytest.raises(ValueError, match="do not lead to"):
        make_agent(THEIRS).act_after(game, state, np.array([actions[:6]]), rng)


def agent(text, game="othello"):
    return lambda: check_game(make_agent(text), games.make(game))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (agent("openspiel"), "write openspiel:BOT"),
        (agent("openspiel:mtcs"), "unknown bot of OpenSpiel 'mtcs'. Did you mean 'mcts'"),
        (agent("openspiel:mcts,simulations=0"), "simulations is 0: it must be whole, 1 to"),
        (agent(THEIRS, "othello_holes"), "OpenSpiel has no othello_holes: it has othello, reversi"),
        (agent(THEIRS, "lines_of_action:rules=described"), "has rules=classic, not described"),
    ],
)
def test_what_one_side_has_not_is_named(call, message, breakthrough):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_use_is_named(monkeypatch):
    game = games.make("othello")
    with pytest.raises(ValueError, match="need all actions of a game"):
        agent_for(game, THEIRS).act(game, game.init(2), np.random.default_rng(0))
    monkeypatch.setattr(openspiel, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install open_spiel"):
        make_agent(THEIRS)
