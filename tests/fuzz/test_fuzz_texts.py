"""Texts that name games, players, positions and actions."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import REFERENCE, Board
from test_reference import any_board, check_position, words
from variants import make, random_position

from boardenvs import games
from boardenvs.agents import agent_for, make_agent
from boardenvs.agents.alphabeta import AlphaBetaAgent
from boardenvs.agents.mcts import MCTSAgent
from boardenvs.board.bitboard import squares_of
from boardenvs.game import fen
from boardenvs.game.contract import Position, stack
from boardenvs.game.errors import PositionError
from fuzz import oracle
from fuzz.inputs import GAMES, NAMED_CODE, WHOLE, fuzzed, mutated, thing, whole
from fuzz.oracle import CANARY, attempt

PARAMETERS = ["=", ":", ",", "rules", "max_plies", "max_steps", "holes", "described", "none", "id"]
AGENTS = ["random", "greedy", "positional", "alphabeta", "alphabeta:depth=2,endgame=10",
          "alphabeta:nodes=100", "alphabeta:time=0.01", "mcts:rollouts=5",
          "mcts:rollouts=9,leaves=3", "perfect", "policy:file.npz", "mcts:policy=file.npz",
          "trained:shield=true"]  # fmt: skip
LIMITS = ["depth", "nodes", "time", "endgame", "rollouts", "c", "leaves", "policy", "=", ":", ","]
NAMES = ["d3", "a1", "b1-b3", "b1-n", "pass", "noop", "4 3", "c4 c8 c3 c7", "b 1 b 3"]


MAKERS: list[Any] = [games.make, games.make_from_file]


def names_code(call: Any) -> bool:
    """Whether a call asks for code, which is then imported: the user has written it."""
    return CANARY in f"{call.args}{call.keywords}"


@fuzzed
@given(
    call=st.builds(
        partial,
        st.sampled_from(MAKERS),
        mutated(st.sampled_from(GAMES), PARAMETERS),
    )
    | st.builds(
        lambda game, rules: partial(games.make, game, **rules),
        st.sampled_from(list(games.BUILT_IN)) | thing,
        st.dictionaries(
            st.sampled_from(["rules", "max_plies", "max_steps", "holes", "id"]), thing, max_size=2
        ),
    )
)
def test_games(call: Any) -> None:
    if names_code(call) and call.func is games.make:
        return
    game, error = attempt(call, ValueError, TypeError)
    if error is None:
        again, _ = attempt(lambda: games.make_from_file(games.spec_of(game)))
        assert again == game
        assert all(getattr(game, name) == value for name, value in call.keywords.items())
        assert not game.start().terminated


@fuzzed
@given(
    call=st.builds(
        partial,
        st.just(make_agent),
        mutated(st.sampled_from(AGENTS), LIMITS + [str(n) for n in WHOLE[:-1]]),
    )
    | st.builds(
        lambda kind, limits: partial(
            kind, **{k: v for k, v in limits.items() if k in kind.__dataclass_fields__}
        ),
        st.sampled_from([AlphaBetaAgent, MCTSAgent]),
        st.dictionaries(st.sampled_from(LIMITS[:7]), thing, max_size=3),
    )
    | st.builds(partial, st.just(agent_for), st.just(make("reversi")), thing)
)
def test_agents(call: Any) -> None:
    if names_code(call):
        return
    agent, error = attempt(call, ValueError, TypeError)
    if error is None and call.func is not agent_for and is_quick(agent):
        play(agent)


def is_quick(agent: Any) -> bool:
    """Whether it can be expected to choose in far less than a second, in Python."""
    most = {"depth": 1, "nodes": 500, "time": 0.05, "endgame": 2, "rollouts": 20, "leaves": 10**9}
    if isinstance(agent, AlphaBetaAgent) and not (agent.depth or agent.nodes or agent.time):
        return False
    return all((getattr(agent, name, None) or 0) <= value for name, value in most.items())


def play(agent: Any) -> None:
    """A choice on two boards of Othello, in the middle of the game and near its end."""
    game = make("othello")
    state = stack([random_position(game, 1, plies) for plies in (20, 57)])
    try:
        agent_for(game, agent)
    except ValueError:
        return
    actions, _ = attempt(lambda: agent.act(game, state, np.random.default_rng(0)))
    assert game.is_legal(state, actions).all()


# ---- positions -----------------------------------------------------------------------------------

STARTS = [
    (name, random_position(make(name), plies, plies).fen())
    for name in REFERENCE
    for plies in (0, 5, 20)
] + [("othello", "---------------------------XO------OX--------------------------- X")]
PIECES = ["b", "r", "w", "s", "8", "1", "/", " ", "black", "white", "red", "wolf", "sheep", "9",
          "X", "O", "-", "Black", str(2**30), str(2**30 + 1)]  # fmt: skip


def as_in_the_reference(name: str, position: Position) -> None:
    """What the slow rules say of a position."""
    squares = [frozenset((s % 8 + 1, s // 8 + 1) for s in squares_of(position.pieces(role)))
               for role in (0, 1)]  # fmt: skip
    board = Board((squares[0], squares[1]), position.to_move, position.ply)
    check_position(make(name), REFERENCE[name], position, board)


@fuzzed
@given(data=st.data())
def test_texts_of_positions(data: st.DataObject) -> None:
    name, base = data.draw(st.sampled_from(STARTS))
    text = data.draw(mutated(st.just(base), PIECES))
    game = make(name)
    position, error = attempt(lambda: fen.parse_position(game, text), PositionError)
    if error is None:
        as_in_the_reference(name, position)
        assert fen.parse_position(game, position.fen()) == position


@fuzzed
@given(data=st.data())
def test_positions(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(REFERENCE)))
    board = data.draw(any_board(name))
    squares: Any = words(board)
    to_move: Any = board.to_move
    ply: Any = board.ply
    match data.draw(st.integers(0, 4)):
        case 0:
            squares = data.draw(st.tuples(whole, whole) | st.tuples(whole, st.just(squares[1])))
        case 1:
            to_move = data.draw(thing)
        case 2:
            ply = data.draw(thing)
        case 3:
            squares = data.draw(thing)
    position, error = attempt(lambda: make(name).position(squares, to_move, ply), PositionError)
    if error is None:
        as_in_the_reference(name, position)


# ---- actions -------------------------------------------------------------------------------------


@fuzzed
@given(
    name=st.sampled_from(list(REFERENCE)),
    text=mutated(st.sampled_from(NAMES), NAMES + NAMED_CODE),
    number=whole,
)
def test_actions(name: str, text: str, number: int) -> None:
    game = make(name)
    for parse, write in (
        (game.parse_action, game.action_name),
        (game.parse_gdl, game.action_gdl),
    ):
        action, error = attempt(partial(parse, text), ValueError)
        if error is None:
            assert 0 <= action < game.num_actions
            assert parse(write(action)) == action
    written, error = attempt(lambda: game.action_name(number), ValueError)
    if error is None:
        assert game.parse_action(written) == number


def work(seconds: float) -> None:
    """Take so much of the processor's time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_fault_is_seen(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle itself: what no call may do is told."""
    with pytest.raises(AssertionError, match="KeyError is none of"):
        attempt(lambda: games.GAMES["x"], ValueError)
    with pytest.raises(AssertionError, match="wrote"):
        attempt(lambda: (tmp_path / "x").write_text("x"))
    attempt(lambda: (tmp_path / "x").write_text("x"), folder=tmp_path)
    with pytest.raises(AssertionError, match="import"):
        attempt(lambda: games.make(NAMED_CODE[1]), ValueError)
    with pytest.raises(AssertionError, match="MB"):
        attempt(lambda: np.ones(28_000_000).sum())
    with pytest.raises(AssertionError, match="characters"):
        attempt(lambda: games.GAMES["x" * 10_000], KeyError)
    monkeypatch.setattr(oracle, "SECONDS", 0.05)
    with pytest.raises(AssertionError, match="still at work after"):
        attempt(lambda: [None for _ in iter(int, 1)])
    with pytest.raises(AssertionError, match=r"[0-9] s$"):
        attempt(partial(work, 0.08))
