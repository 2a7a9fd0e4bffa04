"""The common part of PettingZoo environments: position, observations, rewards, rendering."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from gymnasium import error, spaces

from boardenvs.game import fen
from boardenvs.game.errors import PositionError
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.rules import ILLEGAL_ACTION_REWARD, WIN, goal_to_reward
from boardenvs.game.state import Int8Array
from boardenvs.utils.checks import check_name, check_seed, quote

Reward: TypeAlias = Literal["goal", "zero_sum"]
OnIllegal: TypeAlias = Literal["raise", "forfeit"]
RenderMode: TypeAlias = Literal["human", "ansi", "rgb_array", "svg"]
VectorRenderMode: TypeAlias = Literal["rgb_array", "ansi"]

# The planes, int8, or with `mask_in_observation` {"observation": planes, "action_mask": mask}:
# every user would have to take a union of the two apart.
Observation: TypeAlias = Any

FRAMES_PER_SECOND = 2  # that a window shows
VERSION = "v0"


def env_name(game: Game) -> str:
    """Return the name of a game's environments, and of its public module if it has one:
    "othello_v0".
    """
    return f"{game.id}_{VERSION}"


class ResetNeededError(error.ResetNeeded, AttributeError):
    """A step before `reset`, or after the last agent has left.

    An AttributeError too, since the attributes of a running game do not exist before `reset`.

    ```python
    import boardenvs

    env = boardenvs.othello_v0.env()
    try:
        env.step(19)
    except boardenvs.ResetNeededError as error:
        print(error)
    ```
    """


class BoardEnv:
    """One game in progress. `possible_agents` are the game's roles, first to move first.

    `reward="goal"`, the default of PettingZoo's environments here, rewards the end of the game with
    the goal values of the rule sheets: 100 for the winner, 0 for the loser, 50 each for a draw;
    "zero_sum" with +1, -1 and 0. Before the end all rewards are 0.

    Raises ValueError for an unknown `reward` or `render_mode`.
    """

    possible_agents: list[str]
    agents: list[str]
    metadata: dict[str, Any]

    def __init__(
        self, game: Game, *, reward: Reward = "goal", render_mode: RenderMode | None
    ) -> None:
        check_name("reward", reward, get_args(Reward))
        if render_mode is not None:
            check_name("render_mode", render_mode, get_args(RenderMode))
        self.game = game
        self.reward = reward
        self.render_mode = render_mode
        self.metadata = {
            "name": env_name(game),
            "render_modes": list(get_args(RenderMode)),
            "is_parallelizable": False,  # as PettingZoo says of games of turns
            "render_fps": FRAMES_PER_SECOND,
        }
        self.possible_agents = list(game.roles)
        shape = game.observation_shape
        # Where planes and actions stand in `Position.observation_bytes`.
        self._planes_shape = (shape[2], *shape[:2])
        self._num_bits, start = math.prod(shape), 64 * game.kernels.planes.num_outputs
        self._mask = slice(start, start + game.num_actions)
        self.observation_spaces = {role: observation_and_mask(game) for role in game.roles}
        self.action_spaces = {role: spaces.Discrete(game.num_actions) for role in game.roles}
        self.state_space = spaces.Box(0, 1, (*shape[:2], shape[2] + 1), np.int8)
        self.last_action: int | None = None
        self.last_position: Position | None = None  # before the last action
        self._window: Any = None

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of `agent`'s observations: "observation" and "action_mask"."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of `agent`'s actions, numbered as the game's page says."""
        return self.action_spaces[agent]

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self._position

    def state(self) -> Int8Array:
        """Return the whole board, the same for both agents: (R, F, C + 1) int8 of 0 and 1.

        The planes that the first role observes, and one of ones where the second is to move.
        """
        position = self._position
        planes = self._observation(0, position.legal_bits)["observation"]
        second = np.full((*planes.shape[:2], 1), position.to_move, np.int8)
        return np.concatenate([planes, second], axis=2)

    def render(self) -> Any:
        """Return a str for "ansi", in colours if standard output is a terminal, and for "svg"; a
        (H, W, 3) uint8 array for "rgb_array"; None for "human".
        """
        from boardenvs import render

        if self.render_mode is None:
            raise ValueError(
                "no render_mode was given: make the environment with render_mode= one of "
                f"{', '.join(map(repr, get_args(RenderMode)))}"
            )
        draws: dict[str, Callable[..., Any]] = {"ansi": render.to_ansi, "svg": render.to_svg}
        draw = draws.get(self.render_mode, render.to_rgb)
        picture = draw(self.game, self._position, self.last_action, before=self.last_position)
        if self.render_mode != "human":
            return picture
        if self._window is None:
            name, fps = self.metadata["name"], self.metadata["render_fps"]
            self._window = render.Window(name, fps, picture)
        self._window.show(picture)
        return None

    def close(self) -> None:
        """Close the window, if one is open."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def _start(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Set up the board, at `options["position"]` if given."""
        check_seed(seed)
        # "options" is from PettingZoo's api_test.
        start = reset_option(options, "position", ignored="options")
        if start is None:
            position = self.game.start()
        elif isinstance(start, Position):
            position = self.game.fresh(start)
        else:
            position = fen.parse_position(self.game, start)
        if position.terminated or position.is_truncated():
            raise PositionError(
                f"the game is over in position {quote(start)}: nothing is left to play"
            )
        self._position = position
        self.last_action = self.last_position = None

    def _checked(self, action: Any) -> int:
        """Return the action as int; TypeError or IllegalActionError if it is not an action."""
        try:
            if isinstance(action, bool):
                raise TypeError
            number = operator.index(action)
        except TypeError:
            raise TypeError(
                f"action {quote(action)} is a {type(action).__name__}: it must be an int from 0 to "
                f"{self.game.noop}" + (", None is for agents that are out" * (action is None))
            ) from None
        if not 0 <= number <= self.game.noop:
            raise self._position.illegal_action(number)
        return number

    def _observation(self, role: int, legal_bits: tuple[int, ...]) -> dict[str, Any]:
        """Return a role's observation, with these actions as its mask."""
        return self._from_bytes(self._position.observation_bytes(role, legal_bits))

    def _from_bytes(self, bits: Int8Array) -> dict[str, Any]:
        """Return an observation of what `Position.observation_bytes` gives."""
        planes = bits[: self._num_bits].reshape(self._planes_shape).transpose(1, 2, 0)
        return {"observation": planes, "action_mask": bits[self._mask]}

    def _rewards(self, *offenders: int) -> list[float]:
        """Return the rewards by role at the end of the game: of the position on the board, or, if
        these roles took an illegal action, of that.
        """
        goals = (WIN, WIN) if offenders else self._position.result()
        rewards = goals if self.reward == "goal" else map(goal_to_reward, goals)
        return [ILLEGAL_ACTION_REWARD if k in offenders else x for k, x in enumerate(rewards)]

    def __getattr__(self, name: str) -> Any:
        # Reached only where an attribute does not exist, so the check costs a running game nothing.
        if name in _AFTER_RESET:
            raise ResetNeededError(
                f"call reset() before the first step: there is no {name.lstrip('_')} yet"
            )
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}  # a window belongs to one process


_AFTER_RESET = frozenset(
    (
        "agents",
        "num_agents",
        "agent_selection",
        "rewards",
        "terminations",
        "truncations",
        "infos",
        "is_over",
        "_cumulative_rewards",
        "position",
        "_position",
    )
)


def reset_option(options: object, name: str, ignored: str = "") -> Any:
    """Return the option of `reset` of this name, or None; TypeError or ValueError for others."""
    if options is None:
        return None
    if not isinstance(options, Mapping):
        raise TypeError(f'options is {quote(options)}: it must be a dict, {{"{name}": ...}}')
    for other in options.keys() - {ignored}:
        check_name("reset option", other, [name])
    return options.get(name)


def observation_and_mask(game: Game) -> spaces.Dict:
    """Return the space of {"observation": (8, 8, C), "action_mask": (A,)}, both int8 of 0 and 1."""
    return spaces.Dict(
        {
            "observation": spaces.Box(0, 1, game.observation_shape, np.int8),
            "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
        }
    )


def observation_space(game: Game, with_mask: bool) -> spaces.Space[Any]:
    """Return the space of the planes alone, or of both where `mask_in_observation` is asked for."""
    space = observation_and_mask(game)
    return space if with_mask else space["observation"]
