"""Two-player board games for reinforcement learning.

A public module for each game, such as `othello_v0`, `lines_of_action_v0` or `chess_v0`, makes
environments, and `env` and its sisters make them of any game, yours too.
`games.make` gives a game's rules, for one board and for batches; `make_agent` gives players,
`play_match` lets them meet, and `analyse` says the values of the moves of a position.

What `__all__` lists here is for users and will stay; modules below are documented but may change.

```python
import boardenvs

env = boardenvs.othello_v0.env()
env.reset(seed=1)
observation, reward, terminated, truncated, info = env.last()
env.step(observation["action_mask"].argmax())  # the first legal action
```
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from boardenvs import games
from boardenvs.agents import Agent, make_agent
from boardenvs.envs.core import ResetNeededError
from boardenvs.envs.factory import env, parallel_env, raw_env, register, register_game, vec_env
from boardenvs.game.errors import IllegalActionError, PositionError
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.state import State
from boardenvs.utils.version import __version__ as __version__

if TYPE_CHECKING:
    from boardenvs import (
        arena as arena,
        checkers_v0 as checkers_v0,
        chess_v0 as chess_v0,
        connect_four_v0 as connect_four_v0,
        go_v0 as go_v0,
        hex_v0 as hex_v0,
        lines_of_action_v0 as lines_of_action_v0,
        nine_mens_morris_v0 as nine_mens_morris_v0,
        othello_holes_v0 as othello_holes_v0,
        othello_v0 as othello_v0,
        play as play,
        records as records,
        render as render,
        reversi_v0 as reversi_v0,
        text as text,
        tictactoe_v0 as tictactoe_v0,
        wolf_and_sheep_v0 as wolf_and_sheep_v0,
    )
    from boardenvs.agents.analyse import analyse
    from boardenvs.arena import MatchResult, play_match
    from boardenvs.game.perft import divide, perft
    from boardenvs.game.plain import PlainGame
    from boardenvs.play import choose_action
    from boardenvs.search.analysis import Analysis


def _draw(position: Position, labels: Mapping[int, str] | None) -> str:
    # Imported when a notebook asks for a picture.
    render = import_module("boardenvs.render")
    shown = {"legal": labels is None, "labels": labels, "unit": render.NOTEBOOK_UNIT}
    return render.to_svg(position.game, position, **shown)


register()
Game.drawer = staticmethod(_draw)

__all__ = [
    "Agent",
    "Analysis",
    "Game",
    "IllegalActionError",
    "MatchResult",
    "PlainGame",
    "Position",
    "PositionError",
    "ResetNeededError",
    "State",
    "analyse",
    "checkers_v0",
    "chess_v0",
    "choose_action",
    "connect_four_v0",
    "divide",
    "env",
    "games",
    "go_v0",
    "hex_v0",
    "lines_of_action_v0",
    "make_agent",
    "nine_mens_morris_v0",
    "othello_holes_v0",
    "othello_v0",
    "parallel_env",
    "perft",
    "play_match",
    "raw_env",
    "register_game",
    "reversi_v0",
    "tictactoe_v0",
    "vec_env",
    "wolf_and_sheep_v0",
]


# Loaded when they are first used: environments need none of them.
_LATER = {
    "Analysis": "boardenvs.search.analysis",
    "MatchResult": "boardenvs.arena",
    "PlainGame": "boardenvs.game.plain",
    "analyse": "boardenvs.agents.analyse",
    "choose_action": "boardenvs.play",
    "divide": "boardenvs.game.perft",
    "perft": "boardenvs.game.perft",
    "play_match": "boardenvs.arena",
}
_MODULES = ("arena", "play", "records", "render", "text")


def __dir__() -> set[str]:
    return {*globals(), *__all__, *_MODULES}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _LATER:
            return getattr(import_module(_LATER[name]), name)
        if (name.endswith("_v0") and name in __all__) or name in _MODULES:
            return import_module(f"boardenvs.{name}")
        raise AttributeError(f"module 'boardenvs' has no attribute {name!r}")
