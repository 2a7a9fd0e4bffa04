"""Players by name: `make_agent("alphabeta:depth=4")`; and players that users wrote.

`adapt` takes any of these, and tells them apart by the number of their arguments:

    def policy(observation, agent): ...   # one board, as PettingZoo's env.last() shows it -> int
    def policy(observation): ...          # the same
    def act(game, state, rng): ...        # a batch, as `boardenvs.agents.Agent` -> (B,) ints
    class Player: def act(...)            # an object with that method, or a class of such objects
    def make(): ...                       # a function without arguments that makes any of these

`observation` is {"observation": int8 (8, 8, C), "action_mask": int8 (A,)} and `agent` the name of
the role. Such a policy gets no generator: if it draws random numbers it uses its own, or the global
one of Python or NumPy, which `boardenvs match` and `boardenvs arena` seed. A `Policy`
(`agents/policy.py`) plays its most probable action.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

import numpy as np

from boardenvs.agents.base import Agent, check_game
from boardenvs.agents.history import History, with_history
from boardenvs.game.game import Game
from boardenvs.game.state import IntArray, State
from boardenvs.utils.checks import cut, quote, unknown
from boardenvs.utils.imports import import_object, naming_errors, top_level
from boardenvs.utils.spec import check_colon, parse_parameters

# Where each player is made: "MODULE:NAME", imported when a player of that name is asked for. The
# parameters of the function or class are the parameters of the text.
AGENTS = {
    "random": "boardenvs.agents.simple:RandomAgent",
    "greedy": "boardenvs.agents.simple:GreedyAgent",
    "positional": "boardenvs.agents.simple:PositionalAgent",
    "alphabeta": "boardenvs.agents.alphabeta:AlphaBetaAgent",
    "mcts": "boardenvs.agents.mcts:mcts_agent",
    "perfect": "boardenvs.agents.perfect:PerfectAgent",
    "level": "boardenvs.agents.levels:LevelAgent",
    "policy": "boardenvs.agents.trained:policy_agent",
    "trained": "boardenvs.agents.trained:TrainedAgent",
    "python": "boardenvs.agents.spec:load_agent",
    "engine": "boardenvs.engines:EngineAgent",
    "llm": "boardenvs.text.llm:llm_player",
}


@dataclass(frozen=True)
class BoardPolicy:
    """Asks a policy of one board, `policy(observation, agent)`, board by board; with one argument
    `policy(observation)`.
    """

    policy: Callable[..., Any]
    arguments: int = 2

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        masks = game.legal(state).view(np.int8)
        actions = []
        for planes, mask, role in zip(game.observe(state), masks, state.to_move, strict=True):
            inputs = {"observation": planes, "action_mask": mask}, game.roles[role]
            actions.append(operator.index(self.policy(*inputs[: self.arguments])))
        return np.array(actions, np.int64)


@dataclass(frozen=True)
class BatchPolicy:
    """Asks a function of a batch, `act(game, state, rng)`."""

    function: Callable[..., IntArray]

    def act(
        self,
        game: Game,
        state: State,
        rng: np.random.Generator | None = None,
        history: History | None = None,
    ) -> IntArray:
        return with_history(self.function, history)(game, state, np.random.default_rng(rng))


def adapt(player: object) -> Agent:
    """Make an agent of an object, a class or a function (see the top of this file); TypeError for
    anything else.
    """
    if inspect.isclass(player):
        return adapt(player())
    if callable(getattr(player, "act", None)):
        return cast(Agent, player)
    if not callable(player):
        # Imported only for objects that may be policies: players take longer to load.
        from boardenvs.agents.policy import Policy, PolicyAgent

        if isinstance(player, Policy):
            return PolicyAgent(player)
        if callable(getattr(player, "predict", None)):
            raise TypeError(
                f"{quote(player)} is a model of Stable-Baselines3: "
                "boardenvs.agents.export.policy_from_sb3(model, game) makes a player of it"
            )
        raise TypeError(
            f"{quote(player)} is not an agent: it must have act(game, state, rng), or be a "
            "function, policy(observation, agent) of one board or act(game, state, rng)"
        )
    match _arguments(player):
        case 0:
            return adapt(player())
        case 1 | 2 as arguments:
            return BoardPolicy(player, arguments)
        case _:
            return BatchPolicy(player)


def load_agent(target: str) -> Agent:
    """Load the agent "MODULE:NAME", from a module on Python's path or in the current folder.

    ValueError if there is no such module or name, if the module or the agent raises, or if the
    object is not an agent.
    """
    loaded = import_object(target)
    try:
        with naming_errors(f"python:{target}", top_level(target)):
            return adapt(loaded)
    except TypeError as error:
        raise ValueError(f"{quote(target)} is not an agent: {error}") from error


def _arguments(function: Callable[..., Any]) -> int:
    """Return the number of arguments to call the function with: the first of 0, 2, 3, 1 that it
    takes. Those with defaults keep them, but for a second `agent` and a third `rng`.

    TypeError for another number, or if the signature is unknown.
    """
    try:
        signature = inspect.signature(function)
        if re.match(r"\(\*\w", str(signature)):  # (*args) of a decorator, or a module of torch
            raise ValueError
    except ValueError:
        raise TypeError(
            f"{function!r} does not say what it takes: wrap it in a def or lambda"
        ) from None
    asked = [
        parameter.replace(default=parameter.empty)
        for place, parameter in enumerate(signature.parameters.values())
        if parameter.default is parameter.empty
        or parameter.name == {1: "agent", 2: "rng"}.get(place)
    ]
    for count in (0, 2, 3, 1):
        try:
            signature.replace(parameters=asked).bind(*[None] * count)
        except TypeError:
            continue
        return count
    raise TypeError(
        f"{function!r} takes {signature}: it must take (observation, agent), (observation), "
        "(game, state, rng) or nothing"
    )


def factory_of(name: str) -> Callable[..., Agent]:
    """Return the function or class that makes the players of this name in `AGENTS`."""
    module, _, attribute = AGENTS[name].partition(":")
    return getattr(import_module(module), attribute)


def make_agent(spec: str) -> Agent:
    """Make the player that a text such as "greedy" or "alphabeta:depth=4,endgame=10" describes.

    ValueError for an unknown name, with the nearest one that exists, and for a wrong value.

    ```python
    import boardenvs
    import numpy as np

    game = boardenvs.games.make("othello")
    agent = boardenvs.make_agent("alphabeta:depth=2")
    actions = agent.act(game, game.init(8), np.random.default_rng(0))  # eight boards at once
    ```
    """
    if not isinstance(spec, str):
        raise TypeError(f"agent is {quote(spec)}: it must be a text such as 'alphabeta:depth=4'")
    name, separator, rest = spec.partition(":")
    if name not in AGENTS:
        if spec.partition(",")[0].endswith((".npz", ".zip")):
            raise ValueError(f"{quote(spec)} is a file: its player is {cut(f'policy:{spec}')!r}")
        check_colon(spec, AGENTS.__contains__)
        raise ValueError(unknown("agent", name, AGENTS))
    factory = factory_of(name)
    return factory(**parse_parameters(spec, name, rest if separator else None, factory))


def as_agent(player: object) -> Agent:
    """Return the agent given as a text (`make_agent`) or as a Python object (`adapt`)."""
    return make_agent(player) if isinstance(player, str) else adapt(player)


def agent_for(game: Game, player: object) -> Agent:
    """Return the agent given as a text or as a Python object, to play this game.

    ValueError or TypeError, with what would be right, if it is not an agent or cannot play the
    game.
    """
    agent = as_agent(player)
    check_game(agent, game)
    return agent


def runs_code(spec: str) -> bool:
    """Return whether an agent's text names code to run (a module or program), or an address that is
    sent a key.
    """
    return spec.partition(":")[0] in ("python", "engine", "llm")
