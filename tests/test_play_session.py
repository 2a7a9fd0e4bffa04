"""A game in progress: `boardenvs.play`."""

import pytest
from variants import make, random_record

from boardenvs.board.bitboard import squares_of
from boardenvs.play import GameSession, legal_names, parse_move, record_of, session_of
from boardenvs.records import make_record, replay

OTHELLO = make("othello")
pytestmark = pytest.mark.usefixtures("in_python")


def test_a_game_and_its_record():
    record = random_record(make("wolf_and_sheep"), players=("ada", "bob"))
    session = GameSession(record.game, players=record.players)
    for action in record.actions:
        session.play(action)
    assert session.goal == record.goal
    assert record_of(session) == record == record_of(session_of(record))


def test_undo_and_redo_go_back_and_forth():
    session, line = GameSession(OTHELLO), random_record(OTHELLO).actions
    for action in line[:6]:
        session.play(action)
    for undo, redo, plies in ((2, 0, 4), (3, 1, 2), (0, 9, 6), (9, 0, 0), (0, 4, 4)):
        session.undo(undo)
        session.redo(redo)
        assert (session.actions, session.undone) == (line[:plies], line[plies:6])
    session.play(line[4])
    assert session.undone == line[5:6]  # the same move keeps what comes after it


def test_a_recorded_game_from_any_ply_and_position():
    line = random_record(OTHELLO)
    record = make_record(OTHELLO, line.actions[20:40], start=replay(line)[20])
    session = session_of(record)
    session.undo(13)
    assert session.actions == record.actions[:7]
    session.redo(99)
    assert record_of(session) == record


def test_othello_is_written_as_its_players_know_it():
    """White is on d4 and e5, and black begins with d3, c4, f5 or e6."""
    start = OTHELLO.start()
    assert OTHELLO.sides == ("black", "white")
    assert {OTHELLO.square_name(square) for square in squares_of(start.pieces(1))} == {"d4", "e5"}
    assert sorted(legal_names(start)) == ["c4", "d3", "e6", "f5"]
    for name, action in legal_names(start).items():
        assert parse_move(name.upper(), start) == OTHELLO.parse_action(name) == action
