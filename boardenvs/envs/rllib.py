"""Games as RLlib's own env runners and modules take them, with the mask in the observation.

    config.environment(MaskedVectorEnv, env_config={"game": "othello", "opponent": "greedy"})
    config.env_runners(
        num_envs_per_env_runner=64, gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT
    )

RLlib gives no infos to a network, and its default networks take one row of floats:
{"observations": (C * 64,), "action_mask": (A,)}, both float32, are what its
`ActionMaskingTorchRLModule` expects. Rows have the planes one after the other, as a
`boardenvs.agents.policy.Policy` takes them. The environment needs no Ray, which
`pip install 'boardenvs[rllib]'` installs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorWrapper
from gymnasium.vector.utils import batch_space

from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_network import Layer, fully_connected
from boardenvs.envs.factory import vec_env
from boardenvs.envs.groups import Opponent
from boardenvs.game.game import Game
from boardenvs.game.state import Array

# An observation of one board or of many, by RLlib's names.
OBSERVATIONS, ACTION_MASK = "observations", "action_mask"
Masked = dict[str, Array]


def masked_space(game: Game) -> spaces.Dict:
    """Return the space of one board's observations with their mask."""
    sizes = {OBSERVATIONS: int(np.prod(game.observation_shape)), ACTION_MASK: game.num_actions}
    return spaces.Dict({name: spaces.Box(0, 1, (n,), np.float32) for name, n in sizes.items()})


def masked(planes: Array, mask: Array) -> Masked:
    """Return observations (..., R, F, C) and masks (..., A) as RLlib's networks take them."""
    rows = np.moveaxis(planes, -1, -3).reshape(*planes.shape[:-3], -1)
    return {OBSERVATIONS: rows.astype(np.float32), ACTION_MASK: mask.astype(np.float32)}


class MaskedVectorEnv(VectorWrapper):
    """`boardenvs.vec_env` with the masks in the observations, and empty infos.

    `config` is RLlib's `env_config`: "game" (a text, or a Game) and options of `vec_env` by name;
    RLlib adds "num_envs". The opponent is "random" by default; `set_opponent` replaces it. With
    None one network plays both sides, and RLlib's own PPO gets the signs of their returns wrong.
    TypeError for an unknown setting.

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
        rows = masked(observations, infos["action_mask"])
        rows[ACTION_MASK][~infos["action_mask"].any(axis=1), self.game.noop] = 1
        return rows


def set_opponent(algorithm: Any, opponent: Opponent) -> None:
    """Let it play on the boards of all env runners of an algorithm on `MaskedVectorEnv`."""

    def place(runner: Any) -> None:
        if runner.env is not None:
            runner.env.unwrapped.batch.set_opponents("boards", [opponent])

    algorithm.env_runner_group.foreach_env_runner(place)


def policy_from_rllib(
    weights: Mapping[str, Array], game: Game, notes: Mapping[str, Any] | None = None
) -> Policy:
    """Return a copy of what a module has learnt; it plays without Ray and torch.

    `weights` are those of `algorithm.learner_group.get_weights()["default_policy"]` or
    `module.get_state()`, of RLlib's `ActionMaskingTorchRLModule` with the settings
    "fcnet_activation": "relu" and "vf_share_layers": True.
    """

    def layers(part: str) -> list[Layer]:
        names = [name for name in weights if name.startswith(part) and name.endswith("weight")]
        return [(weights[x].T.copy(), weights[x.replace("weight", "bias")]) for x in names]

    network = fully_connected([*layers("encoder."), *layers("pi."), *layers("vf.")])
    return Policy(game, network, notes or {})
