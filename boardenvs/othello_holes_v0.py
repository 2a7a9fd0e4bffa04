"""Othello with holes as PettingZoo and Gymnasium environments.

Observations are int8 (8, 8, 3): the agent's discs, the opponent's, and the holes. Action 8 * (8-y)
+ (x-1) places a disc on file x and rank y, which counts from the top (0 is a8, 63 is h1); action 64
passes, which is legal only for a side without another move. The agent "red" has the white discs.

By default c3, c6, f3 and f6 are out of play (`holes`, a set of 64 bits): no disc goes there, and no
line of discs runs through them.

For training use `reward="zero_sum"` (+1, 0, -1 at the end, and -1 for an illegal action); `env`,
`raw_env` and `parallel_env` reward with the goal values 100, 50 and 0 unless told otherwise.

`boardenvs games othello_holes` prints the whole page of the game.

```python
from boardenvs import othello_holes_v0

env = othello_holes_v0.env(reward="zero_sum")
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    is_over = terminated or truncated
    env.step(None if is_over else env.action_space(agent).sample(observation["action_mask"]))
```
"""

from __future__ import annotations

from typing import Unpack

from boardenvs.envs import factory
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.vector import BoardVectorEnv
from boardenvs.othello_v0 import GameOptions, GameVectorOptions

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]


def env(**options: Unpack[GameOptions]) -> BoardAECEnv:
    """Make PettingZoo's turn-based environment; an illegal action loses the game."""
    return factory.env("othello_holes", **options)


def raw_env(**options: Unpack[GameOptions]) -> BoardAECEnv:
    """Make the same as `env`, but an illegal action raises IllegalActionError."""
    return factory.raw_env("othello_holes", **options)


def parallel_env(**options: Unpack[GameOptions]) -> BoardParallelEnv:
    """Make PettingZoo's parallel environment: both act, the side not to move says noop."""
    return factory.parallel_env("othello_holes", **options)


def vec_env(num_envs: int = 1, **options: Unpack[GameVectorOptions]) -> BoardVectorEnv:
    """Make Gymnasium's vector environment of many games; see `BoardVectorEnv` for the options."""
    return factory.vec_env("othello_holes", num_envs, **options)
