"""A game that people play: `boardenvs.play`."""

import numpy as np
import pytest

from boardenvs.game.errors import IllegalActionError
from boardenvs.games import make
from boardenvs.play import GameSession, MoveNotation
from boardenvs.records import Record, check, replay


def random_session(game, rng, plies=1000):
    session = GameSession(game, players=("ada", "bob"))
    while not session.is_over and plies:
        session.play(int(rng.choice(session.legal_actions())))
        plies -= 1
    return session


def test_a_game_and_its_record():
    session = random_session(make("wolf_and_sheep"), np.random.default_rng(1))
    record = session.record()
    assert tuple(replay(record)) == session.positions
    assert record.goal == session.goal == session.position.result()
    assert record.players == ("ada", "bob")
    assert check([record])[0].error is None
    again = GameSession.of_record(record)
    assert again.record() == record


def test_undo_and_redo_go_back_and_forth():
    """Against all plies in a list, and how many of them stand."""
    rng = np.random.default_rng(2)
    session, line, place = GameSession(make("othello")), [], 0
    for _ in range(300):
        move, plies = int(rng.integers(4)), int(rng.integers(6))
        if move == 0:
            assert session.undo(plies) == min(plies, place)
            place -= min(plies, place)
        elif move == 1:
            assert session.redo(plies) == min(plies, len(line) - place)
            place = min(place + plies, len(line))
        elif not session.is_over:
            action = int(rng.choice(session.legal_actions()))
            if line[place : place + 1] != [action]:  # another move forgets what was undone
                line = [*line[:place], action]
            session.play(action)
            place += 1
        assert (session.actions, session.undone) == (tuple(line[:place]), tuple(line[place:]))
    assert tuple(replay(session.record())) == session.positions
    assert len(line) > 20


def test_what_is_illegal_changes_nothing():
    session = GameSession(make("othello"))
    for action in (0, 64, -1, 10_000):
        with pytest.raises(IllegalActionError):
            session.play(action)
    assert session.actions == ()


def test_resignation():
    game = make("othello")
    session = GameSession(game)
    session.play(session.legal_actions()[0])
    session.resign()
    assert session.is_over
    assert session.goal == (100, 0)
    assert session.legal_actions() == []
    record = session.record()
    assert (record.goal, record.info) == ((100, 0), {"resigned": game.roles[1]})
    assert check([record])[0].error is None
    again = GameSession.of_record(record)
    assert (again.resigned, again.record()) == (1, record)
    for do in (lambda: session.play(session.position.legal_actions()[0]), session.resign):
        with pytest.raises(ValueError, match="over"):
            do()
    assert session.redo() == 0
    assert session.undo(0) == 0
    assert not session.is_over
    session.resign(role=0)
    assert session.goal == (0, 100)


def test_nobody_is_brought_back_to_a_pass():
    game = make("othello")
    rng = np.random.default_rng(0)
    while True:
        session = GameSession(game)
        while not session.is_over and not session.must_pass:
            session.play(int(rng.choice(session.legal_actions())))
        if session.must_pass:
            break
    role = session.position.to_move
    assert session.legal_actions() == [game.noop]
    session.play(game.noop)
    plies = session.undo_to([role])
    assert plies > 1
    assert not session.must_pass


def test_a_recorded_game_from_any_ply_and_position():
    game, rng = make("othello"), np.random.default_rng(3)
    start = random_session(game, rng, plies=20).position
    session = GameSession(game, start)
    for _ in range(20):
        session.play(session.legal_actions()[0])
    record = session.record()
    assert record.start == start
    assert GameSession.of_record(record).positions == session.positions
    again = GameSession.of_record(record, 7)
    assert (again.actions, again.undone) == (record.actions[:7], record.actions[7:])
    with pytest.raises(ValueError, match="21"):
        GameSession.of_record(record, 21)
    with pytest.raises(IllegalActionError):
        GameSession.of_record(Record(game, (0,)))


@pytest.mark.parametrize("game_id", ["othello", "wolf_and_sheep"])
def test_moves_are_read_however_they_are_typed(game_id):
    game = make(game_id)
    notation = MoveNotation(game)
    session = random_session(game, np.random.default_rng(5), plies=12)
    for position in session.positions:
        for name, action in notation.legal(position).items():
            assert name == game.action_name(action, position)
            for text in (name, name.upper(), f"  {name} ", name.replace("-", " ")):
                assert notation.parse(text, position) == action
            assert notation.parse(name.replace("-", ""), position) == action


def test_tournament_coordinates_count_rows_from_the_top():
    """Black begins with one of these four in every tournament."""
    game = make("othello")
    notation = MoveNotation(game, tournament=True)
    names = notation.legal(game.start())
    assert sorted(names) == ["c4", "d3", "e6", "f5"]
    for name, action in names.items():
        square = game.parse_action(name[0] + str(9 - int(name[1])))
        assert notation.parse(name.upper(), game.start()) == action == square
    with pytest.raises(ValueError, match="Othello"):
        MoveNotation(make("lines_of_action"), tournament=True)
