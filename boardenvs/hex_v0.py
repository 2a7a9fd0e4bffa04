"""Hex on 11x11 cells as PettingZoo and Gymnasium environments.

Black connects ranks 1 and 11, white files a and k. Observations are int8 (11, 11, 3): the agent's
stones, the opponent's, and ones if white is to move. Action 11 * (y-1) + (x-1) places a stone on
file x and rank y (0 is a1, 120 is k11); action 121 is noop.

`size=5` makes it 5x5 cells, 2 to 16.

For training use `reward="zero_sum"` (+1, 0, -1 at the end, and -1 for an illegal action); `env`,
`raw_env` and `parallel_env` reward with the goal values 100, 50 and 0 unless told otherwise.

`boardenvs games hex` prints the whole page of the game.

```python
from boardenvs import hex_v0

env = hex_v0.env(reward="zero_sum")
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    is_over = terminated or truncated
    env.step(None if is_over else env.action_space(agent).sample(observation["action_mask"]))
```
"""

from __future__ import annotations

from typing import TypedDict, Unpack

from boardenvs.envs import factory
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.factory import Options, VectorOptions
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.vector import BoardVectorEnv

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]


class Rules(TypedDict, total=False):
    """The parameters of the rules, each with a default."""

    size: int


class GameOptions(Rules, Options):
    """Those of the rules, and the options of an environment."""


class GameVectorOptions(Rules, VectorOptions):
    """Those of the rules, and the options of an environment of many games."""


def env(**options: Unpack[GameOptions]) -> BoardAECEnv:
    """Make PettingZoo's turn-based environment; an illegal action loses the game."""
    return factory.env("hex", **options)


def raw_env(**options: Unpack[GameOptions]) -> BoardAECEnv:
    """Make the same as `env`, but an illegal action raises IllegalActionError."""
    return factory.raw_env("hex", **options)


def parallel_env(**options: Unpack[GameOptions]) -> BoardParallelEnv:
    """Make PettingZoo's parallel environment: both act, the side not to move says noop."""
    return factory.parallel_env("hex", **options)


def vec_env(num_envs: int = 1, **options: Unpack[GameVectorOptions]) -> BoardVectorEnv:
    """Make Gymnasium's vector environment of many games; see `BoardVectorEnv` for the options."""
    return factory.vec_env("hex", num_envs, **options)
