"""A game in progress: `boardenvs.play`."""

import numpy as np
import pytest
from variants import make, random_record

from boardenvs.board.bitboard import squares_of
from boardenvs.game.errors import IllegalActionError
from boardenvs.play import GameSession, MoveNotation, record_of, session_of
from boardenvs.records import Record, make_record, replay
from boardenvs.records.moves import write_moves

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
    assert record_of(session) == record == record_of(session_of(record))


def test_undo_and_redo_go_back_and_forth():
    """Compared to a list of all plies and the number of those that are played."""
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
            if line[place : place + 1] != [action]:  # another move removes undone ones
                line[place:] = [action]
            session.play(action)
            place += 1
        assert (session.actions, session.undone) == (tuple(line[:place]), tuple(line[place:]))
    assert session.positions == tuple(replay(Record(OTHELLO, tuple(line[:place]))))
    assert len(line) > 20


def test_resignation():
    session = GameSession(OTHELLO)
    session.play(20)
    session.resign()
    assert session.is_over
    assert session.legal_actions() == []
    record = record_of(session)
    assert record == Record(OTHELLO, (20,), None, (100, 0), None, {"resigned": "red"})
    again = session_of(record)
    assert (again.resigned, record_of(again)) == (1, record)
    for do in (lambda: session.play(19), session.resign):
        with pytest.raises(ValueError, match="over"):
            do()
    assert (session.redo(), session.undo(0)) == (0, 0)
    assert not session.is_over
    session.resign(role=0)
    assert session.goal == (0, 100)


def test_a_recorded_game_from_any_ply_and_position():
    line = random_record(OTHELLO)
    record = make_record(OTHELLO, line.actions[20:40], start=replay(line)[20])
    session = session_of(record)
    session.undo(13)
    assert (session.actions, session.undone) == (record.actions[:7], record.actions[7:])
    session.redo(99)
    assert record_of(session) == record
    with pytest.raises(IllegalActionError):
        session_of(Record(OTHELLO, (0,)))


def test_othello_is_written_as_its_players_know_it():
    """White on d4 and e5, black on d5 and e4, and black begins with d3, c4, f5 or e6."""
    notation, start = MoveNotation(OTHELLO), OTHELLO.start()
    assert notation.sides == ("black", "white")
    discs = {0: {"d5", "e4"}, 1: {"d4", "e5"}}
    for role, squares in discs.items():
        assert set(map(notation.write, squares_of(start.pieces(role)))) == squares
    assert sorted(notation.legal(start)) == ["c4", "d3", "e6", "f5"]
    for name, action in notation.legal(start).items():
        assert notation.parse(name.upper(), start) == action
        assert write_moves(Record(OTHELLO, (action,))) == name
