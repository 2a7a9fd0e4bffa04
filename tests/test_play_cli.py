"""`boardenvs play`: games typed in a terminal."""

import re

import numpy as np
import pytest
from command_line import invoke, run

from boardenvs.agents import make_agent
from boardenvs.board.bitboard import square_name
from boardenvs.game.contract import stack
from boardenvs.games import GAMES, make
from boardenvs.play import GameSession
from boardenvs.records import load, save


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


@pytest.mark.parametrize("game_id", GAMES)
def test_two_people_play_a_whole_game(game_id, file):
    game = make(game_id)
    names, session = random_moves(game, 1)
    text = play(file, game_id, "--as", "both", lines=[*names, "quit"])
    (record,) = load(file)
    assert record.actions == session.actions
    assert record.goal == session.goal
    assert record.players == ("human", "human")
    goal = session.goal
    said = "draw" if goal[0] == goal[1] else f"{game.roles[goal[1] > goal[0]]} wins"
    assert said in text


@pytest.mark.parametrize("role", [0, 1])
def test_a_game_against_an_agent_is_the_agents_game(role, file):
    """Whatever is typed, each reply is what the agent plays there."""
    game = make("othello")
    rng = np.random.default_rng(role)
    lines = [square_name(int(square)) for square in rng.integers(64, size=1000)]
    play(file, "othello", "--as", game.roles[role], "--against", "greedy", lines=lines)
    (record,) = load(file)
    assert record.players[1 - role] == "greedy"
    assert len(record.actions) > 4
    session = GameSession(game)
    for action in record.actions:
        if session.position.to_move != role:
            chance = np.random.default_rng([0, session.position.ply])
            assert make_agent("greedy").act(game, stack([session.position]), chance) == action
        session.play(action)


def test_passes_are_made_and_said(file):
    game = make("othello")
    for seed in range(50):
        names, session = random_moves(game, seed)
        passes = session.actions.count(game.noop)
        if passes:
            break
    text = play(file, "othello", "--as", "both", lines=names)
    assert len(re.findall("has no move and passes", text)) == passes
    assert load(file)[0].actions == session.actions


def test_typos_cost_nothing(file):
    lines = ["", "  ", "a1", "zz", "e3e3", "help me", "\x1b[A", "level", "level nobody"]
    lines += ["level greedy:x=1", "undo", "redo", "E3", "level mcts:rollouts=2"]
    text = play(file, "othello", "--against", "greedy", lines=lines)
    assert "legal are e3, f4, c5, d6" in text
    assert "unknown agent 'nobody'" in text
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
    typed = iter(["e3", error])

    def read(prompt):
        if (line := next(typed)) is error:
            raise error
        return line

    monkeypatch.setattr("builtins.input", read)
    invoke("play", "othello", "--against", "greedy", "--record", file)
    (record,) = load(file)
    assert len(record.actions) == 2


def test_the_game_is_in_the_file_before_the_next_move_is_typed(file, monkeypatch):
    """So that not even a power cut loses it."""
    typed = iter(["e3", "e3"])
    plies = []

    def read(prompt):
        plies.append(len(load(file)[0].actions) if file.exists() else 0)
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", read)
    invoke("play", "othello", "--against", "greedy", "--record", file)
    assert plies == [0, 2, 2]


def test_tournament_coordinates(file):
    text = play(file, "othello", "--as", "both", "--tournament", lines=["F5", "d6", "C3"])
    assert "moves: e6 f5 c4 d3" in text
    assert len(load(file)[0].actions) == 3


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


def test_a_question_mark_lists_the_words(file):
    text = play(file, "othello", "--as", "both", lines=["?", "e3"])
    assert "level AGENT: go on against another agent" in text
    assert len(load(file)[0].actions) == 1
