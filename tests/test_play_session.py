"""A game that people play: `boardenvs.play`."""

import numpy as np
import pytest
from variants import make, random_record

from boardenvs.game.errors import IllegalActionError
from boardenvs.play import GameSession, MoveNotation
from boardenvs.records import Record, make_record, replay

OTHELLO = make("othello")
pytestmark = pytest.mark.usefixtures("in_python")


def test_a_game_and_its_record():
    record = random_record(make("wolf_and_sheep"), players=("ada", "bob"))
    session = GameSession(record.game, players=record.players)
    for action in record.actions:
        assert session.goal is None
        session.play(action)
    assert session.goal == record.goal
    assert session.positions == tuple(replay(record))
    assert session.record() == record == GameSession.of_record(record).record()


def test_undo_and_redo_go_back_and_forth():
    """Against all plies in a list, and how many of them stand."""
    rng = np.random.default_rng(2)
    session, line, place = GameSession(OTHELLO), [], 0
    for _ in range(300):
        move, plies = rng.integers(4), int(rng.integers(6))
        if move == 0:
            assert session.undo(plies) == min(plies, place)
            place -= min(plies, place)
        elif move == 1:
            assert session.redo(plies) == min(plies, len(line) - place)
            place = min(place + plies, len(line))
        elif not session.is_over:
            action = int(rng.choice(session.legal_actions()))
            if line[place : place + 1] != [action]:  # another move forgets what was undone
                line[place:] = [action]
            session.play(action)
            place += 1
        assert (session.actions, session.undone) == (tuple(line[:place]), tuple(line[place:]))
    assert session.positions == tuple(replay(Record(OTHELLO, tuple(line[:place]))))
    assert len(line) > 20


@pytest.mark.parametrize("action", [0, 64, -1, 10_000])
def test_what_is_illegal_changes_nothing(action):
    session = GameSession(OTHELLO)
    with pytest.raises(IllegalActionError):
        session.play(action)
    assert session.actions == ()


def test_resignation():
    session = GameSession(OTHELLO)
    session.play(20)
    session.resign()
    assert session.is_over
    assert session.legal_actions() == []
    record = session.record()
    assert record == Record(OTHELLO, (20,), None, (100, 0), None, {"resigned": "red"})
    again = GameSession.of_record(record)
    assert (again.resigned, again.record()) == (1, record)
    for do in (lambda: session.play(19), session.resign):
        with pytest.raises(ValueError, match="over"):
            do()
    assert (session.redo(), session.undo(0)) == (0, 0)
    assert not session.is_over
    session.resign(role=0)
    assert session.goal == (0, 100)


def test_nobody_is_brought_back_to_a_pass():
    record = random_record(OTHELLO, 11)
    ply = record.actions.index(OTHELLO.noop)
    session = GameSession.of_record(record)
    session.undo(len(record.actions) - ply)
    assert session.must_pass
    assert session.legal_actions() == [OTHELLO.noop]
    session.play(OTHELLO.noop)
    assert session.undo_to([ply % 2]) == 3  # to the move before, and not to the pass
    assert not session.must_pass


def test_a_recorded_game_from_any_ply_and_position():
    line = random_record(OTHELLO)
    record = make_record(OTHELLO, line.actions[20:40], start=replay(line)[20])
    session = GameSession.of_record(record)
    session.undo(13)
    assert (session.actions, session.undone) == (record.actions[:7], record.actions[7:])
    session.redo(99)
    assert session.record() == record
    with pytest.raises(IllegalActionError):
        GameSession.of_record(Record(OTHELLO, (0,)))


@pytest.mark.parametrize("game_id", ["othello", "wolf_and_sheep"])
def test_moves_are_read_however_they_are_typed(game_id):
    game = make(game_id)
    notation = MoveNotation(game)
    for position in replay(random_record(game, 5, 12)):
        for action in position.legal_actions():
            name = game.action_name(action, position)
            assert notation.legal(position)[name] == action
            spaced, bare = name.replace("-", " "), name.replace("-", "")
            for text in (name, name.upper(), f"  {name} ", spaced, bare):
                assert notation.parse(text, position) == action


def test_tournament_coordinates_count_rows_from_the_top():
    """Black begins with one of these four in every tournament."""
    notation = MoveNotation(OTHELLO, tournament=True)
    names = {"f5": "f4", "e6": "e3", "d3": "d6", "c4": "c5"}
    legal = {name: OTHELLO.parse_action(ours) for name, ours in names.items()}
    assert notation.legal(OTHELLO.start()) == legal
    for name, action in legal.items():
        assert notation.parse(name.upper(), OTHELLO.start()) == action
