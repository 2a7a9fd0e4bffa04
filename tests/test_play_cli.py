"""`boardenvs play`: games typed in a terminal."""

import numpy as np
import pytest
from command_line import invoke, run

from boardenvs.agents import make_agent
from boardenvs.board.bitboard import square_name
from boardenvs.game.contract import stack
from boardenvs.games import make
from boardenvs.play import GameSession
from boardenvs.records import load, replay, save

PASSES = 11  # the seed of a game with passes
pytestmark = pytest.mark.usefixtures("in_python")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "games" / "play.jsonl"


def play(file, *words, lines=(), code=0):
    return run("play", *words, "--record", file, lines=lines, code=code)


def random_moves(game, seed, start=None):
    """The names of a random game's moves, without passes, and its session."""
    session, names = GameSession(game, start), []
    rng = np.random.default_rng(seed)
    while not session.is_over:
        action = int(rng.choice(session.legal_actions()))
        if not session.must_pass:
            names.append(game.action_name(action, session.position))
        session.play(action)
    return names, session


@pytest.mark.parametrize(("game_id", "seed"), [("othello", PASSES), ("wolf_and_sheep", 1)])
def test_two_people_play_a_whole_game(game_id, seed, file):
    game = make(game_id)
    names, session = random_moves(game, seed)
    text = play(file, game_id, "--as", "both", lines=[*names, "quit"])
    (record,) = load(file)
    assert record.actions == session.actions
    assert record.goal == session.goal
    assert record.players == ("human", "human")
    goal = session.goal
    said = "draw" if goal[0] == goal[1] else f"{game.roles[goal[1] > goal[0]]} wins"
    assert said in text
    passes = session.actions.count(game.noop)
    assert text.count("has no move and passes") == passes
    assert passes > 0 or game_id != "othello"


def test_a_game_against_an_agent_is_the_agents_game(file):
    """Whatever is typed, each reply is what the agent plays there."""
    game = make("othello")
    squares = np.random.default_rng(1).integers(64, size=300)
    lines = [square_name(int(square)) for square in squares]
    play(file, "othello", "--as", "red", "--against", "greedy", lines=lines)
    (record,) = load(file)
    assert record.players == ("greedy", "human")
    assert len(record.actions) > 10
    for position, action in zip(replay(record), record.actions, strict=False):
        if position.to_move == 0:
            chance = np.random.default_rng([0, position.ply])
            assert make_agent("greedy").act(game, stack([position]), chance) == action


def test_typos_cost_nothing(file):
    lines = ["", "  ", "a1", "zz", "e3e3", "help me", "?", "\x1b[A", "level", "level nobody"]
    lines += ["level greedy:x=1", "undo", "redo", "d" * 1000, "E3", "level mcts:rollouts=2"]
    text = play(file, "othello", "--against", "greedy", lines=lines)
    assert "legal are e3, f4, c5, d6" in text
    assert "unknown agent 'nobody'" in text
    assert "d" * 200 not in text
    assert text.count("level AGENT: go on against another agent") == 2
    (record,) = load(file)
    assert len(record.actions) == 2
    assert record.players == ("human", "mcts:rollouts=2")


def test_undo_takes_the_reply_back_too(file):
    text = play(file, "othello", "--against", "greedy", lines=["e3", "undo", "c5", "undo", "undo"])
    assert "no move of yours" in text
    assert load(file) == []
    play(file, "othello", "--against", "greedy", lines=["e3", "undo", "redo"])
    assert len(load(file)[0].actions) == 2


def test_hint_resign_new(file):
    lines = ["hint", "e3", "resign", "hint", "a1", "undo", "resign", "new", "e3"]
    text = play(file, "othello", "--against", "alphabeta:depth=1", lines=lines)
    assert "value" in text
    assert "black resigned: red wins" in text
    assert "no move to look for" in text
    resigned, begun = load(file)
    assert (resigned.goal, resigned.info) == ((0, 100), {"resigned": "black"})
    assert (len(begun.actions), begun.goal) == (2, None)


def test_a_game_goes_on_another_day(file):
    play(file, "othello", "--against", "greedy", lines=["e3"])
    before = load(file)[0]
    play(file, "othello", "--resume", lines=["undo", "redo", "quit"])
    assert load(file) == [before]
    position = GameSession.of_record(before).position
    name = before.game.action_name(position.legal_actions()[0], position)
    play(file, "othello", "--resume", lines=[name])
    (after,) = load(file)
    assert after.actions[:2] == before.actions
    assert len(after.actions) == 4
    assert after.players == ("human", "greedy")


def test_other_games_in_the_file_stay(file):
    game = make("lines_of_action")
    kept = random_moves(game, 2)[1].record()
    file.parent.mkdir()
    save(file, [kept])
    play(file, "othello", "--against", "greedy", lines=["e3"])
    play(file, "othello", "--against", "greedy", lines=[])
    found = load(file)
    assert found[0] == kept
    assert len(found) == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, EOFError, MemoryError])
def test_whatever_ends_it_keeps_the_game(file, monkeypatch, error):
    """The file has it before the next move is typed: not even a power cut loses it."""
    plies = []

    def read(prompt):
        plies.append(len(load(file)[0].actions) if file.exists() else 0)
        if len(plies) == 2:
            raise error
        return "e3"

    monkeypatch.setattr("builtins.input", read)
    invoke("play", "othello", "--against", "greedy", "--record", file)
    assert plies == [0, 2]
    assert len(load(file)[0].actions) == 2


def test_a_position_to_begin_with(file):
    game = make("othello")
    start = random_moves(game, 3)[1].positions[20]
    text = start.fen()
    name = game.action_name(start.legal_actions()[0], start)
    play(file, "othello", "--as", "both", "--position", text, lines=[name])
    assert load(file)[0].start == start


def test_a_file_that_is_no_record_stays_as_it_is(file):
    file.parent.mkdir()
    file.write_text("nothing\n")
    assert "line 1" in play(file, "othello", code=2)
    assert file.read_text() == "nothing\n"
