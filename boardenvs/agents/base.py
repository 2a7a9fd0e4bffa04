"""What an agent is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.state import IntArray, State

if TYPE_CHECKING:
    from boardenvs.search.analysis import Analysis


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

        All random numbers come from `rng`: the same state and generator give the same actions.
        Built-in agents may be asked without one, `agent.act(game, state)`, and then nobody can tell
        which of equally good actions they take.
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


def cpu_elsewhere(agent: object) -> float:
    """The CPU seconds that an agent took in other processes so far: what its `cpu_seconds` says."""
    return float(getattr(agent, "cpu_seconds", 0.0))


@runtime_checkable
class Analysing(Protocol):
    """An agent that says what it thinks of a position; see `boardenvs.analyse`."""

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """Its moves and their values, what `act` plays with the same generator first; the position
        is not over.
        """
        ...


@runtime_checkable
class AnalysingUntil(Protocol):
    """An agent whose search can go on."""

    def analyse_until(
        self, position: Position, stop: Callable[[], bool], rng: np.random.Generator
    ) -> Iterator[Analysis]:
        """As `Analysing.analyse`, again and again until `stop()`."""
        ...


def analysis_by(agent: Agent, position: Position, rng: np.random.Generator) -> Analysis:
    """What the agent says of a position, in the order of its preference: by its `analyse`, by the
    probabilities and values of an `Evaluator`, or else by the action that it chooses.
    """
    # Imported here: environments know players, but load no search.
    from boardenvs.search.analysis import Analysis, MoveAnalysis, analyse_by_evaluator
    from boardenvs.search.trees import Evaluator

    if isinstance(agent, Analysing):
        return agent.analyse(position, rng)
    if isinstance(agent, Evaluator):
        return analyse_by_evaluator(agent, position)
    action = int(agent.act(position.game, stack([position]), rng)[0])
    move = MoveAnalysis(action=action, line=(action,))
    return Analysis(position=position, moves=(move,))


@runtime_checkable
class Reporting(Protocol):
    """An agent that counts what it did, such as how many replies of a model were illegal."""

    def report(self) -> Mapping[str, float]:
        """The counts by name, since it was made."""
        ...


def report_of(agent: object) -> dict[str, float]:
    """What an agent counted; nothing where it counts nothing."""
    return dict(agent.report()) if isinstance(agent, Reporting) else {}


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


class AgentByGame(ABC):
    """Plays each game as an agent that is made for it."""

    @abstractmethod
    def player(self, game: Game) -> Agent:
        """Who plays this game; ValueError where nobody does."""

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        return self.player(game).act(game, state, np.random.default_rng(rng))

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """As the agent that plays this game."""
        return analysis_by(self.player(position.game), position, rng)

    def check_game(self, game: Game) -> None:
        """ValueError where nobody plays this game."""
        check_game(self.player(game), game)
