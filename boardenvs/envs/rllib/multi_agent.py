"""One game between two agents as RLlib takes it, for its own examples of self-play and leagues.

RLlib's league makes a network of each earlier self, plays both sides ply by ply, and learns from
the plies of one of them. That is the slow way: training/rllib/README.md has figures. Take it to
follow RLlib's examples, or for algorithms that need two agents; `boardenvs.envs.rllib.ppo` is the
fast one.

    config.environment(BoardMultiAgentEnv, env_config={"game": "othello"})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ray.rllib.env.multi_agent_env import MultiAgentEnv

from boardenvs.envs.factory import env
from boardenvs.envs.rllib.vector import ACTION_MASK, OBSERVATIONS, masked_space


class BoardMultiAgentEnv(MultiAgentEnv):
    """A game of "game" in RLlib's `env_config`: a text, or a Game.

    Agents are 0 and 1, the indices of `game.roles`, as RLlib's examples have them; the one to move
    alone observes and acts. Observations are those of `boardenvs.envs.rllib.vector`. At the end
    both are rewarded, with +1, 0 or -1; an illegal action loses the game. TypeError for an unknown
    setting.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._env = env(**{"reward": "zero_sum", **(config or {})})
        game = self._env.game
        self.possible_agents = [0, 1]
        self.agents = [0, 1]
        self.observation_spaces = dict.fromkeys(self.agents, masked_space(game))
        spaces = self._env.action_spaces
        self.action_spaces = {agent: spaces[game.roles[agent]] for agent in self.agents}

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[int, Any], dict[int, Any]]:
        """Start a game, at `options["position"]` where given."""
        self._env.reset(seed=seed, options=options)
        return self._observed(), {}

    def step(
        self, actions: Mapping[int, Any]
    ) -> tuple[dict[int, Any], dict[int, float], dict[Any, bool], dict[Any, bool], dict[int, Any]]:
        """Play the action of the agent to move."""
        board = self._env
        board.step(actions[board.position.to_move])
        if not board.is_over:
            return self._observed(), {0: 0.0, 1: 0.0}, {"__all__": False}, {"__all__": False}, {}
        roles = board.game.roles
        rewards = {agent: board.rewards[roles[agent]] for agent in self.agents}
        terminated = any(board.terminations.values())
        ends = [dict.fromkeys([0, 1, "__all__"], over) for over in (terminated, not terminated)]
        return {}, rewards, ends[0], ends[1], {}

    def render(self) -> Any:
        return self._env.render()

    def _observed(self) -> dict[int, Any]:
        """What the agent to move sees."""
        mover = self._env.position.to_move
        seen = self._env.observe(self._env.game.roles[mover])
        return {mover: {OBSERVATIONS: seen["observation"], ACTION_MASK: seen["action_mask"]}}
