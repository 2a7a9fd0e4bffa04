"""Lines of Action as PettingZoo and Gymnasium environments.

The first side whose pieces form one group wins. Observations are int8 (8, 8, 8): the agent's
pieces, the opponent's, and the number of steps left, in binary. Action 64 * d + s moves the piece
on square s (0 is a1, 63 is h8) in direction d (0 north, then clockwise), as far as the rules say;
action 512 is noop, legal only for a side without another move.

`rules="classic"` are those of the rule sheet, "described" those of a description of the game; after
`max_steps` steps the game ends.

For training use `reward="zero_sum"` (+1, 0, -1 at the end, and -1 for an illegal action); `env`,
`raw_env` and `parallel_env` reward with the goal values 100, 50 and 0 unless told otherwise.

`boardenvs games lines_of_action` prints the whole page of the game.

```python
from boardenvs import lines_of_action_v0

env = lines_of_action_v0.env(reward="zero_sum")
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
from boardenvs.games import LinesOfAction

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]


def env(
    *,
    rules: Literal["classic", "described"] = "classic",
    max_steps: int = 50,
    reward: Reward = "goal",
    render_mode: RenderMode | None = None,
) -> BoardAECEnv:
    """Make PettingZoo's turn-based environment; an illegal action loses the game."""
    game = LinesOfAction(rules=rules, max_steps=max_steps)
    return factory.env(game, reward=reward, render_mode=render_mode)


def raw_env(
    *,
    rules: Literal["classic", "described"] = "classic",
    max_steps: int = 50,
    reward: Reward = "goal",
    render_mode: RenderMode | None = None,
) -> BoardAECEnv:
    """Make the same as `env`, but an illegal action raises IllegalActionError."""
    game = LinesOfAction(rules=rules, max_steps=max_steps)
    return factory.raw_env(game, reward=reward, render_mode=render_mode)


def parallel_env(
    *,
    rules: Literal["classic", "described"] = "classic",
    max_steps: int = 50,
    reward: Reward = "goal",
    render_mode: RenderMode | None = None,
) -> BoardParallelEnv:
    """Make PettingZoo's parallel environment: both act, the side not to move says noop."""
    game = LinesOfAction(rules=rules, max_steps=max_steps)
    return factory.parallel_env(game, reward=reward, render_mode=render_mode)


def vec_env(
    num_envs: int = 1,
    *,
    rules: Literal["classic", "described"] = "classic",
    max_steps: int = 50,
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
        LinesOfAction(rules=rules, max_steps=max_steps),
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
