"""Agents without a generator, and what Gymnasium does with masks, observations and modes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import FlattenObservation

import boardenvs
from boardenvs import ResetNeededError
from boardenvs.agents import make_agent
from boardenvs.envs.factory import single_env
from boardenvs.game.openings import random_openings
from boardenvs.games import make

pytestmark = pytest.mark.usefixtures("in_python")

AGENTS = [
    "random", "greedy", "positional", "alphabeta:depth=1", "mcts:rollouts=8", "trained",
    "trained:sample=true", "trained:shield=false", "python:arena_agents:lowest",
    "python:arena_agents:highest", "perfect",
]  # fmt: skip


@pytest.mark.parametrize("text", AGENTS)
def test_agents_need_no_generator(text: str) -> None:
    game = make("wolf_and_sheep" if text == "perfect" else "othello")
    state = random_openings(game, 4, game.opening_plies, np.random.default_rng(0))
    act: Callable[..., Any] = make_agent(text).act
    assert game.is_legal(state, act(game, state)).all()
    given = [act(game, state, np.random.default_rng(5)).tolist() for _ in range(2)]
    assert given[0] == given[1]


@pytest.mark.parametrize(
    "make_env",
    [
        partial(boardenvs.vec_env, "reversi", 2, autoreset_mode=AutoresetMode.NEXT_STEP),
        partial(SyncVectorEnv, [partial(single_env, "reversi")] * 2),
        partial(AsyncVectorEnv, [partial(single_env, "reversi")] * 2),
    ],
    ids=["vec_env", "SyncVectorEnv", "AsyncVectorEnv"],
)
def test_gymnasium_draws_from_the_masks(make_env: Callable[[], Any]) -> None:
    env = make_env()
    try:
        _, infos = env.reset(seed=0)
        over, ended = np.zeros(2, np.bool_), 0
        for _ in range(130):
            mask = infos["action_mask"]
            np.testing.assert_array_equal(mask.any(axis=1), ~over)
            actions = env.action_space.sample(tuple(mask))  # ignored where the game is over
            assert mask[np.arange(2), actions][~over].all()
            _, rewards, terminated, truncated, infos = env.step(actions)
            assert not rewards[over].any()
            assert not terminated[over].any()
            over = terminated | truncated
            ended += int(over.sum())
        assert ended >= 2
        assert not infos["illegal_action"].any()
    finally:
        env.close()


def test_flattened_observations_and_modes() -> None:
    for mode in ("NextStep", "Disabled"):
        env = FlattenObservation(boardenvs.vec_env("othello", 3, autoreset_mode=mode))
        assert env.reset(seed=0)[0].shape == (3, 128)
    with pytest.raises(ValueError, match="NEXT_STEP or DISABLED"):
        FlattenObservation(boardenvs.vec_env("othello", 3))
    with pytest.raises(ValueError, match=r"unknown autoreset mode 'next_step'.* 'NextStep'\?"):
        boardenvs.vec_env("othello", 3, autoreset_mode="next_step")


def test_a_step_after_the_end_asks_for_reset() -> None:
    env = single_env("othello")
    env.reset(seed=0)
    assert env.step(0)[2]  # an illegal action
    with pytest.raises(ResetNeededError, match=r"the game is over: call reset\(\) before"):
        env.step(0)
