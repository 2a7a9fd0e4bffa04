"""What environments are given: options, seeds, positions, actions, masks.

Whatever is refused leaves no trace: the environment goes on like one that was not asked.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pettingzoo import ParallelEnv

import boardenvs
from boardenvs.envs.factory import single_env
from boardenvs.game.position import Position
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
REVERSI = boardenvs.games.make("reversi")
START = REVERSI.start().fen()

kinds = st.sampled_from(list(MAKERS))
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
    st.just(REVERSI),
)
resets = st.one_of(
    st.none(),
    thing,
    st.dictionaries(st.sampled_from(["position", "reset_mask"]) | text, thing, max_size=2),
    st.fixed_dictionaries({"position": positions | st.sampled_from([START, f"x{START}"])}),
    st.fixed_dictionaries({"reset_mask": st.lists(st.booleans(), max_size=4).map(np.array)}),
)
seeds = st.none() | whole | thing | st.lists(whole, max_size=3)
actions = st.one_of(
    thing,
    whole,
    whole.map(np.array),
    st.lists(scalar, max_size=4),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3).map(np.array),
    st.lists(st.floats(), min_size=3, max_size=3).map(np.array),
    st.dictionaries(st.sampled_from(["black", "red", "wolf"]) | text, whole | thing, max_size=3),
)


@fuzzed
@given(maker=kinds, game=st.sampled_from(GAMES) | thing, given_options=options)
def test_options(maker: str, game: Any, given_options: dict[str, Any]) -> None:
    number = given_options.get("num_envs")
    if CANARY in f"{game}{given_options}" or (isinstance(number, int) and number > 70):
        return
    env, error = attempt(lambda: MAKERS[maker](game, **given_options), *ERRORS)
    if error is None:
        attempt(lambda: env.reset(seed=1))


def made(kind: str) -> Any:
    return MAKERS[kind](REVERSI, **({"num_envs": 3} if kind == "vec_env" else {}))


def played(kind: str, plies: int) -> Any:
    """A game after so many plies, or its end."""
    env = made(kind)
    env.reset(seed=1)
    play(env, plies)
    return env


def play(env: Any, plies: int) -> list[Any]:
    """The first legal action everywhere, as often as it may be; what is seen then."""
    seen = []
    for _ in range(plies):
        board = getattr(env, "board", env)
        found: Any
        if hasattr(env, "num_envs"):
            found = env.step(env.action_masks().argmax(axis=1))
        elif not board.agents or board.position.is_over():
            break
        elif isinstance(env, ParallelEnv):
            joint = dict.fromkeys(env.agents, REVERSI.noop)
            joint[env.agents[env.position.to_move]] = env.position.legal_actions()[0]
            found = env.step(joint)
        else:
            found = env.step(board.position.legal_actions()[0]), board.last()
        seen.append(found)
    return seen


@fuzzed
@given(kind=kinds, plies=st.integers(0, 60), action=actions)
def test_actions(kind: str, plies: int, action: Any) -> None:
    _, error = attempt(lambda: made(kind).step(action), *ERRORS)
    assert error is not None, "it was not reset"
    env = played(kind, plies)
    twin = copy.deepcopy(env)
    _, error = attempt(lambda: env.step(action), *ERRORS)
    if error is not None:
        assert str(play(env, 9)) == str(play(twin, 9))


@fuzzed
@given(kind=kinds, plies=st.integers(0, 9), seed=seeds, given_options=resets)
def test_resets(kind: str, plies: int, seed: Any, given_options: Any) -> None:
    env = played(kind, plies)
    twin = copy.deepcopy(env)
    _, error = attempt(lambda: env.reset(seed=seed, options=given_options), *ERRORS)
    seen = play(env, 9)
    assert seen
    assert error is None or str(seen) == str(play(twin, 9))
