"""Checkers (English draughts) as PettingZoo and Gymnasium environments.

A side that can capture must, and goes on with the same piece as long as that can: then it moves
several times in a row. Observations are int8 (8, 8, 11): the agent's pieces, the opponent's, all
kings, the piece that must go on, ones if black is to move, and the plies since a capture or a man's
move in binary, where the last plane shows 64 on the dark squares. Action 64 * d + s steps with the
piece on square s (0 is a1, 63 is h8) in direction d (0 north-west, 1 north-east, 2 south-east, 3
south-west), action 256 + 64 * d + s jumps; action 512 is noop.

For training use `reward="zero_sum"` (+1, 0, -1 at the end, and -1 for an illegal action); `env`,
`raw_env` and `parallel_env` reward with the goal values 100, 50 and 0 unless told otherwise.

`boardenvs games checkers` prints the whole page of the game.

```python
from boardenvs import checkers_v0

env = checkers_v0.env(reward="zero_sum")
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    is_over = terminated or truncated
    env.step(None if is_over else env.action_space(agent).sample(observation["action_mask"]))
```
"""

from __future__ import annotations

from typing import Literal, TypedDict, Unpack

from boardenvs.envs import factory
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.factory import Options, VectorOptions
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.vector import BoardVectorEnv

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]


class Rules(TypedDict, total=False):
    """The parameters of the rules, each with a default."""

    rules: Literal["american", "openspiel"]


class GameOptions(Rules, Options):
    """Those of the rules, and the options of an environment."""


class GameVectorOptions(Rules, VectorOptions):
    """Those of the rules, and the options of an environment of many games."""


def env(**options: Unpack[GameOptions]) -> BoardAECEnv:
    """Make PettingZoo's turn-based environment; an illegal action loses the game."""
    return factory.env("checkers", **options)


def raw_env(**options: Unpack[GameOptions]) -> BoardAECEnv:
    """Make the same as `env`, but an illegal action raises IllegalActionError."""
    return factory.raw_env("checkers", **options)


def parallel_env(**options: Unpack[GameOptions]) -> BoardParallelEnv:
    """Make PettingZoo's parallel environment: both act, the side not to move says noop."""
    return factory.parallel_env("checkers", **options)


def vec_env(num_envs: int = 1, **options: Unpack[GameVectorOptions]) -> BoardVectorEnv:
    """Make Gymnasium's vector environment of many games; see `BoardVectorEnv` for the options."""
    return factory.vec_env("checkers", num_envs, **options)
