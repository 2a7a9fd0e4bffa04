"""PettingZoo's parallel environment, for every game: the rule sheets' own form of joint moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pettingzoo import ParallelEnv

from boardenvs.envs.core import BoardEnv, RenderMode, ResetNeededError, Reward
from boardenvs.game.contract import Game
from boardenvs.kernel.wide import split
from boardenvs.utils.checks import quote, unknown


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
        chosen = self._chosen(actions)
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        offenders = [role for role, action in enumerate(chosen) if not self._is_legal(role, action)]
        rewards, terminated, truncated = (0.0, 0.0), False, False
        if offenders:
            for role in offenders:
                infos[self.possible_agents[role]]["illegal_action"] = chosen[role]
            rewards, terminated = self._forfeit_rewards(offenders), True
        else:
            self.last_position = self._position
            self.last_action = chosen[self._position.to_move]
            self._position = self._position.step(self.last_action)
            terminated = self._position.terminated
            truncated = self._position.is_truncated()
            if terminated or truncated:
                rewards = self._final_rewards()
        if self.render_mode == "human":
            self.render()
        if terminated or truncated:
            self.agents = []
        names = self.possible_agents
        return (
            self._observations(live=not (terminated or truncated)),
            dict(zip(names, rewards, strict=True)),
            dict.fromkeys(names, terminated),
            dict.fromkeys(names, truncated),
            infos,
        )

    def _chosen(self, actions: Mapping[str, Any]) -> list[int]:
        """The actions by role; an error where one is missing or out of range."""
        if not isinstance(actions, Mapping):
            raise TypeError(
                f"actions are {quote(actions)}: they must be a dict, one action an agent"
            )
        for agent in actions:
            if agent not in self.possible_agents:
                raise ValueError(unknown("agent", agent, self.possible_agents))
        missing = [agent for agent in self.agents if agent not in actions]
        if missing:
            raise ValueError(f"no action for {' and '.join(missing)}: each agent acts in each step")
        return [self._checked(actions[agent]) for agent in self.possible_agents]

    def _legal_bits(self, role: int) -> tuple[int, ...]:
        return self._position.legal_bits if role == self._position.to_move else self._only_noop

    def _is_legal(self, role: int, action: int) -> bool:
        if role == self._position.to_move:
            return self._position.is_legal(action)
        return action == self.game.noop

    def _observations(self, *, live: bool) -> dict[str, Any]:
        nothing = (0,) * len(self._only_noop)
        return {
            agent: self._observation(role, self._legal_bits(role) if live else nothing)
            for role, agent in enumerate(self.possible_agents)
        }
