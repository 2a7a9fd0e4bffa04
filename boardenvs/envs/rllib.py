"""Games as RLlib's own env runners and modules take them, with the mask in the observation.

    config.environment(MaskedVectorEnv, env_config={"game": "othello", "opponent": "greedy"})
    config.env_runners(
        num_envs_per_env_runner=64, gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT
    )

RLlib gives no infos to a network, and its default networks take one row of floats:
{"observations": (C * 64,), "action_mask": (A,)}, both float32, are what its
`ActionMaskingTorchRLModule` expects. Rows have the planes one after the other, as a
`boardenvs.agents.policy.Policy` takes them. Of boardenvs only this module needs Ray
(`pip install 'boardenvs[rllib]'`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorWrapper
from gymnasium.vector.utils import batch_space

from boardenvs.utils.imports import extra

with extra("rllib"):
    from ray.rllib.env.multi_agent_env import MultiAgentEnv


from boardenvs.envs.factory import env, vec_env
from boardenvs.game.contract import Game
from boardenvs.game.state import Array

# An observation of one board or of many, by RLlib's names.
OBSERVATIONS, ACTION_MASK = "observations", "action_mask"
Masked = dict[str, Array]


def masked_space(game: Game) -> spaces.Dict:
    """Return the space of one board's observations with their mask."""
    sizes = {OBSERVATIONS: int(np.prod(game.observation_shape)), ACTION_MASK: game.num_actions}
    return spaces.Dict({name: spaces.Box(0, 1, (n,), np.float32) for name, n in sizes.items()})


def masked(planes: Array, mask: Array) -> Masked:
    """Observations (..., R, F, C) and masks (..., A), as RLlib's networks take them."""
    rows = np.moveaxis(planes, -1, -3).reshape(*planes.shape[:-3], -1)
    return {OBSERVATIONS: rows.astype(np.float32), ACTION_MASK: mask.astype(np.float32)}


class MaskedVectorEnv(VectorWrapper):
    """`boardenvs.vec_env` with the masks in the observations, and empty infos.

    `config` is RLlib's `env_config`: "game" (a text, or a Game) and options of `vec_env` by name;
    RLlib adds "num_envs". The opponent is "random" by default. With None one network plays both
    sides, and RLlib's own PPO gets the signs of their returns wrong: use `BoardMultiAgentEnv` for
    that. TypeError for an unknown setting.

    Games are replaced as Gymnasium's NEXT_STEP says, which RLlib's env runner relies on. If a game
    is over, the mask has noop alone, and the action is ignored.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        options = {"opponent": "random", **config}
        boards = vec_env(**options, autoreset_mode=AutoresetMode.NEXT_STEP)
        super().__init__(boards)
        self.game = boards.game
        self.single_observation_space = masked_space(self.game)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Masked, dict[str, Any]]:
        return self._masked(*self.env.reset(seed=seed, options=options)), {}

    def step(self, actions: Any) -> tuple[Masked, Array, Array, Array, dict[str, Any]]:
        observations, rewards, terminated, truncated, infos = self.env.step(np.asarray(actions))
        return self._masked(observations, infos), rewards, terminated, truncated, {}

    def _masked(self, observations: Any, infos: dict[str, Any]) -> Masked:
        found = masked(observations, infos["action_mask"])
        found[ACTION_MASK][~infos["action_mask"].any(axis=1), self.game.noop] = 1
        return found


class BoardMultiAgentEnv(MultiAgentEnv):
    """A game between two agents, by RLlib's names; "game" in `env_config` is a text, or a Game.

    Agents are 0 and 1, the indices of `game.roles`; only the one to move observes and acts. At the
    end both are rewarded, with +1, 0 or -1; an illegal action loses the game. TypeError for an
    unknown setting.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._env = env(**{"reward": "zero_sum", **(config or {})})
        self.possible_agents = self.agents = [0, 1]
        game = self._env.game
        self.observation_spaces = dict.fromkeys(self.agents, masked_space(game))
        self.action_spaces = dict.fromkeys(self.agents, spaces.Discrete(game.num_actions))

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[int, Masked], dict[int, Any]]:
        """Start a game, at `options["position"]` where given."""
        self._env.reset(seed=seed, options=options)
        return self._observed(), {}

    def step(
        self, actions: Mapping[int, Any]
    ) -> tuple[
        dict[int, Masked], dict[int, float], dict[Any, bool], dict[Any, bool], dict[int, Any]
    ]:
        """Play the action of the agent to move."""
        board, roles = self._env, self._env.game.roles
        board.step(actions[board.position.to_move])
        rewards = {agent: board.rewards[roles[agent]] for agent in self.agents}
        terminated, truncated = (
            dict.fromkeys([0, 1, "__all__"], any(ends.values()))
            for ends in (board.terminations, board.truncations)
        )
        return {} if board.is_over else self._observed(), rewards, terminated, truncated, {}

    def render(self) -> Any:
        return self._env.render()

    def _observed(self) -> dict[int, Masked]:
        mover = self._env.position.to_move
        seen = self._env.observe(self._env.game.roles[mover])
        return {mover: masked(seen["observation"], seen["action_mask"])}
