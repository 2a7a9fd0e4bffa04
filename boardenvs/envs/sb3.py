"""Self-play for Stable-Baselines3: many games at once, as one native VecEnv.

    env = SelfPlayVecEnv(boardenvs.games.make("othello"), num_envs=512, random_plies=(0, 40))
    model = MaskablePPO("MlpPolicy", env, gamma=-1.0)

One policy plays both sides: every step is one ply in every game, the observation is what the side
to move sees, and the reward is the mover's. The next state is therefore the opponent's, and its
value counts against the mover: an algorithm that learns here must use gamma = -1, which turns the
sign with every ply (negamax). That is also how the loser learns of its loss: its last move gets
reward 0 and -1 times the value of the winner's move that followed.

This is the only module of boardenvs that needs stable-baselines3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from boardenvs.errors import IllegalActionError
from boardenvs.game import Game
from boardenvs.openings import random_openings
from boardenvs.state import BoolArray, Int8Array, IntArray, State, take

# Openings are drawn this many at a time: a batch large enough to be cheap a game.
_POOL = 4096


class SelfPlayVecEnv(VecEnv):
    """`num_envs` games of `game`, each played by one policy on both sides.

    Observations are (B, 8, 8, C) int8 of 0 and 1, rewards (B,) float32: +1, 0 or -1 for the mover
    whose ply ended the game, else 0. A game that ended is replaced within the step by a new one,
    and its `infos` row holds `terminal_observation`, `plies` (its length) and `truncated`.

    `env_method("action_masks")` returns a list of one (B, A) bool array: all boards at once.

    New games start after a number of uniformly random plies drawn from `random_plies` (low, high),
    or, where `starts` is given, from one of its rows, drawn uniformly.

    Raises ValueError for sizes that make no sense and starts that are over, and
    IllegalActionError from a step with an illegal action.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        *,
        random_plies: tuple[int, int] = (0, 0),
        starts: State | None = None,
        seed: int | None = None,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs is {num_envs}: it must be 1 or more")
        if starts is not None and (not len(starts.ply) or _over(game, starts).any()):
            raise ValueError("starts must hold one or more positions in which the game is not over")
        self.game = game
        self.random_plies = random_plies
        self._starts = starts
        self._rng = np.random.default_rng(seed)
        self._pool = game.init(0)
        observation_space = spaces.Box(0, 1, game.observation_shape, np.int8)
        super().__init__(num_envs, observation_space, spaces.Discrete(game.num_actions))
        self._state = self._new_games(num_envs)

    @property
    def state(self) -> State:
        """The positions on the boards; do not modify them."""
        return self._state

    def action_masks(self) -> BoolArray:
        """The legal actions of every board, (B, A) bool."""
        return self.game.legal(self._state)

    def reset(self) -> Int8Array:
        """New games everywhere; after `seed` they are determined by it."""
        if self._seeds[0] is not None:
            self._rng = np.random.default_rng(self._seeds[0])
            self._pool = self.game.init(0)
        self._reset_seeds()
        self._reset_options()
        self._state = self._new_games(self.num_envs)
        return self.game.observe(self._state)

    def step_async(self, actions: IntArray) -> None:
        self._actions = np.asarray(actions)

    def step_wait(self) -> VecEnvStepReturn:
        game = self.game
        self._check_legal(self._actions)
        state = game.step(self._state, self._actions)
        dones = _over(game, state)
        rewards = np.zeros(self.num_envs, np.float32)
        infos: list[dict[str, Any]] = [{}] * self.num_envs
        ended = np.flatnonzero(dones)
        if ended.size:
            final = take(state, ended)
            # The turn has passed to the opponent, whose lead is the mover's lag.
            rewards[ended] = -np.sign(game.lead(final))
            for row, info in zip(ended.tolist(), _final_infos(game, final), strict=True):
                infos[row] = info
            for array, new in zip(state, self._new_games(ended.size), strict=True):
                array[ended] = new
        self._state = state
        return game.observe(state), rewards, dones, infos

    def close(self) -> None:
        """Nothing to close."""

    def snapshot(self) -> dict[str, Any]:
        """All that the games to come depend on, as arrays and plain values; see `restore`."""
        return {
            "state": tuple(self._state),
            "pool": tuple(self._pool),
            "rng": self._rng.bit_generator.state,
        }

    def restore(self, snapshot: dict[str, Any]) -> Int8Array:
        """Go on from a `snapshot` of an environment made alike; returns the observation."""
        self._state = State(*snapshot["state"])
        self._pool = State(*snapshot["pool"])
        self._rng.bit_generator.state = snapshot["rng"]
        return self.game.observe(self._state)

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

    # ---- inside ----------------------------------------------------------------------------

    def _new_games(self, count: int) -> State:
        """`count` starting positions, from a pool so that their cost is shared."""
        if self._starts is not None:
            return take(self._starts, self._rng.integers(len(self._starts.ply), size=count))
        if self.random_plies == (0, 0):
            return self.game.init(count)
        if len(self._pool.ply) < count:
            size = max(_POOL, count)
            self._pool = random_openings(self.game, size, self.random_plies, self._rng)
        drawn = take(self._pool, slice(count))
        self._pool = take(self._pool, slice(count, None))
        return drawn

    def _check_legal(self, actions: IntArray) -> None:
        legal = self.game.is_legal(self._state, actions)
        if not legal.all():
            row = int(np.argmin(legal))
            names = np.flatnonzero(self.game.legal(take(self._state, slice(row, row + 1)))[0])
            raise IllegalActionError(
                f"action {actions[row]} is not legal on board {row}; legal: {names.tolist()}. "
                "Pass the masks of env_method('action_masks') to the policy"
            )


def _over(game: Game, state: State) -> BoolArray:
    return state.terminated | game.truncated(state)


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


__all__: Sequence[str] = ["SelfPlayVecEnv"]
