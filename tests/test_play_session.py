"""A game that people play: `boardenvs.play`."""

import numpy as np
import pytest

from boardenvs.game.errors import IllegalActionError
from boardenvs.games import GAMES, make
from boardenvs.play import GameSession, MoveNotation
from boardenvs.records import Record, check, replay


def random_session(game, rng, plies=1000):
    session = GameSession(game, players=("ada", "bob"))
    while not session.is_over and plies:
        session.play(int(rng.choice(session.legal_actions())))
        plies -= 1
    return session


@pytest.mark.parametrize("game_id", GAMES)
def test_a_game_and_its_record(game_id):
    game = make(game_id)
    session = random_session(game, np.random.default_rng(1))
    record = session.record()
    assert tuple(replay(record)) == session.positions
    assert record.goal == session.goal == session.position.result()
    assert record.players == ("ada", "bob")
    assert check([record])[0].error is None
    again = GameSession.of_record(record)
    assert again.record() == record


@pytest.mark.parametrize("game_id", GAMES)
def test_undo_and_redo_go_back_and_forth(game_id):
    game = make(game_id)
    session = random_session(game, np.random.default_rng(2))
    whole = session.positions
    assert session.undo(5) == 5
    assert session.positions == whole[:-5]
    assert session.redo(2) == 2
    assert session.positions == whole[:-3]
    assert session.redo(99) == 3
    assert session.positions == whole
    assert session.undo(1000) == len(whole) - 1
    assert session.positions == whole[:1]
    assert session.undo() == 0


def test_another_move_forgets_what_was_undone():
    session = GameSession(make("othello"))
    first, second = session.legal_actions()[:2]
    session.play(first)
    session.play(session.legal_actions()[0])
    session.undo(2)
    session.play(first)  # the same again
    assert len(session.undone) == 1
    session.undo()
    session.play(second)
    assert session.undone == ()
    assert session.redo() == 0


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


def test_a_person_takes_back_the_reply_too():
    session = GameSession(make("othello"))
    for _ in range(4):
        session.play(session.legal_actions()[0])
    assert session.undo_to([0]) == 2
    assert session.undo_to([1]) == 1
    assert session.undo_to([1]) == 0
    assert len(session.actions) == 1


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


def test_a_recorded_game_from_any_ply():
    game = make("othello")
    record = random_session(game, np.random.default_rng(3), plies=20).record()
    session = GameSession.of_record(record, 7)
    assert session.actions == record.actions[:7]
    assert session.undone == record.actions[7:]
    with pytest.raises(ValueError, match="21"):
        GameSession.of_record(record, 21)
    with pytest.raises(IllegalActionError):
        GameSession.of_record(Record(game, (0,)))


def test_a_position_of_its_own():
    game = make("othello")
    start = random_session(game, np.random.default_rng(4), plies=20).position
    session = GameSession(game, start)
    session.play(session.legal_actions()[0])
    assert session.record().start == start
    assert GameSession.of_record(session.record()).positions == session.positions


@pytest.mark.parametrize("game_id", GAMES)
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


def test_what_is_no_move_is_answered_with_what_is():
    game = make("othello")
    notation = MoveNotation(game)
    for text in ("", "a1", "z9", "d", "pass", "d3d3", "\x00", "d" * 1000):
        with pytest.raises(IllegalActionError, match="legal are e3, f4, c5, d6") as caught:
            notation.parse(text, game.start())
        assert len(str(caught.value)) < 200


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
