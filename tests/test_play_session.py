"""A game in progress: `boardenvs.play`."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from variants import make, random_record

import boardenvs
from boardenvs.agents import make_agent
from boardenvs.agents.base import taking_turns, waiting
from boardenvs.agents.each import act_each
from boardenvs.agents.history import History
from boardenvs.game.fen import parse_position
from boardenvs.game.position import stack
from boardenvs.play import GameSession, GameStore, record_of, session_of
from boardenvs.records import make_record, replay
from boardenvs.records.jsonl import read_jsonl

OTHELLO = make("othello")


def test_a_game_and_its_record():
    record = random_record(make("wolf_and_sheep"), players=("ada", "bob"))
    session = GameSession(record.game, players=record.players)
    for action in record.actions:
        session.play(action)
    assert session.goal == record.goal
    assert record_of(session) == record == record_of(session_of(record))


def test_plies_are_taken_back() -> None:
    """As in a list of actions."""
    session, rng, line = GameSession(OTHELLO), np.random.default_rng(0), list[int]()
    for _ in range(300):
        if session.is_over or rng.random() < 0.3:
            count = int(rng.integers(4))
            assert session.undo(count) == min(count, len(line))
            del line[max(len(line) - count, 0) :]
        else:
            line.append(int(rng.choice(session.legal_actions()[:2])))
            session.play(line[-1])
        assert session.actions == tuple(line)
        positions = replay(make_record(OTHELLO, line))
        assert session.positions == tuple(positions)
        assert session.before == (positions[-2] if line else None)


def test_of_a_game_that_is_taken_back_nothing_is_kept(tmp_path):
    store, session = GameStore(tmp_path / "games.jsonl"), GameSession(OTHELLO)
    store.keep(session)
    assert not store.path.exists()
    session.play(20)
    for kept in ([record_of(session)], []):
        store.keep(session)
        assert [*read_jsonl(store.path)] == kept
        session.undo()


def test_a_recorded_game_from_any_ply_and_position():
    line = random_record(OTHELLO)
    record = make_record(OTHELLO, line.actions[20:40], start=replay(line)[20])
    session = session_of(record)
    session.resign(1)
    resigned = record_of(session)
    assert resigned.info == {"resigned": "white"}
    session.undo(0)
    assert record_of(session) == record
    session = session_of(resigned)
    assert (session.resigned, session.goal, dict(session.info)) == (1, (100, 0), {})
    session.undo(0)
    passing = GameSession(OTHELLO, parse_position(OTHELLO, "wb6/8/8/8/8/8/8/8 black"))
    assert passing.must_pass
    passing.resign(0)
    assert not passing.must_pass
    session.undo(13)
    assert session.actions == record.actions[:7]
    session.play_line(record.actions[7:])
    assert record_of(session) == record


@pytest.mark.parametrize("name", ["othello", "checkers"])
def test_a_side_goes_back_to_its_last_choice(name) -> None:
    """Of one side or of both, also where a side moves again or can only pass."""
    record = random_record(make(name), 3)
    positions, noop = replay(record), record.game.noop
    chose = [p.to_move if p.legal_actions() != [noop] else None for p in positions[:-1]]
    for plies, roles in product(range(len(chose)), ([0], [1], [0, 1], [])):
        session = GameSession(record.game)
        session._positions, session._actions = positions[: plies + 1], [*record.actions[:plies]]
        earlier = [ply for ply in range(plies) if chose[ply] in roles]
        assert session.undo_to(roles) == bool(earlier)
        assert len(session.actions) == (earlier[-1] if earlier else plies)
        assert session.position == positions[len(session.actions)]


def test_a_pass_that_was_forced_is_no_move_to_take_back():
    session = GameSession(OTHELLO, parse_position(OTHELLO, "8/8/8/8/8/8/8/bw6 white"))
    session.play_line([OTHELLO.noop, OTHELLO.parse_action("c8")])
    assert not session.undo_to([1])
    assert session.undo_to([0])
    assert session.actions == (OTHELLO.noop,)


def test_a_player_is_asked_for_one_move():
    """Of any kind; batches say so where they are given a position."""
    position = session_of(random_record(OTHELLO, plies=20)).position
    least = min(position.legal_actions())
    agent, rng = make_agent("alphabeta:depth=2"), np.random.default_rng([3, position.ply])
    expected = agent.act(OTHELLO, stack([position]), rng)[0]
    for player in ("alphabeta:depth=2", agent):
        assert boardenvs.choose_action(position, player, seed=3) == expected
    assert boardenvs.choose_action(position, lambda seen: seen["action_mask"].argmax()) == least
    with pytest.raises(TypeError, match=r"boardenvs.choose_action\(position, player\)"):
        make_agent("greedy").act(OTHELLO, position)
    with pytest.raises(ValueError, match="the game is over in"):
        boardenvs.choose_action(session_of(random_record(OTHELLO)).position, "greedy")
    with pytest.raises(ValueError, match="Did you mean 'greedy'"):
        boardenvs.choose_action(position, "greddy")
    with pytest.raises(boardenvs.IllegalActionError, match="action 27"):
        boardenvs.choose_action(position, lambda seen: 27)


def test_boards_are_asked_about_one_by_one_with_a_number_each():
    """But not where there is no choice."""
    forced = parse_position(OTHELLO, "8/8/8/8/8/8/8/brr5 black")
    state, asked = stack([OTHELLO.start(), forced, OTHELLO.start()]), []

    def ask(session, number):
        asked.append(number)
        return session.legal_actions()[number % 4]

    chosen = [act_each(OTHELLO, state, None, ask, np.random.default_rng(5)) for _ in range(2)]
    assert (
        chosen[0].tolist()
        == chosen[1].tolist()
        == [
            OTHELLO.start().legal_actions()[asked[0] % 4],
            3,
            OTHELLO.start().legal_actions()[asked[1] % 4],
        ]
    )
    assert asked[:2] == asked[2:]
    assert asked[0] != asked[1]


class Noted:
    """A lock that nobody else holds, and what is done with it."""

    def __init__(self):
        self.done = []

    def acquire(self):
        self.done.append("acquire")

    def release(self):
        self.done.append("release")

    def __enter__(self):
        self.acquire()

    def __exit__(self, *error):
        self.release()


def test_who_waits_lets_others_compute():
    lock = Noted()
    with taking_turns(lock):
        lock.done.append("compute")
        with waiting():
            lock.done.append("wait")
        lock.done.append("compute")
    with waiting():  # nobody takes turns any more
        lock.done.append("wait")
    assert " ".join(lock.done) == ("acquire compute release wait acquire compute release wait")


def test_a_part_of_a_history_has_its_own_games_and_memory():
    part = History(np.array([[1, -1], [2, 3], [4, 5]]), ({"a": 1}, {"b": 2}, {})).of_rows([1, 0])
    assert [part.plies(0), part.plies(1), *part.memory] == [[2, 3], [1], {"b": 2}, {"a": 1}]


def test_a_player_gets_the_games_so_far_if_it_wants_them():
    """In a match with a memory for each game; for one move, if its game is known."""
    known = []

    def act(game, state, rng, history=None):
        known.append(history is not None)
        for row, position in enumerate(game.positions(state) if history else ()):
            plies = history.plies(row)
            assert GameSession.reaching(position, plies).actions == tuple(plies)
            if history.memory:
                before = history.memory[row].get("plies", [])
                assert plies[: len(before)] == before
                history.memory[row]["plies"] = plies
        return game.sample(state, rng)

    for player in (act, SimpleNamespace(act=act)):
        assert not boardenvs.play_match(OTHELLO, player, "random", 3).forfeits.any()
        session = session_of(random_record(OTHELLO, plies=20))
        boardenvs.choose_action(session, player)
        assert all(known)
        boardenvs.choose_action(session.position, player)
        boardenvs.choose_action(GameSession.reaching(session.position), player)
        assert known[-2:] == [False, False]
        known.clear()
