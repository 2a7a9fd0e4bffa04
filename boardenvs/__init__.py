"""Two-player board games for reinforcement learning.

The public modules `othello_v0`, `othello_holes_v0`, `reversi_v0`, `wolf_and_sheep_v0` and
`lines_of_action_v0` make environments, and `env` and its sisters make them of any game, yours too.
`games.make` gives a game's rules, for one board and for batches; `make_agent` gives players,
`play_match` lets them meet, and `analyse` says what the moves of a position are worth.

What `__all__` lists here is for users and will stay; modules below are documented but may change.

```python
import boardenvs

env = boardenvs.othello_v0.env()
env.reset(seed=1)
observation, reward, terminated, truncated, info = env.last()
env.step(observation["action_mask"].argmax())  # the first legal action
```
"""

from typing import TYPE_CHECKING, Any

from boardenvs import (
    games,
    lines_of_action_v0,
    othello_holes_v0,
    othello_v0,
    reversi_v0,
    wolf_and_sheep_v0,
)
from boardenvs.agents import Agent, analyse, make_agent
from boardenvs.envs.core import ResetNeededError
from boardenvs.envs.factory import env, parallel_env, raw_env, vec_env
from boardenvs.envs.registration import register, register_game
from boardenvs.game.contract import Game, Position
from boardenvs.game.errors import IllegalActionError, PositionError
from boardenvs.game.perft import divide, perft
from boardenvs.game.state import State
from boardenvs.kernel import get_backend, get_num_threads, set_backend, set_num_threads
from boardenvs.search import Analysis
from boardenvs.utils.version import __version__ as __version__

if TYPE_CHECKING:
    from boardenvs.arena import MatchResult, play_match


def _draw(position: Position) -> str:
    # Imported when a notebook asks for a picture.
    from boardenvs.render import to_svg

    return to_svg(position.game, position, legal=True, unit=48)


register()
Game.drawer = staticmethod(_draw)

__all__ = [
    "Agent",
    "Analysis",
    "Game",
    "IllegalActionError",
    "MatchResult",
    "Position",
    "PositionError",
    "ResetNeededError",
    "State",
    "analyse",
    "divide",
    "env",
    "games",
    "get_backend",
    "get_num_threads",
    "lines_of_action_v0",
    "make_agent",
    "othello_holes_v0",
    "othello_v0",
    "parallel_env",
    "perft",
    "play_match",
    "raw_env",
    "register_game",
    "reversi_v0",
    "set_backend",
    "set_num_threads",
    "vec_env",
    "wolf_and_sheep_v0",
]


def __getattr__(name: str) -> Any:
    # The arena is imported when it is asked for: it would be a fifth of the time of the import.
    if name in ("MatchResult", "play_match"):
        from boardenvs import arena

        return getattr(arena, name)
    raise AttributeError(f"module 'boardenvs' has no attribute {name!r}")
