"""OpenSpiel as a second opinion on the rules, its bots as our players and ours as its bots: whole
games, each ply held against OpenSpiel's own state.
"""

import random

import numpy as np
import pytest
from boardenvs_breakthrough import Breakthrough

from boardenvs import games, make_agent
from boardenvs.agents import agent_for, check_game
from boardenvs.arena import play_match
from boardenvs.game.contract import stack

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

from boardenvs.agents.openspiel import games as openspiel_games  # noqa: E402
from boardenvs.agents.openspiel.bot import as_openspiel_bot  # noqa: E402
from boardenvs.agents.openspiel.games import (  # noqa: E402
    COUNTERPARTS,
    Counterpart,
    translation_of,
    translation_to,
)

pytestmark = pytest.mark.usefixtures("in_python")

THEIRS = "openspiel:mcts,simulations=5"


def board(state):
    """The squares of the first and of the second player, read off what OpenSpiel prints."""
    name = state.get_game().get_type().short_name
    lines = str(state).split("\n")
    if name == "othello":  # from rank 1 down, as ours is counted from below
        rows, pieces = [line.split()[1:9] for line in lines[2:10]], "xo"
    else:
        rows, pieces = [line[1:9] for line in lines[:8]], "xo" if "lines" in name else "bw"
    cells = {(7 - i, x): rows[i][x] for i in range(8) for x in range(8)}
    return tuple(
        sum(1 << (8 * y + x) for (y, x), piece in cells.items() if piece == mine) for mine in pieces
    )


def agree(translation, position, state):
    """Whether a position that goes on is that of OpenSpiel's state."""
    assert board(state) == (position.pieces(0), position.pieces(1))
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
    """OpenSpiel's state after these of our actions, each ply of which was held against it; how
    often a side had to pass. OpenSpiel may end Lines of Action by rules of its own.
    """
    position, state, passes = translation.ours.start(), translation.theirs.new_initial_state(), 0
    for action in actions:
        agree(translation, position, state)
        passes += position.legal_actions() == [translation.ours.noop]
        state.apply_action(translation.their_action(state, action))
        position = position.step(action)
        assert board(state) == (position.pieces(0), position.pieces(1))
        if state.is_terminal():
            break
    assert state.is_terminal() or not position.terminated
    if translation.ours.id != "lines_of_action":
        assert state.is_terminal() == position.terminated
        assert [50 + 50 * value for value in state.returns()] == list(position.result())
    return state, passes


@pytest.mark.parametrize("text", ["othello", "lines_of_action:max_steps=20"])
def test_our_matches_are_their_games(text):
    """Each game of a match with OpenSpiel's bot, ply by ply."""
    game = games.make(text)
    result = play_match(game, "greedy", THEIRS, pairs=2, seed=1)
    rows = [row[row >= 0].tolist() for row in result.actions.reshape(4, -1)]
    passes = [followed(translation_of(game), row)[1] for row in rows]
    assert not any(faults.forfeits for faults in result.faults)
    assert sum(passes) > 0 or text != "othello"


@pytest.mark.parametrize("name", ["othello", "lines_of_action", "breakthrough"])
def test_their_games_are_played_by_our_agents(name, breakthrough):
    """Two of our players meet in OpenSpiel's own loop."""
    theirs = pyspiel.load_game(name)
    translation = translation_to(theirs)
    bots = [as_openspiel_bot(t, theirs, i, seed=0) for i, t in enumerate(["greedy", "random"])]
    state, actions = theirs.new_initial_state(), []
    for bot in bots:
        bot.restart_at(state)
    while not state.is_terminal():
        player = state.current_player()
        assert bots[player].player_id() == player
        action = bots[player].step(state)
        actions.append(translation.our_action(player, action))
        state.apply_action(action)
    assert followed(translation, actions)[0].history() == state.history()


@pytest.mark.parametrize("game_id", ["othello", "reversi", "lines_of_action", "breakthrough"])
def test_random_games(game_id, breakthrough):
    """Every action there and back, and OpenSpiel's state after any number of plies."""
    game, rng = games.make(game_id), random.Random(3)
    translation, passes = translation_of(game), 0
    for _ in range(4):
        actions, positions = [], [game.start()]
        while not positions[-1].terminated:
            actions.append(rng.choice(positions[-1].legal_actions()))
            positions.append(positions[-1].step(actions[-1]))
        passes += followed(translation, actions)[1]
        some = rng.randrange(len(actions))
        state = translation.state(actions[:some])
        if not state.is_terminal():
            agree(translation, positions[some], state)
    assert passes > 0 or game_id not in ("othello", "reversi")


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
    chosen = make_agent(THEIRS).act_after(
        game, state, np.array([actions]), np.random.default_rng(0)
    )
    assert game.is_legal(state, chosen).all()


def test_the_same_seed_gives_the_same_games():
    game = games.make("othello")
    one, same, other = (
        play_match(game, "random", THEIRS, pairs=1, seed=seed).actions for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert one.shape != other.shape or (one != other).any()

    theirs = pyspiel.load_game("othello")

    def play(seed):
        bots = [as_openspiel_bot("random", theirs, player, seed) for player in (0, 1)]
        state = theirs.new_initial_state()
        while not state.is_terminal():
            state.apply_action(bots[state.current_player()].step(state))
        return state.history()

    assert play(1) == play(1) != play(2)


def test_their_bot_plays_to_win():
    result = play_match(games.make("othello"), "openspiel:mcts,simulations=20", "random", pairs=2)
    assert result.score > 0.7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("openspiel", "write openspiel:BOT"),
        ("openspiel:mtcs", "unknown bot of OpenSpiel 'mtcs'. Did you mean 'mcts'"),
        ("openspiel:mcts,simulations=0", "simulations is 0: it must be whole, 1 to"),
        ("openspiel:mcts,c=-1", "c is -1.0: it must be 0 or more"),
    ],
)
def test_wrong_texts_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        make_agent(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("othello_holes", "OpenSpiel has no othello_holes: it has othello, reversi"),
        ("wolf_and_sheep", "OpenSpiel has no wolf_and_sheep"),
        ("othello:holes=1", "OpenSpiel's othello has holes=0, not 1"),
        ("lines_of_action:rules=described", "has rules=classic, not described"),
    ],
)
def test_games_that_openspiel_has_not(text, message):
    with pytest.raises(ValueError, match=message):
        check_game(make_agent(THEIRS), games.make(text))


@pytest.mark.parametrize(
    ("text", "player", "message"),
    [
        ("chess", 0, "boardenvs does not have OpenSpiel's chess: it has othello, lines_of_action"),
        ("othello", 2, "player_id is 2: it must be 0 or 1"),
        ("breakthrough(rows=6)", 0, "our breakthrough has rows=8, not 6"),
    ],
)
def test_games_that_we_have_not(text, player, message, breakthrough):
    with pytest.raises(ValueError, match=message):
        as_openspiel_bot("random", pyspiel.load_game(text), player)


def test_wrong_use_is_named(monkeypatch):
    theirs = pyspiel.load_game("othello")
    with pytest.raises(ValueError, match="player 0 is to move: this bot is player 1"):
        as_openspiel_bot("random", theirs, 1).step(theirs.new_initial_state())
    with pytest.raises(ValueError, match="cannot play othello"):
        as_openspiel_bot("perfect", theirs, 0)
    game = games.make("othello")
    with pytest.raises(ValueError, match="must know how a game came about"):
        agent_for(game, THEIRS).act(game, game.init(2), np.random.default_rng(0))
    monkeypatch.setattr(openspiel_games, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install open_spiel"):
        make_agent(THEIRS)
