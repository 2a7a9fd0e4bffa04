"""Ordinary mistakes in playing: no generator, masks, steps after the end, illegal actions."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import FlattenObservation

import boardenvs
from boardenvs.agents import make_agent
from boardenvs.envs.core import ResetNeededError
from boardenvs.envs.factory import single_env
from boardenvs.game.openings import random_openings
from boardenvs.games import make

pytestmark = pytest.mark.usefixtures("in_python")
PAGE = Path(boardenvs.__file__).parent / "envs" / "README.md"

AGENTS = [
    "random", "greedy", "positional", "alphabeta:depth=1", "mcts:rollouts=8", "trained",
    "trained:sample=true", "trained:shield=true", "python:arena_agents:lowest",
    "python:arena_agents:highest",
]  # fmt: skip


@pytest.mark.parametrize("text", [*AGENTS, "perfect"])
def test_agents_need_no_generator(text: str) -> None:
    game = make("wolf_and_sheep" if text == "perfect" else "othello")
    state = random_openings(game, 4, game.opening_plies, np.random.default_rng(0))
    act: Callable[..., Any] = make_agent(text).act
    assert game.is_legal(state, act(game, state)).all()
    given = [act(game, state, np.random.default_rng(5)).tolist() for _ in range(2)]
    assert given[0] == given[1]


# ---- masks ---------------------------------------------------------------------------------------


def test_gymnasium_draws_from_the_masks_of_vec_env() -> None:
    env = boardenvs.vec_env("othello", 8)
    _, infos = env.reset(seed=0)
    for _ in range(130):
        mask = infos["action_mask"]
        assert mask.dtype == np.int8
        np.testing.assert_array_equal(mask, env.action_masks())
        assert env.action_masks().dtype == np.bool_
        actions = env.action_space.sample(tuple(mask))
        assert mask[np.arange(8), actions].all()
        *_, infos = env.step(actions)
        assert not infos["illegal_action"].any()


@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
def test_masks_in_gymnasiums_vector_environments(kind: Any) -> None:
    env = kind([lambda: single_env("reversi")] * 2, autoreset_mode=AutoresetMode.NEXT_STEP)
    try:
        _, infos = env.reset(seed=0)
        over, ended = np.zeros(2, np.bool_), 0
        for _ in range(100):
            mask = infos["action_mask"]
            np.testing.assert_array_equal(mask.any(axis=1), ~over)
            actions = env.action_space.sample(tuple(mask))  # ignored where the game is over
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


# ---- after the end, and what is not legal --------------------------------------------------------


def test_a_step_without_a_game_asks_for_reset() -> None:
    env = single_env("othello")
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        env.step(0)
    env.reset(seed=0)
    assert env.step(0)[2]  # an illegal action
    with pytest.raises(ResetNeededError, match=r"the game is over: call reset\(\) before"):
        env.step(0)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (("env", "gymnasium.make", "parallel_env", "vec_env"), "loses the game, reward -1"),
        (("raw_env", "BoardVecEnv"), "raises `IllegalActionError`"),
    ],
)
def test_the_page_says_what_an_illegal_action_does(rows: tuple[str, ...], says: str) -> None:
    """It is done by all of them in `test_interfaces`."""
    for row in rows:
        assert re.search(rf"^\| `{row}` \|.*\| {says} \|$", PAGE.read_text(), re.M)
