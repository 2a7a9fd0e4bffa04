"""The boards of a training: some where one policy plays both sides, some against opponents.

On a board without an opponent the next state is the other side's to move, and what is good for it
is bad for the mover: its value counts with the factor -1 (negamax). Against an opponent, whose
plies are played inside the step, the next state is the learner's own again: the factor is +1.
`discounts` has the factor of every board, and PPO learns from all boards at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from boardenvs.agents import Agent
from boardenvs.envs.batch import Batch, Plies
from boardenvs.game.contract import Game
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.state import BoolArray, FloatArray, Int8Array, IntArray, State, concat, take
from training.symmetry import BoardSymmetries

ZERO_SUM, SAME_SIDE = -1.0, 1.0  # the factor of the next state's value

# The infos of every board: nothing that SB3 asks for. In particular no "TimeLimit.truncated", on
# which it would add the value of a continuation: a cap on plies is part of the game that is learnt.
_NO_INFO: dict[str, Any] = {}


@dataclass(frozen=True)
class Group:
    """Boards of one kind: without an opponent one policy plays both sides, else the `seat`."""

    name: str  # in the figures
    boards: int
    opponent: Agent | None = None
    seat: str = "alternating"


@dataclass
class Ended:
    """What became of the games of a group that ended, added up."""

    games: int = 0
    plies: int = 0
    points: float = 0.0  # the learner's: 1 a win, 1/2 a draw; without an opponent the last mover's
    wiped_out: int = 0  # games after which a side had no piece left


class SelfPlayEnv(VecEnv):
    """All boards of a training as one VecEnv: a step is an action of the learner on every board.

    Observations are (B, 8, 8, C) int8 of 0 and 1, rewards (B,) float32: +1, 0 or -1 to the mover,
    or the learner, where the step ended the game, else 0. Games that ended are replaced at once.
    `env_method("action_masks")` returns a list of one (B, A) bool array. With `symmetries` each
    game is seen under one of the game's symmetries. A new game begins with one of `starts`, drawn
    uniformly, or by default after a number of random plies in the range `random_plies`.

    `threads` groups are played at a time; what happens in them does not depend on that, as long as
    opponents share nothing, such as NumPy's global generator. It pays where opponents search, in
    compiled code that leaves Python to the others.
    """

    def __init__(
        self,
        game: Game,
        groups: Sequence[Group],
        *,
        random_plies: tuple[int, int] = (0, 0),
        starts: State | None = None,
        symmetries: bool = False,
        threads: int = 1,
    ) -> None:
        self.game = game
        self.groups = list(groups)
        how: dict[str, Any] = {"random_plies": random_plies, "starts": starts}
        self.batches = [
            Batch(game, g.boards, opponent=g.opponent, seat=g.seat, **how) for g in groups
        ]
        ends = np.cumsum([g.boards for g in groups]).tolist()
        self.rows = [slice(end - g.boards, end) for g, end in zip(groups, ends, strict=True)]
        self.discounts: FloatArray = np.repeat(
            [ZERO_SUM if g.opponent is None else SAME_SIDE for g in groups],
            [g.boards for g in groups],
        )
        self.symmetries = BoardSymmetries(game, ends[-1]) if symmetries else None
        self._rng = np.random.default_rng()  # draws symmetries
        self._ended = [Ended() for _ in groups]
        self._workers = ThreadPoolExecutor(threads) if threads > 1 else None
        observation_space = spaces.Box(0, 1, game.observation_shape, np.int8)
        super().__init__(ends[-1], observation_space, spaces.Discrete(game.num_actions))

    def reset(self) -> Int8Array:
        """New games everywhere; after `seed` they are determined by it."""
        seeds = [seed for seed in self._seeds if seed is not None]
        if seeds:
            self._rng = np.random.default_rng([seeds[0], self.num_envs])
        for batch, rows in zip(self.batches, self.rows, strict=True):
            if seeds:
                batch.seed(seeds[rows])
            batch.restart()
        self._reset_seeds()
        self._reset_options()
        if self.symmetries:
            self.symmetries.draw(np.arange(self.num_envs), self._rng)
        return self._observe()

    def step_async(self, actions: IntArray) -> None:
        self._actions = np.asarray(actions)

    def step_wait(self) -> VecEnvStepReturn:
        actions = self.symmetries.meant(self._actions) if self.symmetries else self._actions
        rewards = np.empty(self.num_envs, np.float32)
        dones: BoolArray = np.empty(self.num_envs, np.bool_)
        for rows, plies in zip(self.rows, self._step_groups(actions), strict=True):
            rewards[rows], dones[rows] = plies.rewards, plies.terminated | plies.truncated
        if self.symmetries:
            self.symmetries.draw(np.flatnonzero(dones), self._rng)
        return self._observe(), rewards, dones, [_NO_INFO] * self.num_envs

    def _step_groups(self, actions: IntArray) -> list[Plies]:
        """One step of every group."""
        parts = [actions[rows] for rows in self.rows]
        todo = list(zip(self.batches, parts, self._ended, strict=True))
        if self._workers is None:
            return [_step(*group) for group in todo]
        steps = [self._workers.submit(_step, *group) for group in todo]
        try:
            return [step.result() for step in steps]
        finally:  # after an error too no thread goes on with a board
            for step in steps:
                step.cancel()
            wait(steps)

    def action_masks(self) -> BoolArray:
        """The legal actions of every board as the policy sees it, (B, A) bool."""
        return self._masks

    def take_ended(self) -> dict[str, Ended]:
        """What became of the games that ended since the last call, by the groups' names."""
        total = {g.name: Ended() for g in self.groups}
        for group, part in zip(self.groups, self._ended, strict=True):
            whole = total[group.name]
            whole.games += part.games
            whole.plies += part.plies
            whole.points += part.points
            whole.wiped_out += part.wiped_out
        self._ended = [Ended() for _ in self.groups]
        return total

    def close(self) -> None:
        """Let go of the threads."""
        if self._workers is not None:
            self._workers.shutdown()

    def snapshot(self) -> dict[str, Any]:
        """All that the games to come depend on but the opponents; see `restore`."""
        return {
            "batches": [batch.snapshot() for batch in self.batches],
            "symmetries": self.symmetries and self.symmetries.chosen.copy(),
            "rng": deepcopy(self._rng.bit_generator.state),
        }

    def restore(self, snapshot: dict[str, Any]) -> Int8Array:
        """Go on from a `snapshot` of an environment made alike; returns the observation."""
        for batch, state in zip(self.batches, snapshot["batches"], strict=True):
            batch.restore(state)
        if self.symmetries:
            self.symmetries.chosen = snapshot["symmetries"].copy()
        self._rng.bit_generator.state = snapshot["rng"]
        return self._observe()

    def _observe(self) -> Int8Array:
        state = concat([batch.state for batch in self.batches])
        if self.symmetries:
            state = self.symmetries.seen(state)
        self._masks = self.game.legal(state)
        return self.game.observe(state)

    # ---- the rest of SB3's interface, which thinks in lists of environments ----------------

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        return [getattr(self, method_name)(*args, **kwargs)]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        value = None if attr_name == "render_mode" else getattr(self, attr_name)
        return [value] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        raise AttributeError(f"{attr_name} cannot be set: the boards share all their attributes")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        return [False] * self.num_envs


def _step(batch: Batch, actions: IntArray, ended: Ended) -> Plies:
    """One step of a group, and new games for those that it ended."""
    plies = batch.step(actions)
    if plies.illegal.any():
        raise IllegalActionError("the learner chose an illegal action: it needs the masks")
    over = np.flatnonzero(plies.terminated | plies.truncated)
    if over.size:
        _add_up(ended, batch, over, plies.rewards[over])
        batch.restart(over)
    return plies


def _add_up(ended: Ended, batch: Batch, rows: IntArray, rewards: FloatArray) -> None:
    final = take(batch.state, rows)
    ended.games += len(rows)
    ended.plies += int(final.ply.sum())
    ended.points += float((rewards + 1).sum() / 2)
    ended.wiped_out += int(((final.own == 0) | (final.opp == 0)).sum())
