"""Connect Four as PettingZoo and Gymnasium environments.

Observations are int8 (6, 7, 2): the agent's discs and the opponent's. Action x drops a disc into
file x, 0 to 6 from the left; action 7 is noop.

`rows=7, columns=9, connect=5` make it a board of 7x9 on which five in a line win.

For training use `reward="zero_sum"` (+1, 0, -1 at the end, and -1 for an illegal action); `env`,
`raw_env` and `parallel_env` reward with the goal values 100, 50 and 0 unless told otherwise.

`boardenvs games connect_four` prints the whole page of the game.

```python
from boardenvs import connect_four_v0

env = connect_four_v0.env(reward="zero_sum")
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

    rows: int
    columns: int
    connect: int


class GameOptions(Rules, Options):
    """Those of the rules, and the options of an environment."""


class GameVectorOptions(Rules, VectorOptions):
    """Those of the rules, and the options of an environment of many games."""


def env(**options: Unpack[GameOptions]) -> BoardAECEnv:
    """Make PettingZoo's turn-based environment; an illegal action loses the game."""
    return factory.env("connect_four", **options)


def raw_env(**options: Unpack[GameOptions]) -> BoardAECEnv:
    """Make the same as `env`, but an illegal action raises IllegalActionError."""
    return factory.raw_env("connect_four", **options)


def parallel_env(**options: Unpack[GameOptions]) -> BoardParallelEnv:
    """Make PettingZoo's parallel environment: both act, the side not to move says noop."""
    return factory.parallel_env("connect_four", **options)


def vec_env(num_envs: int = 1, **options: Unpack[GameVectorOptions]) -> BoardVectorEnv:
    """Make Gymnasium's vector environment of many games; see `BoardVectorEnv` for the options."""
    return factory.vec_env("connect_four", num_envs, **options)
