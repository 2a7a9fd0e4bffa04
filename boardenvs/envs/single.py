"""Gymnasium's single-agent environment, for every game: a seat against an opponent."""

from __future__ import annotations

from typing import Any, get_args

import gymnasium
import numpy as np
from gymnasium import spaces

from boardenvs.agents import agent_for
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.core import (
    Observation,
    RenderMode,
    ResetNeededError,
    Reward,
    observation_space,
)
from boardenvs.envs.groups import Opponent, check_seat, choose, draw_seat
from boardenvs.game.game import Game
from boardenvs.game.position import stack
from boardenvs.game.state import BoolArray


class BoardSingleEnv(gymnasium.Env[Observation, np.int64]):
    """The learner's plies are steps; the opponent's are played inside, the opening one by `reset`.

    `opponent` is whatever `BoardGroup` takes. `seat` is the learner's role, or "random" (drawn by
    `reset` from its seed) or "alternating". The observation is (8, 8, C) int8 and
    `info["action_mask"]` (A,) int8; `action_masks()` gives the mask to sb3-contrib. An illegal
    action loses the game: -1, and `info["illegal_action"]` is True. With `mask_in_observation` the
    observation is a dict of both, "observation" and "action_mask", as PettingZoo's environments
    have it.

    `reward="zero_sum"`, the default of Gymnasium's environments here, rewards the end of the game
    with +1, 0 or -1; "goal" with the goal values of the rule sheets, 100, 50 or 0.

    When the game is over nothing is legal, and the mask is all zeros. In Gymnasium's
    `SyncVectorEnv` and `AsyncVectorEnv` such a mask comes with the last observation, and the action
    of the next step, which begins the next game, is ignored: any number will do. In their SAME_STEP
    mode the mask belongs to the next game.

    Raises ValueError or TypeError for an opponent that is not an agent or cannot play the game, and
    ValueError for an unknown seat, reward or render mode.
    """

    metadata = {"render_modes": list(get_args(RenderMode)), "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        game: Game,
        *,
        opponent: Opponent = "random",
        seat: str = "random",
        reward: Reward = "zero_sum",
        mask_in_observation: bool = False,
        render_mode: RenderMode | None = None,
    ) -> None:
        check_seat(game, seat)
        self.board = BoardAECEnv(game, on_illegal="forfeit", reward=reward, render_mode=render_mode)
        self.opponent = agent_for(game, opponent)
        self.seat = seat
        self.render_mode = render_mode
        self.mask_in_observation = mask_in_observation
        self.observation_space = observation_space(game, mask_in_observation)
        self.action_space = spaces.Discrete(game.num_actions)
        self._games, self._role = 0, game.roles[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Return a new game, at `options["position"]` where given (see `boardenvs.game.fen`)."""
        self.board.reset(seed=seed, options=options)  # first: nothing changes where it refuses them
        if seed is not None:
            seed, self._games = int(seed), 0  # Gymnasium takes no NumPy's
        super().reset(seed=seed)
        game = self.board.game
        self._role = game.roles[draw_seat(game, self.seat, self._games, self.np_random)]
        self._games += 1
        self._reply()
        if self.board.is_over:
            raise ValueError("the opponent ends the game before the learner's first ply")
        return self._seen()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Return the learner's ply and the opponent's answer.

        Raises TypeError for what is not an integer, IllegalActionError for one out of range, and
        ResetNeededError before the first reset and after the game's end.
        """
        if self.board.is_over:
            raise ResetNeededError("the game is over: call reset() before the next step")
        if self.board.agent_selection != self._role:
            raise ResetNeededError("the opponent has not replied, after an error: call reset()")
        self.board.step(action)
        self._reply()
        observation, info = self._seen()
        board, role = self.board, self._role
        return (
            observation,
            board.rewards[role],
            board.terminations[role],
            board.truncations[role],
            info,
        )

    def action_masks(self) -> BoolArray:
        """Return the learner's legal actions, (A,) bool; ResetNeededError before `reset`."""
        return self.board.observe(self._role)["action_mask"].astype(np.bool_)

    def render(self) -> Any:
        """See `BoardEnv.render`."""
        return self.board.render()

    def close(self) -> None:
        """Close the window, if one is open."""
        self.board.close()

    def _reply(self) -> None:
        """The opponent's plies, while it is its turn."""
        board = self.board
        while board.agent_selection != self._role and not board.is_over:
            state = stack([board.position])
            board.step(choose(self.opponent, board.game, state, self.np_random)[0])

    def _seen(self) -> tuple[Observation, dict[str, Any]]:
        view = self.board.observe(self._role)
        info = {
            "action_mask": view["action_mask"],
            "seat": self._role,
            # Always there: what records steps, such as Minari, wants them to be alike.
            "illegal_action": "illegal_action" in self.board.infos[self._role],
        }
        return view if self.mask_in_observation else view["observation"], info
