"""What an agent is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State


class Agent(Protocol):
    """Anything with `act`, which chooses actions for many boards at once. `make_agent` makes some.

    ```python
    import boardenvs
    import numpy as np

    class FirstLegal:
        def act(self, game, state, rng):
            return np.where(state.terminated, game.noop, game.legal(state).argmax(axis=1))

    print(boardenvs.play_match(boardenvs.games.make("othello"), FirstLegal(), "random", pairs=50))
    ```
    """

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        """A legal action for each row, (B,) int64; noop where the game is terminated.

        All chance comes from `rng`: the same state and generator give the same actions. Built-in
        agents may be asked without one, `agent.act(game, state)`, and then nobody can tell which of
        equally good actions they take.
        """
        ...


@runtime_checkable
class HistoryAgent(Agent, Protocol):
    """An agent that asks how each game came about, not only where it stands; matches tell it."""

    def act_after(
        self, game: Game, state: State, actions: IntArray, rng: np.random.Generator
    ) -> IntArray:
        """As `Agent.act`; row i of `actions` (B, P) int16 has the plies of game i from its start,
        -1 after the last.
        """
        ...


def act_after(
    agent: Agent, game: Game, state: State, actions: IntArray, rng: np.random.Generator
) -> IntArray:
    """What the agent plays, by a `HistoryAgent`'s `act_after` or else by `act`."""
    if isinstance(agent, HistoryAgent):
        return agent.act_after(game, state, actions, rng)
    return agent.act(game, state, rng)


@runtime_checkable
class GameSpecific(Protocol):
    """An agent that does not play every game."""

    def check_game(self, game: Game) -> None:
        """ValueError, with what it does play, where the agent cannot play this game."""
        ...


def check_game(agent: object, game: Game) -> None:
    """ValueError where the agent cannot play the game; call it before a contest begins."""
    if isinstance(agent, GameSpecific):
        agent.check_game(game)


def check_heuristic(agent: object, game: Game) -> None:
    """ValueError, with what to write, where an agent that needs a heuristic meets none."""
    if not game.has_heuristic:
        raise ValueError(f"{type(agent).__name__} cannot play: {game.no_heuristic}")
