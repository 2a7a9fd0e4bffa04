"""Many games at once as one native VecEnv of Stable-Baselines3.

    env = BoardVecEnv(boardenvs.games.make("othello"), num_envs=512, opening_plies=(0, 40))
    model = SelfPlayPPO("MlpPolicy", env)

Without an opponent one policy plays both sides: every step is one ply in every game, the
observation is what the side to move sees, and the reward is the mover's. Where the next state is
the opponent's, its value counts against the mover (negamax). That is also how the loser learns of
its loss: its last move gets reward 0 and -1 times the value of the winner's move that followed.
Where the same side moves again, and against an opponent, who is played inside, the next state is
the learner's. `discounts` has these signs, and `SelfPlayPPO` of `sb3_ppo` takes them.

Boards of both kinds may stand side by side:

    groups = [BoardGroup(384), BoardGroup(64, "greedy"), BoardGroup(64, my_function, seat="black")]
    env = BoardVecEnv(boardenvs.games.make("othello"), groups=groups, symmetries=True)

The modules `sb3*` are the only ones of boardenvs that need stable-baselines3.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

import numpy as np
from gymnasium import spaces

from boardenvs.utils.imports import extra

with extra("train"):
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices


from boardenvs import games
from boardenvs.envs.batch import Batch, BatchOptions, BoardGroup, StepResult
from boardenvs.envs.core import FRAMES_PER_SECOND
from boardenvs.envs.groups import Opponent
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.game import Game
from boardenvs.game.state import Array, BoolArray, FloatArray, Int8Array, IntArray, State
from boardenvs.utils.checks import check_name, quote

# Observations, rewards (B,) float32, whether games ended, and infos.
Stepped: TypeAlias = tuple[Int8Array, Array, BoolArray, list[dict[str, Any]]]

_IN_PICTURES = 16  # boards
_READ_BY = 2  # steps, after which a warning comes

_UNREAD = (
    "nothing reads the `discounts` of this BoardVecEnv in self-play. They are the factors of the "
    "next states' values, -1 where the other side moves next: a learner that does not take them "
    "learns a wrong sign. boardenvs.envs.sb3_ppo.SelfPlayPPO takes them, after every step"
)
_UNMASKED = (
    ". A BoardVecEnv is for what asks for `action_masks()`: SelfPlayPPO, MaskablePPO and "
    "MaskableEvalCallback. For PPO, DQN or EvalCallback take gymnasium.make, where an illegal "
    "action loses the game"
)


class BoardVecEnv(VecEnv):
    """`num_envs` games of `game`: every step is a ply of whoever is to move or, with `opponent`, of
    the learner's `seat` and the opponent's reply. `groups` of boards, each with an opponent and a
    seat of its own or none, take the place of `num_envs`, `opponent` and `seat`.

    Observations are (B, 8, 8, C) int8 of 0 and 1, rewards (B,) float32: +1, 0 or -1 for the mover,
    or the learner, where its step ended the game, else 0. A game that ended is replaced within the
    step by a new one, and its `infos` row holds `terminal_observation`, `plies` (its length) and
    `truncated`; without `final_infos` it is as empty as all others, which saves the making.

    `env_method("action_masks")` returns a list of one (B, A) bool array: all boards at once.
    `discounts` (B,) is the factor of the next state's value on each board. In self-play a warning
    comes once if nothing reads it: `SelfPlayPPO` does.

    With `render_mode="rgb_array"`, `render` draws the first 16 boards in a grid, for SB3's
    `VecVideoRecorder`.

    See `BoardGroup` for `opponent` and `seat`, and `Batch` for `opening_plies`, `starts`,
    `symmetries`, `mover_view`, `threads` and `seed`. Raises ValueError or TypeError for arguments
    that make no sense, and IllegalActionError from a step with an illegal action, which then plays
    nothing.
    """

    metadata: dict[str, Any]

    def __init__(
        self,
        game: str | Game,
        num_envs: int | None = None,
        *,
        opponent: Opponent | None = None,
        seat: str = "random",
        groups: Sequence[BoardGroup] | None = None,
        final_infos: bool = True,
        render_mode: Literal["rgb_array"] | None = None,
        **options: Unpack[BatchOptions],
    ) -> None:
        if render_mode is not None:
            check_name("render_mode", render_mode, ["rgb_array"])
        if groups is None:
            if num_envs is None:
                raise ValueError("there are no boards: give num_envs or groups")
            groups = [BoardGroup(num_envs, opponent, seat)]
        elif num_envs is not None or opponent is not None:
            raise ValueError("groups have boards and opponents of their own: leave out the others")
        self.game = game = games.make(game)
        self.boards = Batch(game, groups, **options)
        self._final_infos = final_infos
        self._mask: BoolArray | None = None  # of what was last observed, until it is asked for
        # Steps since `discounts` were read; -inf if they need not be.
        self._unread: float = 0 if self.boards.self_play.any() else -math.inf
        self.render_mode = render_mode
        observation_space = spaces.Box(0, 1, game.observation_shape, np.int8)
        action_space = spaces.Discrete(game.num_actions)
        super().__init__(self.boards.size, observation_space, action_space)
        self.metadata["render_fps"] = FRAMES_PER_SECOND

    @property
    def state(self) -> State:
        """The positions on the boards; do not modify them."""
        return self.boards.state

    @property
    def discounts(self) -> FloatArray:
        """The factor of the next state's value on each board after the last step, (B,): -1 in
        self-play, unless the same side moves again, else 1.
        """
        # In games that alternate they never change: once is enough.
        self._unread = -math.inf if self.game.alternates else min(self._unread, 0)
        return self.boards.discounts

    def action_masks(self) -> BoolArray:
        """Return the legal actions of every board as the policy sees it, (B, A) bool."""
        mask, self._mask = self._mask, None
        return self.game.legal(self.boards.seen) if mask is None else mask

    def _observe(self) -> Int8Array:
        """Return the observation of the policy; also computes the masks, for `action_masks`."""
        observation, self._mask = self.boards.observe()
        return observation

    def reset(self) -> Int8Array:
        """New games everywhere; after `seed` they are determined by it."""
        seeds = [seed for seed in self._seeds if seed is not None]
        if seeds:
            self.boards.seed(seeds)
        self._reset_seeds()
        self.boards.restart()
        return self._observe()

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """ValueError for any options: there are none."""
        if options:
            raise ValueError(f"options are {quote(options)}: the games of a BoardVecEnv have none")

    def step_async(self, actions: IntArray) -> None:
        self._actions = actions

    if TYPE_CHECKING:
        # SB3's own says that observations may be dicts or tuples.
        def step(self, actions: IntArray) -> Stepped: ...

    def step_wait(self) -> Stepped:
        self._unread += 1
        if self._unread > _READ_BY:
            self._unread = -math.inf
            warnings.warn(_UNREAD, stacklevel=3)
        try:
            result = self.boards.step(self._actions)
        except IllegalActionError as error:
            if self.game.is_legal(self.boards.seen, self._actions).all():
                raise  # the opponent's action
            raise IllegalActionError(f"{error}{_UNMASKED}") from None
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if self._final_infos and result.ended.size:
            self._tell_the_end(result, infos)
        return (
            self._observe(),
            result.rewards.astype(np.float32),
            result.terminated | result.truncated,
            infos,
        )

    def _tell_the_end(self, result: StepResult, infos: list[dict[str, Any]]) -> None:
        """The infos of games that ended.

        A game that reached its cap on plies is rewarded by its position like any other, and the
        observation counts the plies to the cap: the cap is part of the game. So they have
        "truncated", but not "TimeLimit.truncated", for which SB3 would add the value of the last
        position.
        """
        columns = (
            result.ended.tolist(),
            self.game.observe(self.boards.seen_at_the_end(result)),
            result.final.ply.tolist(),
            result.truncated[result.ended].tolist(),
        )
        for row, observation, plies, truncated in zip(*columns, strict=True):
            infos[row] = {
                "terminal_observation": observation,
                "plies": plies,
                "truncated": truncated,
            }

    def get_images(self) -> list[Array]:
        """Return the pixels of the first boards; `render` puts them in a grid."""
        return self.boards.pictures(_IN_PICTURES)

    def close(self) -> None:
        """Let go of the threads."""
        self.boards.close()

    def snapshot(self) -> dict[str, Any]:
        """Return all that the games to come depend on but the opponents, as arrays and plain
        values; see `restore`.
        """
        return self.boards.snapshot()

    def restore(self, snapshot: dict[str, Any]) -> Int8Array:
        """Go on from a `snapshot` of an environment made alike; returns the observation."""
        self.boards.restore(snapshot)
        return self._observe()

    # ---- the rest of SB3's interface, which thinks in lists of environments ----------------

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """Return the method's result for all boards at once, as the only element of a list."""
        result = getattr(self, method_name)(*args, **kwargs)
        return [result if indices is None else result[indices]]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        raise AttributeError(f"{attr_name} cannot be set: the boards share all their attributes")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        return [False] * len(list(self._get_indices(indices)))
