"""Many games at once as one native VecEnv of Stable-Baselines3.

    env = BoardVecEnv(boardenvs.games.make("othello"), num_envs=512, random_plies=(0, 40))
    model = MaskablePPO("MlpPolicy", env, gamma=-1.0)

Without an opponent one policy plays both sides: every step is one ply in every game, the
observation is what the side to move sees, and the reward is the mover's. The next state is
therefore the opponent's, and its value counts against the mover: an algorithm that learns here must
use gamma = -1, which turns the sign with every ply (negamax). That is also how the loser learns of
its loss: its last move gets reward 0 and -1 times the value of the winner's move that followed.

Against an opponent, played inside, every state is the learner's, and gamma is positive as usual.

This is the only module of boardenvs that needs stable-baselines3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from boardenvs.agents import Agent
from boardenvs.envs.batch import Batch
from boardenvs.game.contract import Game
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.state import BoolArray, Int8Array, IntArray, State, take

# The infos of every game that goes on: one object, so that a step makes none.
_NO_INFO: dict[str, Any] = {}


class BoardVecEnv(VecEnv):
    """`num_envs` games of `game`: every step is a ply of whoever is to move or, with `opponent` (an
    agent or its specification), of the learner's `seat` and the opponent's reply.

    Observations are (B, 8, 8, C) int8 of 0 and 1, rewards (B,) float32: +1, 0 or -1 for the mover,
    or the learner, where its step ended the game, else 0. A game that ended is replaced within the
    step by a new one, and its `infos` row holds `terminal_observation`, `plies` (its length) and
    `truncated`.

    `env_method("action_masks")` returns a list of one (B, A) bool array: all boards at once.

    `seat`, `random_plies` and `starts` are those of `Batch`. Raises ValueError for arguments that
    make no sense, and IllegalActionError from a step with an illegal action.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        *,
        opponent: Agent | str | None = None,
        seat: str = "random",
        random_plies: tuple[int, int] = (0, 0),
        starts: State | None = None,
        seed: int | None = None,
    ) -> None:
        self.game = game
        self.batch = Batch(
            game,
            num_envs,
            opponent=opponent,
            seat=seat,
            random_plies=random_plies,
            starts=starts,
        )
        if seed is not None:
            self.batch.seed(seed)
        observation_space = spaces.Box(0, 1, game.observation_shape, np.int8)
        super().__init__(num_envs, observation_space, spaces.Discrete(game.num_actions))
        self.batch.restart()

    @property
    def state(self) -> State:
        """The positions on the boards; do not modify them."""
        return self.batch.state

    def action_masks(self) -> BoolArray:
        """The legal actions of every board, (B, A) bool."""
        return self.game.legal(self.batch.state)

    def reset(self) -> Int8Array:
        """New games everywhere; after `seed` they are determined by it."""
        if self._seeds[0] is not None:
            self.batch.seed([seed or 0 for seed in self._seeds])
        self._reset_seeds()
        self._reset_options()
        self.batch.restart()
        return self.game.observe(self.batch.state)

    def step_async(self, actions: IntArray) -> None:
        self._actions = np.asarray(actions)

    def step_wait(self) -> VecEnvStepReturn:
        game, batch = self.game, self.batch
        before = batch.state
        plies = batch.step(self._actions)
        if plies.illegal.any():
            batch.state = before  # refused as a whole
            self._raise_illegal(before, int(np.argmax(plies.illegal)))
        dones = plies.terminated | plies.truncated
        infos: list[dict[str, Any]] = [_NO_INFO] * self.num_envs
        ended = np.flatnonzero(dones)
        if ended.size:
            final = take(batch.state, ended)
            for row, info in zip(ended.tolist(), _final_infos(game, final), strict=True):
                infos[row] = info
            batch.restart(ended)
        return game.observe(batch.state), plies.rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        """Nothing to close."""

    def snapshot(self) -> dict[str, Any]:
        """All that the games to come depend on, as arrays and plain values; see `restore`."""
        return self.batch.snapshot()

    def restore(self, snapshot: dict[str, Any]) -> Int8Array:
        """Go on from a `snapshot` of an environment made alike; returns the observation."""
        self.batch.restore(snapshot)
        return self.game.observe(self.batch.state)

    # ---- the rest of SB3's interface, which thinks in lists of environments ----------------

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """The method's result for all boards at once, as the only element of a list."""
        result = getattr(self, method_name)(*args, **kwargs)
        return [result if indices is None else result[indices]]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        value = None if attr_name == "render_mode" else getattr(self, attr_name)
        return [value] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        raise AttributeError(f"{attr_name} cannot be set: the boards share all their attributes")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        return [False] * len(list(self._get_indices(indices)))

    def _raise_illegal(self, state: State, row: int) -> None:
        legal = np.flatnonzero(self.game.legal(take(state, slice(row, row + 1)))[0])
        raise IllegalActionError(
            f"action {self._actions[row]} is not legal on board {row}; legal: {legal.tolist()}. "
            "Pass the masks of env_method('action_masks') to the policy"
        )


def _final_infos(game: Game, final: State) -> list[dict[str, Any]]:
    """The infos of games that ended.

    A game that reached its cap on plies is paid out by its position like any other, and the
    observation counts the plies down to the cap: the cap is part of the game that is learnt. So
    "TimeLimit.truncated", on which SB3 adds the value of the game that would have followed, is
    left out, and the fact is told as "truncated".
    """
    columns = zip(
        game.observe(final), final.ply.tolist(), game.truncated(final).tolist(), strict=True
    )
    return [
        {"terminal_observation": observation, "plies": plies, "truncated": truncated}
        for observation, plies, truncated in columns
    ]
