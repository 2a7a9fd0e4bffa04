"""Many games at once as RLlib takes them: a vector environment whose observations hold the masks.

RLlib does not hand infos to a network, so a mask must be part of what is observed:
{"observations": (B, 8, 8, C) int8, "action_mask": (B, A) int8}, the names of RLlib's own examples.

    config.environment(MaskedVectorEnv, env_config={"game": "othello", "opponent": "greedy"})
    config.env_runners(
        num_envs_per_env_runner=64, gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT
    )

RLlib's own env runner does with these environments what it does with any; how slow that is, and
what is faster, stands in training/rllib/README.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from boardenvs.envs.batch import Batch
from boardenvs.envs.factory import vec_env
from boardenvs.game.contract import Game
from boardenvs.game.state import BoolArray, FloatArray, Int8Array, IntArray

# An observation of one board or of many, by RLlib's names.
OBSERVATIONS, ACTION_MASK = "observations", "action_mask"
Masked = dict[str, Int8Array]
Stepped = tuple[Masked, FloatArray, BoolArray, BoolArray, dict[str, Any]]


def masked_space(game: Game) -> spaces.Dict:
    """The space of one board's observations with their mask."""
    return spaces.Dict(
        {
            OBSERVATIONS: spaces.Box(0, 1, game.observation_shape, np.int8),
            ACTION_MASK: spaces.Box(0, 1, (game.num_actions,), np.int8),
        }
    )


class _MaskedEnv(VectorEnv[Masked, IntArray, Any]):
    """The spaces of a vector environment of one game."""

    def __init__(self, game: Game, num_envs: int) -> None:
        self.game = game
        self.num_envs = num_envs
        self.single_observation_space: spaces.Dict = masked_space(game)
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)


class MaskedVectorEnv(_MaskedEnv):
    """`boardenvs.vec_env` with the masks in the observations, and empty infos.

    `config` is RLlib's `env_config`: "game" (a text, or a Game) and options of `vec_env` by name;
    RLlib adds "num_envs". Games are replaced as Gymnasium's NEXT_STEP says, which RLlib's env
    runner relies on. Where a game is over the mask has noop alone, since a network must choose
    something there; the action is ignored.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._boards = vec_env(**config, autoreset_mode=AutoresetMode.NEXT_STEP)
        super().__init__(self._boards.game, self._boards.num_envs)
        self.metadata = self._boards.metadata

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Masked, dict[str, Any]]:
        observations, infos = self._boards.reset(seed=seed, options=options)
        return self._masked(cast(Int8Array, observations), infos), {}

    def step(self, actions: IntArray) -> Stepped:
        observations, rewards, terminated, truncated, infos = self._boards.step(np.asarray(actions))
        seen = self._masked(cast(Int8Array, observations), infos)
        return seen, rewards, terminated, truncated, {}

    def _masked(self, observations: Int8Array, infos: dict[str, Any]) -> Masked:
        mask = infos["action_mask"]
        mask[~mask.any(axis=1), self.game.noop] = 1
        return {OBSERVATIONS: observations, ACTION_MASK: mask}


class GroupedVectorEnv(_MaskedEnv):
    """Groups of boards, in self-play or against opponents, as a vector environment.

    A game that ends is replaced within the step, as Gymnasium's SAME_STEP says; its last position
    is not shown. A game that is cut off by its cap on plies counts as terminated: it is paid out
    by its position, and the observation counts the plies down to the cap.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, boards: Batch) -> None:
        super().__init__(boards.game, boards.size)
        self.boards = boards

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Masked, dict[str, Any]]:
        if seed is not None:
            self.boards.seed(seed)
        self.boards.restart()
        return self.observe(), {}

    def step(self, actions: IntArray) -> Stepped:
        result = self.boards.step(actions)
        over = result.terminated | result.truncated
        return self.observe(), result.rewards, over, np.zeros_like(over), {}

    def observe(self) -> Masked:
        """What the side to move, or the learner, sees on every board."""
        planes, mask = self.boards.observe()
        return {OBSERVATIONS: planes, ACTION_MASK: mask.view(np.int8)}

    def close(self, **kwargs: Any) -> None:
        self.boards.close()
