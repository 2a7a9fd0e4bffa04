"""Gymnasium's vector environment, for every game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from boardenvs.envs.batch import Batch, BoardGroup, Stepping, StepResult
from boardenvs.envs.core import (
    FRAMES_PER_SECOND,
    Observation,
    Reward,
    VectorRenderMode,
    env_name,
    observation_space,
    reset_option,
)
from boardenvs.envs.groups import Opponent
from boardenvs.game.game import Game
from boardenvs.game.rules import DRAW
from boardenvs.game.state import BoolArray, FloatArray, Int8Array, IntArray
from boardenvs.utils.checks import check_name, quote


class BoardVectorEnv(VectorEnv[Observation, IntArray, Any]):
    """`num_envs` games at once. Observations are (B, 8, 8, C) int8, actions (B,) integers.

    Without an `opponent` every step is one ply of whoever is to move, and the reward is the
    mover's. With one (whatever `BoardGroup` takes) every step is a ply of the learner's `seat` (a
    role, "random" for each game or "alternating") and the opponent's reply, and the reward is the
    learner's; a learner without a move has noop to play, like everybody.

    `infos["action_mask"]` (B, A) int8 has 1 for the legal actions of the observation's side, none
    where the game is over: `action_space.sample(tuple(mask))` draws from them. `action_masks()` is
    the same as bool. `infos["to_move"]` (B,) int8 is that side as index of `game.roles`.
    `infos["discount"]` (B,) float64 is the factor with which a learner counts the value of that
    observation for the step before: -1 where the other side is to move now, else 1. An illegal
    action loses the game: -1. `infos["illegal_action"]` (B,) bool tells where.

    With `mask_in_observation` observations are dicts, {"observation": (B, 8, 8, C), "action_mask":
    (B, A)}, for libraries that look for masks there; `infos` has the same array.

    `reward="zero_sum"`, the default of Gymnasium's environments here, rewards the end of the game
    with +1, 0 or -1; "goal" with the goal values of the rule sheets, 100, 50 or 0.

    `autoreset_mode` is Gymnasium's: SAME_STEP (the default) puts the last observation and infos
    of a game that ended under "final_obs" and "final_info" and returns the next game's first;
    NEXT_STEP returns the last, and the next step ignores the row's action and starts its next
    game with reward 0; DISABLED waits for `reset(options={"reset_mask": mask})`. Gymnasium's vector
    wrappers that change observations, such as `FlattenObservation`, take the last two alone.

    All returned arrays are new and not written to later, except observations and action masks with
    `copy=False`: the next step or reset overwrites them, which saves a large batch the time to
    allocate memory.

    With `render_mode="rgb_array"`, `render` gives the pixels of each board, which Gymnasium's
    `wrappers.vector.RecordVideo` puts in a grid. It draws every board: keep `num_envs` small.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        *,
        opponent: Opponent | None = None,
        seat: str = "random",
        reward: Reward = "zero_sum",
        opening_plies: tuple[int, int] = (0, 0),
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        copy: bool = True,
        mask_in_observation: bool = False,
        render_mode: VectorRenderMode | None = None,
    ) -> None:
        check_name("reward", reward, get_args(Reward))
        if render_mode is not None:
            check_name("render_mode", render_mode, get_args(VectorRenderMode))
        self.game = game
        self.reward = reward
        modes = {each.value: each for each in AutoresetMode}
        mode: Any = getattr(autoreset_mode, "value", autoreset_mode)
        check_name("autoreset mode", mode, modes)
        self.autoreset_mode = modes[mode]
        self.batch = Batch(
            game,
            [BoardGroup(num_envs, opponent, seat)],
            opening_plies=opening_plies,
            stepping=Stepping("forfeit", self.autoreset_mode, copy, totals=False),
        )
        self.num_envs = num_envs = self.batch.size
        self.render_mode = render_mode
        self.metadata = {
            "name": env_name(game),
            "autoreset_mode": self.autoreset_mode,
            "render_modes": list(get_args(VectorRenderMode)),
            "render_fps": FRAMES_PER_SECOND,
        }
        self.mask_in_observation = mask_in_observation
        self.single_observation_space = observation_space(game, mask_in_observation)
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._begun = False

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin new games in all rows, or in the rows of `options["reset_mask"]`, (B,) bool.

        `seed` is one for each row, or one for the first row, the next one for the second and so
        on; see `Batch.seed`. Raises TypeError or ValueError for a wrong mask or seed.
        """
        mask, rows = reset_option(options, "reset_mask"), None
        if mask is not None:
            if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
                raise TypeError(f"reset_mask is {quote(mask)}: it must be a numpy array of bool")
            rows = np.flatnonzero(mask)
            if mask.shape != (self.num_envs,) or not rows.size:
                raise ValueError(
                    f"reset_mask has shape {mask.shape} and {rows.size} rows set: it must have "
                    f"shape ({self.num_envs},) and one or more"
                )
            if not self._begun:
                raise ResetNeeded("call reset() without a mask first")
        if seed is not None:
            self.batch.seed(seed)
        self._begun = True
        self.batch.restart(rows)
        return self._seen(np.zeros(self.num_envs, np.bool_))

    def step(
        self, actions: IntArray
    ) -> tuple[Observation, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """Play one action in each game; observations, rewards, terminations, truncations, infos."""
        batch = self.batch
        if not self._begun:
            raise ResetNeeded("call reset() before the first step")
        if self.autoreset_mode is AutoresetMode.DISABLED and batch.waiting.any():
            raise ResetNeeded(
                f"{batch.waiting.sum()} games are over: reset them with "
                'reset(options={"reset_mask": terminated | truncated})'
            )
        result = batch.step(actions)
        observations, infos = self._seen(result.illegal)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and result.ended.size:
            infos |= self._final(result)
        rewards = self._goals(result) if self.reward == "goal" else result.rewards
        return observations, rewards, result.terminated, result.truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """Return the pixels of each game, B arrays (H, W, 3) uint8, or texts for "ansi"; None where
        no render_mode was given. ResetNeeded before the first reset.
        """
        from boardenvs import render

        if self.render_mode is None:
            return None
        if not self._begun:
            raise ResetNeeded("call reset() before the first picture")
        if self.render_mode == "rgb_array":
            return tuple(self.batch.pictures())
        return tuple(render.to_ansi(self.game, x) for x in self.game.positions(self.batch.state))

    def action_masks(self) -> BoolArray:
        """Return the legal actions of every game, (B, A) bool; see `infos["action_mask"]`.
        ResetNeeded before the first reset.
        """
        if not self._begun:
            raise ResetNeeded("call reset() before action_masks()")
        return self.batch.observe()[1]

    def _seen(self, illegal: BoolArray) -> tuple[Observation, dict[str, Any]]:
        """Observations and infos of the positions on the boards; where actions were illegal."""
        planes, mask = self.batch.observe()
        infos = {
            "action_mask": mask.view(np.int8),
            "to_move": self.batch.state.to_move.copy(),
            "discount": self.batch.discounts.copy(),
            "illegal_action": illegal,
        }
        observation = self._observation(planes, infos["action_mask"])
        return observation, _of_rows(infos, np.ones(self.num_envs, np.bool_))

    def _observation(self, planes: Int8Array, mask: Int8Array) -> Observation:
        return {"observation": planes, "action_mask": mask} if self.mask_in_observation else planes

    def _goals(self, result: StepResult) -> FloatArray:
        """Return the rewards as goal values, except those of illegal actions."""
        rewards = result.rewards
        paid = result.ended[~result.illegal[result.ended]]
        rewards[paid] = DRAW + DRAW * rewards[paid]
        return rewards

    def _final(self, result: StepResult) -> dict[str, Any]:
        """Return the infos of games that ended in this step, as Gymnasium's SAME_STEP lays them
        out.
        """
        rows, last = result.ended, result.final
        over = result.terminated | result.truncated
        last_seen: Iterable[Any] = self.game.observe(self.batch.seen_at_the_end(result))
        if self.mask_in_observation:
            nothing = np.zeros((len(rows), self.game.num_actions), np.int8)  # is legal any more
            last_seen = map(self._observation, last_seen, nothing)
        observations = np.empty(self.num_envs, object)  # of None
        observations[rows] = np.fromiter(last_seen, object, len(rows))
        info: dict[str, Any] = {"illegal_action": result.illegal}
        for name, values in (("plies", last.ply), ("to_move", last.to_move)):
            info[name] = np.zeros(self.num_envs, values.dtype)
            info[name][rows] = values
        info = _of_rows(info, over)
        return _of_rows({"final_obs": observations, "final_info": info}, over)


def _of_rows(infos: dict[str, Any], rows: BoolArray) -> dict[str, Any]:
    """Infos as Gymnasium has them: beside each one the rows (B,) that it is known of."""
    return infos | dict.fromkeys(map("_{}".format, infos), rows)
