"""What SB3 computes as returns of boards, and what each mover got in the end by the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch as th

from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.envs.sb3_buffer import TurnRolloutBuffer
from boardenvs.game.game import Game
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
    """The positions after the learner's action and, where there is an opponent, its replies."""
    after = game.step(before, actions)
    while True:
        waiting = replies & ~over(game, after) & (after.to_move != before.to_move)
        if not waiting.any():
            return after
        answers = FirstLegal().act(game, after, np.random.default_rng(0))
        after = where(waiting, game.step(after, answers), after)


def paid(game: Game, after: State) -> FloatArray:
    """What games that are over pay each role, -1 to 1, (B, 2); NaN of the others."""
    results: FloatArray = np.where(over(game, after)[:, None], game.results(after) / 50 - 1, np.nan)
    return results


def results_of_movers(movers: Any, ends: Any) -> FloatArray:
    """What each mover got in the end, (T, B), from who moved, (T, B), and what was `paid` after
    each step, (T, B, 2); NaN where a game did not end.
    """
    found, results = [], ends[-1]
    for mover, end in zip(reversed(movers), reversed(ends), strict=True):
        results = np.where(np.isnan(end), results, end)
        found.append(results[np.arange(len(mover)), mover])
    return np.array(found[::-1])


def returns_and_results(env: BoardVecEnv) -> tuple[FloatArray, FloatArray]:
    """What the buffer computes for random play with random values as guesses, and what each
    mover got in the end by the rules.
    """
    boards, steps = env.num_envs, 70
    rng = np.random.default_rng(0)
    buffer = TurnRolloutBuffer(
        steps, env.observation_space, env.action_space, gamma=1.0, n_envs=boards
    )
    buffer.env = env
    env.seed(1)
    observation: Any = env.reset()
    dones, movers, ends = np.ones(boards, bool), [], []
    for _ in range(steps):
        starts, before = dones, env.state
        actions = any_legal(env, rng)
        meant = env.boards.symmetries.meant(before, actions) if env.boards.symmetries else actions
        after = played_on(env.game, before, meant, ~env.boards.self_play)
        new_observation, rewards, dones, _ = env.step(actions)
        assert np.array_equal(dones, over(env.game, after))
        values = th.as_tensor(rng.normal(size=boards))
        buffer.add(observation, actions, rewards, starts, values, values, action_masks=None)
        observation = new_observation
        movers.append(before.to_move)
        ends.append(paid(env.game, after))
    buffer.compute_returns_and_advantage(th.as_tensor(rng.normal(size=boards)), dones)
    return buffer.returns, results_of_movers(movers, ends)
