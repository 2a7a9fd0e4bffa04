"""`boardenvs play`: games typed in a terminal."""

import numpy as np
import pytest
from command_line import invoke, run
from variants import make, random_line

from boardenvs.agents import make_agent
from boardenvs.board.bitboard import square_name
from boardenvs.game.position import stack
from boardenvs.records import load, make_record, replay

OTHELLO = make("othello")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "games" / "play.jsonl"


@pytest.fixture
def play(file):
    """What is printed where these lines are typed, by default against `greedy`."""

    def play(*lines, game="othello", words=("--against", "greedy")):
        return run("play", game, *words, "--record", file, lines=lines)

    return play


@pytest.mark.parametrize(
    ("game_id", "seed", "first", "said"),
    [("othello", 11, 40, "white won: "), ("wolf_and_sheep", 1, 0, "wolf won")],
)
def test_two_people_play_from_a_position_to_the_end(game_id, seed, first, said, play, file):
    game = make(game_id)
    positions, actions = random_line(game, seed, 200)
    start = positions[first] if first else None
    record = make_record(game, actions[first:], start=start, players=("human", "human"))
    played = zip(record.actions, positions[first:], strict=False)
    moves = [game.action_name(a, p) for a, p in played if a != game.noop]
    text = play(*moves, game=game_id, words=["--as", "both", "--position", positions[first].fen()])
    assert load(file) == [record]
    assert said in text
    assert text.count("has no move and passes") == record.actions.count(game.noop)


def test_a_game_against_an_agent_is_the_agents_game(play, file):
    """Whatever is typed, each reply is what the agent plays there."""
    squares = np.random.default_rng(1).integers(64, size=300)
    words = ["--as", "white", "--against", "greedy", "--seed", 5]
    play(*map(square_name, squares.tolist()), words=words)
    (record,) = load(file)
    assert record.players == ("greedy", "human")
    assert len(record.actions) > 10
    for position, action in zip(replay(record)[::2], record.actions[::2], strict=False):
        chance = np.random.default_rng([5, position.ply])
        assert make_agent("greedy").act(OTHELLO, stack([position]), chance) == action


def test_typos_cost_nothing(play, file):
    text = play("", "  ", "a1", "zz", "e6e6", "help", "?", "\x1b[A", "undo", "d" * 1000, "E6")
    assert "legal are e6, f5, c4, d3" in text
    assert "d" * 200 not in text
    assert text.count("take your last move back") == 2
    assert len(load(file)[0].actions) == 2


def test_undo_takes_the_reply_back_too(play, file):
    assert "no move of yours" in play("e6", "undo", "c4", "undo", "undo")
    assert load(file) == []


def test_hint_and_resign(play, file):
    text = play("hint", "e6", "resign", "a1", "undo", "resign")
    said = " ".join(text.split())
    assert "the analyst's own heuristic, for black" in said, "that of greedy, the opponent"
    assert text.count("black resigned: white wins") == 2
    assert "no move of yours" not in text
    (resigned,) = load(file)
    assert (resigned.goal, resigned.info) == ((0, 100), {"resigned": "black"})


def test_a_game_goes_on_another_day(play, file):
    play("e6")
    (before,) = load(file)
    move = OTHELLO.action_name(replay(before)[-1].legal_actions()[0])
    play(move, words=["--resume"])
    (after,) = load(file)
    assert (after.players, len(after.actions)) == (before.players, 4)
    assert after.actions[:2] == before.actions
    play(words=["--resume", "--as", "white"])
    assert load(file)[0].players == ("trained:shield=true", "human")


@pytest.mark.parametrize("error", [KeyboardInterrupt, EOFError, MemoryError])
def test_whatever_ends_it_keeps_the_game(file, monkeypatch, error):
    """The file has it before the next move is typed: not even a power cut loses it."""
    plies = []

    def read(prompt):
        plies.append(len(load(file)[0].actions) if file.exists() else 0)
        if len(plies) == 2:
            raise error
        return "e6"

    monkeypatch.setattr("builtins.input", read)
    invoke("play", "othello", "--against", "greedy", "--record", file)
    assert plies == [0, 2]
    assert len(load(file)[0].actions) == 2
