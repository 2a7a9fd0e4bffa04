"""Chess as PettingZoo and Gymnasium environments.

Observations are int8 (8, 8, 19): the agent's pieces, the opponent's, the pawns, knights, bishops,
rooks, queens and kings of both, the rooks that may castle, the square where a pawn can be taken en
passant, ones if black is to move, ones if the position has been there before, and the plies without
capture or pawn move, in binary. An action is 64 times the way of a move, plus the square it leaves
(0 is a1, 63 is h8); a pawn on the last rank becomes a queen, unless the way says otherwise; action
4672 is noop.

For training use `reward="zero_sum"` (+1, 0, -1 at the end, and -1 for an illegal action); `env`,
`raw_env` and `parallel_env` reward with the goal values 100, 50 and 0 unless told otherwise.

`boardenvs games chess` prints the whole page of the game.

```python
from boardenvs import chess_v0

env = chess_v0.env(reward="zero_sum")
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
    return factory.env("chess", **options)


def raw_env(**options: Unpack[Options]) -> BoardAECEnv:
    """Make the same as `env`, but an illegal action raises IllegalActionError."""
    return factory.raw_env("chess", **options)


def parallel_env(**options: Unpack[Options]) -> BoardParallelEnv:
    """Make PettingZoo's parallel environment: both act, the side not to move says noop."""
    return factory.parallel_env("chess", **options)


def vec_env(num_envs: int = 1, **options: Unpack[VectorOptions]) -> BoardVectorEnv:
    """Make Gymnasium's vector environment of many games; see `BoardVectorEnv` for the options."""
    return factory.vec_env("chess", num_envs, **options)
