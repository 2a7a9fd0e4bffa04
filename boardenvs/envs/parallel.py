"""PettingZoo's parallel environment, for every game: the rule sheets' own form of joint moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pettingzoo import ParallelEnv

from boardenvs.envs.core import BoardEnv, RenderMode, ResetNeededError, Reward
from boardenvs.game.game import Game
from boardenvs.kernel.wide import split
from boardenvs.utils.checks import check_name, quote


class BoardParallelEnv(BoardEnv, ParallelEnv):
    """Both agents act in every step; the one not to move has one legal action, noop. Rewards: see
    `BoardEnv`.

    An illegal action ends the game: the offender gets -1, the other agent the reward of a win (-1
    too if it offended as well).
    """

    def __init__(
        self,
        game: Game,
        *,
        reward: Reward = "goal",
        render_mode: RenderMode | None = None,
    ) -> None:
        super().__init__(game, reward=reward, render_mode=render_mode)
        self.metadata["is_parallelizable"] = True
        self._only_noop = split(1 << game.noop, game.legal_words)

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a game, at `options["position"]` where given; observations and infos by agent.

        Nothing in the games is random: the seed changes nothing.
        """
        self._start(seed, options)
        self.agents = list(self.possible_agents)
        if self.render_mode == "human":
            self.render()
        return self._observations(live=True), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[
        dict[str, Any],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Play one action of each agent; observations, rewards, terminations, truncations, infos.

        Raises TypeError for what is not a dict, ValueError where an agent's action is missing, and
        otherwise what `BoardAECEnv.step` raises.
        """
        if not self.agents:
            raise ResetNeededError("the game is over and no agent is left: call reset()")
        chosen, position, names = self._chosen(actions), self._position, self.possible_agents
        mover, truncated = position.to_move, False
        offenders = [1 - mover] * (chosen[1 - mover] != self.game.noop)
        offenders += [mover] * (not position.is_legal(chosen[mover]))
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in names}
        for role in offenders:
            infos[names[role]]["illegal_action"] = chosen[role]
        if not offenders:
            self.last_position, self.last_action = position, chosen[mover]
            self._position = position.step(self.last_action)
            truncated = self._position.is_truncated()
        terminated = bool(offenders) or self._position.terminated
        over = terminated or truncated
        if self.render_mode == "human":
            self.render()
        if over:
            self.agents = []
        return (
            self._observations(live=not over),
            dict(zip(names, self._rewards(*offenders) if over else (0.0, 0.0), strict=True)),
            dict.fromkeys(names, terminated),
            dict.fromkeys(names, truncated),
            infos,
        )

    def _chosen(self, actions: Mapping[str, Any]) -> list[int]:
        """Return the actions by role; an error where one is missing or out of range."""
        if not isinstance(actions, Mapping):
            raise TypeError(
                f"actions are {quote(actions)}: they must be a dict, one action an agent"
            )
        for agent in actions:
            check_name("agent", agent, self.possible_agents)
        missing = [agent for agent in self.agents if agent not in actions]
        if missing:
            raise ValueError(f"no action for {' and '.join(missing)}: each agent acts in each step")
        return [self._checked(actions[agent]) for agent in self.possible_agents]

    def _observations(self, *, live: bool) -> dict[str, Any]:
        legal = [self._only_noop if live else (0,) * len(self._only_noop)] * 2
        if live:
            legal[self._position.to_move] = self._position.legal_bits
        views = map(self._observation, (0, 1), legal)
        return dict(zip(self.possible_agents, views, strict=True))
