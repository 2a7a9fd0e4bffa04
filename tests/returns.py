"""What SB3 computes as returns of boards, and what each mover got in the end by the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch as th
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from boardenvs.envs.batch import SAME_SIDE
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray, IntArray, State, where


@dataclass(frozen=True)
class FirstLegal:
    """An opponent that a test can follow: the legal action with the lowest number."""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        actions: IntArray = game.legal(state).argmax(axis=1)
        return actions


def any_legal(env: BoardVecEnv, rng: np.random.Generator) -> IntArray:
    masks = env.action_masks()
    actions: IntArray = (masks * rng.random(masks.shape)).argmax(axis=1)
    return actions


def over(game: Game, state: State) -> Any:
    return state.terminated | game.is_truncated(state)


def played_on(game: Game, before: State, actions: IntArray, replies: Any) -> State:
    """The positions after the learner's action and, where there is an opponent, its reply."""
    after = game.step(before, actions)
    answers = FirstLegal().act(game, after, np.random.default_rng(0))
    answered = game.step(after, answers)
    return where(over(game, after) | ~replies, after, answered)


def returns_and_results(env: BoardVecEnv, discounts: Any) -> tuple[FloatArray, FloatArray]:
    """What SB3's own buffer computes for random play with random values as guesses, and what each
    mover got in the end by the rules; NaN where a game did not end within the rollout.
    """
    game, boards, steps = env.game, env.num_envs, 70
    rng = np.random.default_rng(0)
    replies = env.discounts == SAME_SIDE
    buffer = MaskableRolloutBuffer(
        steps, env.observation_space, env.action_space, gae_lambda=1.0, n_envs=boards
    )
    buffer.gamma = discounts
    env.seed(1)
    observation: Any = env.reset()
    dones = np.ones(boards, bool)
    truth, movers = np.full((steps, boards), np.nan), np.empty((steps, boards), int)
    began = np.zeros(boards, int)
    for step in range(steps):
        starts, before = dones, env.state
        movers[step] = before.to_move
        actions = any_legal(env, rng)
        meant = env.boards.symmetries.meant(actions) if env.boards.symmetries else actions
        after = played_on(game, before, meant, replies)
        new_observation, rewards, dones, _ = env.step(actions)
        assert np.array_equal(dones, over(game, after))
        values = th.as_tensor(rng.normal(size=boards))
        buffer.add(observation, actions, rewards, starts, values, values, action_masks=None)
        observation = new_observation
        goals = game.results(after)
        for board in np.flatnonzero(dones):
            plies = slice(began[board], step + 1)
            truth[plies, board] = (goals[board, movers[plies, board]] - 50) / 50
            began[board] = step + 1
    buffer.compute_returns_and_advantage(th.as_tensor(rng.normal(size=boards)), dones)
    return buffer.returns, truth
