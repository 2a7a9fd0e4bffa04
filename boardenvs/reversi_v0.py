"""Reversi as PettingZoo and Gymnasium environments.

The rules are those of Othello. Observations are int8 (8, 8, 2): the agent's discs and the
opponent's. Action 8 * (y-1) + (x-1) places a disc on file x and the y-th row from the bottom (0 is
a8, 63 is h1: row 1 is at the top); action 64 passes, which is legal only for a side without another
move. The agent "red" has the white discs.

For training use `reward="zero_sum"` (+1, 0, -1 at the end, and -1 for an illegal action); `env`,
`raw_env` and `parallel_env` reward with the goal values 100, 50 and 0 unless told otherwise.

`boardenvs games reversi` prints the whole page of the game.

```python
from boardenvs import reversi_v0

env = reversi_v0.env(reward="zero_sum")
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    is_over = terminated or truncated
    env.step(None if is_over else env.action_space(agent).sample(observation["action_mask"]))
```
"""

from __future__ import annotations

from typing import Literal

from gymnasium.vector import AutoresetMode

from boardenvs.envs import factory
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.core import RenderMode, Reward, VectorRenderMode
from boardenvs.envs.groups import Opponent
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.vector import BoardVectorEnv
from boardenvs.games import Othello

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]


def env(
    *,
    holes: int = 0,
    empties: Literal["nobody", "winner"] = "nobody",
    reward: Reward = "goal",
    render_mode: RenderMode | None = None,
) -> BoardAECEnv:
    """Make PettingZoo's turn-based environment; an illegal action loses the game."""
    game = Othello("reversi", holes, empties)
    return factory.env(game, reward=reward, render_mode=render_mode)


def raw_env(
    *,
    holes: int = 0,
    empties: Literal["nobody", "winner"] = "nobody",
    reward: Reward = "goal",
    render_mode: RenderMode | None = None,
) -> BoardAECEnv:
    """Make the same as `env`, but an illegal action raises IllegalActionError."""
    game = Othello("reversi", holes, empties)
    return factory.raw_env(game, reward=reward, render_mode=render_mode)


def parallel_env(
    *,
    holes: int = 0,
    empties: Literal["nobody", "winner"] = "nobody",
    reward: Reward = "goal",
    render_mode: RenderMode | None = None,
) -> BoardParallelEnv:
    """Make PettingZoo's parallel environment: both act, the side not to move says noop."""
    game = Othello("reversi", holes, empties)
    return factory.parallel_env(game, reward=reward, render_mode=render_mode)


def vec_env(
    num_envs: int = 1,
    *,
    holes: int = 0,
    empties: Literal["nobody", "winner"] = "nobody",
    opponent: Opponent | None = None,
    seat: str = "random",
    reward: Reward = "zero_sum",
    opening_plies: tuple[int, int] = (0, 0),
    autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
    copy: bool = True,
    mask_in_observation: bool = False,
    render_mode: VectorRenderMode | None = None,
) -> BoardVectorEnv:
    """Make Gymnasium's vector environment of many games; see `BoardVectorEnv` for the options."""
    return factory.vec_env(
        Othello("reversi", holes, empties),
        num_envs,
        opponent=opponent,
        seat=seat,
        reward=reward,
        opening_plies=opening_plies,
        autoreset_mode=autoreset_mode,
        copy=copy,
        mask_in_observation=mask_in_observation,
        render_mode=render_mode,
    )
