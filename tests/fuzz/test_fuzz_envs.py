"""What environments are given: options, seeds, positions, actions, masks.

Whatever is refused leaves no trace: the environment goes on like one that was not asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import boardenvs
from boardenvs.envs.factory import single_env
from boardenvs.game.contract import Position
from fuzz.inputs import GAMES, fuzzed, scalar, text, thing, value, whole
from fuzz.oracle import CANARY, attempt

# What the docstrings name; ResetNeeded and DependencyNotInstalled are Gymnasium's.
ERRORS = (ValueError, TypeError, gymnasium.error.Error)

MAKERS: dict[str, Callable[..., Any]] = {
    "env": boardenvs.env,
    "raw_env": boardenvs.raw_env,
    "parallel_env": boardenvs.parallel_env,
    "vec_env": boardenvs.vec_env,
    "single_env": single_env,
}
OPTIONS = ["reward", "render_mode", "num_envs", "opponent", "seat", "opening_plies", "copy",
           "autoreset_mode", "name", "on_illegal", "max_plies", "rules", "holes"]  # fmt: skip
RIGHT = ["goal", "zero_sum", "ansi", "random", "greedy", "alternating", "black", "wolf",
         "next_step", "NextStep", "SameStep", "Disabled", (0, 4), (4, 0), (3,), 3,
         True]  # fmt: skip
START = boardenvs.games.make("reversi").start().fen()

small = st.integers(-3, 70) | scalar.filter(lambda x: not isinstance(x, int))
# `num_envs` is as many boards as are asked for: large numbers take the memory that they need.
options = st.dictionaries(
    st.sampled_from(OPTIONS) | text, st.sampled_from(RIGHT) | small | value, max_size=3
)
# A position as somebody may build one by hand, or change one.
positions = st.builds(
    Position,
    whole | thing,
    whole | thing,
    st.tuples(whole, whole) | thing,
    st.integers(0, 1) | thing,
    whole | thing,
    st.booleans() | thing,
    st.just(boardenvs.games.make("reversi")),
)
resets = st.one_of(
    st.none(),
    thing,
    st.dictionaries(st.sampled_from(["position", "reset_mask"]) | text, thing, max_size=2),
    st.builds(
        lambda x: {"position": x}, positions | st.sampled_from([START, START.replace("b", "x")])
    ),
    st.builds(lambda x: {"reset_mask": np.array(x)}, st.lists(st.booleans(), max_size=4)),
)
seeds = st.none() | whole | thing | st.lists(whole, max_size=3)
actions = st.one_of(
    thing,
    whole,
    whole.map(lambda n: np.array(n)),
    st.lists(scalar, max_size=4),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3).map(np.array),
    st.lists(st.floats(), min_size=3, max_size=3).map(np.array),
    st.dictionaries(st.sampled_from(["black", "red", "wolf"]) | text, whole | thing, max_size=3),
)


@fuzzed
@given(
    maker=st.sampled_from(list(MAKERS)), game=st.sampled_from(GAMES) | thing, given_options=options
)
def test_options(maker: str, game: Any, given_options: dict[str, Any]) -> None:
    if CANARY in f"{game}{given_options}" or (given_options.get("num_envs") or 0) is True:
        return
    number = given_options.get("num_envs")
    if isinstance(number, int) and number > 70:
        return
    env, error = attempt(lambda: MAKERS[maker](game, **given_options), *ERRORS)
    if error is None:
        attempt(lambda: env.reset(seed=1))


def play(env: Any, kind: str, seed: int, plies: int) -> None:
    """Legal plies from a new start; as many as the game lasts."""
    env.reset(seed=seed)
    for _ in range(plies):
        if not step(env, kind):
            return


def step(env: Any, kind: str) -> bool:
    """The first legal action everywhere; False where the game is over."""
    if kind == "vec_env":
        env.step(env.action_masks().argmax(axis=1))
        return True
    if kind == "parallel_env":
        if not env.agents:
            return False
        noop = env.game.noop
        chosen = dict.fromkeys(env.agents, noop)
        position = env.position
        chosen[env.possible_agents[position.to_move]] = position.legal_actions()[0]
        env.step(chosen)
        return True
    board = env.board if kind == "single_env" else env
    if board.is_over:
        return False
    env.step(board.position.legal_actions()[0])
    return True


def situation(env: Any, kind: str) -> Any:
    """All that a player may see, to be compared."""
    if kind == "vec_env":
        state = env.batch.state
        return [x.tolist() for x in state], env.action_masks().tolist()
    board = env.board if kind == "single_env" else env
    return board.position, list(board.agents), [str(board.observe(a)) for a in board.possible_agents
                                               if kind != "parallel_env"]  # fmt: skip


def made(kind: str) -> Any:
    game = boardenvs.games.make("reversi")
    if kind == "vec_env":
        return boardenvs.vec_env(game, 3)
    return MAKERS[kind](game)


@fuzzed
@given(
    kind=st.sampled_from(list(MAKERS)),
    plies=st.integers(0, 60),
    action=actions,
    before=st.booleans(),
)
def test_actions(kind: str, plies: int, action: Any, before: bool) -> None:
    env, twin = made(kind), made(kind)
    if before:
        _, error = attempt(lambda: env.step(action), *ERRORS)
        assert error is not None
    play(env, kind, 1, plies)
    play(twin, kind, 1, plies)
    _, error = attempt(lambda: env.step(action), *ERRORS)
    if error is not None:
        assert situation(env, kind) == situation(twin, kind)
        assert step(env, kind) == step(twin, kind)
        assert situation(env, kind) == situation(twin, kind)


@fuzzed
@given(
    kind=st.sampled_from(list(MAKERS)), plies=st.integers(0, 9), seed=seeds, given_options=resets
)
def test_resets(kind: str, plies: int, seed: Any, given_options: Any) -> None:
    env = made(kind)
    play(env, kind, 1, plies)
    before = situation(env, kind), getattr(env, "_role", None)
    _, error = attempt(lambda: env.reset(seed=seed, options=given_options), *ERRORS)
    if error is not None:
        assert before == (situation(env, kind), getattr(env, "_role", None))
    assert step(env, kind)
    play(env, kind, 4, 5)


@fuzzed
@given(kind=st.sampled_from(["env", "raw_env", "parallel_env", "single_env"]), agent=thing)
def test_agents_that_observe(kind: str, agent: Any) -> None:
    env = made(kind)
    play(env, kind, 1, 3)
    board = env.board if kind == "single_env" else env
    if kind != "parallel_env":
        _, error = attempt(lambda: board.observe(agent), ValueError)
        assert (error is None) == (agent in board.possible_agents)
