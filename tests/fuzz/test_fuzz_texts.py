"""Texts that name games, players, positions and actions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import REFERENCE
from test_reference import any_board, check_position, check_successors, words
from variants import make, random_position

from boardenvs import games
from boardenvs.agents import agent_for, make_agent
from boardenvs.agents.alphabeta import AlphaBetaAgent
from boardenvs.agents.mcts import MCTSAgent
from boardenvs.game import fen
from boardenvs.game.errors import PositionError
from boardenvs.game.position import stack
from fuzz import oracle
from fuzz.inputs import GAMES, NAMED_CODE, WHOLE, as_board, fuzzed, mutated, thing, whole
from fuzz.oracle import CANARY, attempt

PARAMETERS = ["=", ":", ",", "rules", "max_plies", "max_steps", "holes", "described", "none", "id"]
AGENTS = ["random", "greedy", "positional", "alphabeta", "alphabeta:depth=2,endgame=10",
          "alphabeta:nodes=100", "alphabeta:time=0.01", "mcts:rollouts=5",
          "mcts:rollouts=9,leaves=3", "perfect", "policy:file.npz", "mcts:policy=file.npz",
          "trained:shield=false"]  # fmt: skip
LIMITS = ["depth", "nodes", "time", "endgame", "rollouts", "c", "leaves", "policy", "=", ":", ","]
MAKERS: list[Any] = [games.make, games.make_from_file]
NAMES = ["d3", "a1", "b1-b3", "b1-n", "pass", "noop", "4 3", "c4 c8 c3 c7", "b 1 b 3"]


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
)
def test_games(call: Any) -> None:
    if names_code(call) and call.func is games.make:
        return
    game, error = attempt(call, ValueError, TypeError)
    if error is None:
        again, _ = attempt(lambda: games.make_from_file(games.spec_of(game)))
        assert again == game
        assert not game.start().terminated


OTHELLO = make("othello")
MIDDLE_AND_END = stack([random_position(OTHELLO, 1, plies) for plies in (20, 57)])
# Up to which an agent chooses in far less than a second, in Python.
QUICK = {"depth": 1, "nodes": 500, "time": 0.05, "endgame": 2, "rollouts": 20, "leaves": 10**9}


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
    | st.builds(partial, st.just(agent_for), st.just(OTHELLO), thing)
)
def test_agents(call: Any) -> None:
    if names_code(call):
        return
    agent, error = attempt(call, ValueError, TypeError)
    limits = {name: getattr(agent, name, None) or 0 for name in QUICK}
    endless = isinstance(agent, AlphaBetaAgent) and not any(list(limits.values())[:3])
    if error or endless or any(limits[name] > most for name, most in QUICK.items()):
        return
    actions, error = attempt(
        lambda: agent.act(OTHELLO, MIDDLE_AND_END, np.random.default_rng(0)), ValueError
    )
    assert error is not None or OTHELLO.is_legal(MIDDLE_AND_END, actions).all()


# ---- positions -----------------------------------------------------------------------------------

STARTS = [
    (name, random_position(make(name), plies, plies).fen())
    for name in REFERENCE
    for plies in (0, 5, 20)
] + [("othello", "---------------------------XO------OX--------------------------- X")]
PIECES = ["b", "r", "w", "s", "8", "1", "/", " ", "black", "white", "red", "wolf", "sheep", "9",
          "X", "O", "-", "Black", str(2**30), str(2**30 + 1)]  # fmt: skip


@fuzzed
@given(data=st.data())
def test_texts_of_positions(data: st.DataObject) -> None:
    name, base = data.draw(st.sampled_from(STARTS))
    game, text = make(name), data.draw(mutated(st.just(base), PIECES))
    position, error = attempt(lambda: fen.parse_position(game, text), PositionError)
    if error is None:
        check_position(game, REFERENCE[name], position, as_board(position))
        assert fen.parse_position(game, position.fen()) == position


@fuzzed
@given(data=st.data())
def test_positions(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(REFERENCE)))
    game, board = make(name), data.draw(any_board(name))
    given_ = [words(board), board.to_move, board.ply]
    which = data.draw(st.integers(0, 3))
    if which < 3:
        given_[which] = data.draw(thing | st.tuples(whole, whole | st.just(given_[0][1])))
    position, error = attempt(lambda: game.position(*given_), PositionError)
    if error is None:
        moves = check_position(game, REFERENCE[name], position, as_board(position))
        check_successors(game, REFERENCE[name], position, moves, as_board(position))


# ---- actions -------------------------------------------------------------------------------------


@fuzzed
@given(
    name=st.sampled_from(list(REFERENCE)),
    text=mutated(st.sampled_from(NAMES), NAMES + NAMED_CODE),
)
def test_actions(name: str, text: str) -> None:
    game = make(name)
    for parse, write in (
        (game.parse_action, game.action_name),
        (game.parse_gdl, game.action_gdl),
    ):
        action, error = attempt(partial(parse, text), ValueError)
        if error is None:
            assert 0 <= action < game.num_actions
            assert parse(write(action)) == action


def test_a_fault_is_seen(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle itself: what no call may do is told."""
    path = tmp_path / "x"
    attempt(lambda: path.write_text("x"), folder=tmp_path)
    monkeypatch.setattr(oracle, "SECONDS", 0.2)
    nothing: Any = None
    faults: dict[str, tuple[Any, ...]] = {
        "KeyError is none of": (lambda: games.GAMES["x"], ValueError),
        "did not mean": (lambda: games.spec_of(nothing), AttributeError),
        "characters": (lambda: games.GAMES["x" * 10_000], KeyError),
        "wrote": (lambda: path.write_text("x"),),
        "os.remove": (path.unlink,),
        "import": (lambda: games.make(NAMED_CODE[1]), ValueError),
        "MB": (lambda: np.ones(28_000_000).sum(),),
        "still at work after": (lambda: [None for _ in iter(int, 1)],),
    }
    for told, (call, *errors) in faults.items():
        with pytest.raises(AssertionError, match=told):
            attempt(call, *errors)
