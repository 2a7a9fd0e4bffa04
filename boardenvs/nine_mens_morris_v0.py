"""Nine Men's Morris as PettingZoo and Gymnasium environments.

Observations are int8 (7, 7, 19): the agent's men and the opponent's, then in binary the men that
each has in hand, whether a man is to be removed, and the turns. Action 7 * (y-1) + (x-1) places or
removes a man on file x and rank y (0 is a1, 48 is g7); action 49 * (p+1) + s moves the man on
square s to the point p, counted from a1; action 1225 is noop. A side that closes a line moves
again, and removes a man.

For training use `reward="zero_sum"` (+1, 0, -1 at the end, and -1 for an illegal action); `env`,
`raw_env` and `parallel_env` reward with the goal values 100, 50 and 0 unless told otherwise.

`boardenvs games nine_mens_morris` prints the whole page of the game.

```python
from boardenvs import nine_mens_morris_v0

env = nine_mens_morris_v0.env(reward="zero_sum")
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
from boardenvs.envs.factory import Options, VectorOptions
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.vector import BoardVectorEnv

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]


def env(**options: Unpack[Options]) -> BoardAECEnv:
    """Make PettingZoo's turn-based environment; an illegal action loses the game."""
    return factory.env("nine_mens_morris", **options)


def raw_env(**options: Unpack[Options]) -> BoardAECEnv:
    """Make the same as `env`, but an illegal action raises IllegalActionError."""
    return factory.raw_env("nine_mens_morris", **options)


def parallel_env(**options: Unpack[Options]) -> BoardParallelEnv:
    """Make PettingZoo's parallel environment: both act, the side not to move says noop."""
    return factory.parallel_env("nine_mens_morris", **options)


def vec_env(num_envs: int = 1, **options: Unpack[VectorOptions]) -> BoardVectorEnv:
    """Make Gymnasium's vector environment of many games; see `BoardVectorEnv` for the options."""
    return factory.vec_env("nine_mens_morris", num_envs, **options)
