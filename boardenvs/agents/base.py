"""The protocols of players."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.state import IntArray, State

if TYPE_CHECKING:
    from boardenvs.search.analysis import Analysis


class Agent(Protocol):
    """A player: any object with `act`, which chooses actions for a batch of boards.

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
        """Return a legal action for each row, (B,) int64; noop where the game is terminated.

        All random numbers come from `rng`: the same state and generator give the same actions.
        Built-in agents also work without one, `agent.act(game, state)`, but then their choice
        among equal actions is not reproducible.

        An `act` with a further parameter, `history=None`, gets the games so far where they are
        known, a `boardenvs.agents.History`.
        """
        ...


def cpu_elsewhere(agent: object) -> float:
    """Return the CPU seconds that an agent has used in other processes, its `cpu_seconds`."""
    return float(getattr(agent, "cpu_seconds", 0.0))


def games_at_once(agent: object) -> int:
    """Return the number of games that an agent wants to play at once, each for itself, its
    `games_at_once`: 0 for an agent that prefers large batches of boards.
    """
    return int(getattr(agent, "games_at_once", 0))


_turn: ContextVar[Lock | None] = ContextVar("turn", default=None)


@contextmanager
def taking_turns(lock: Lock) -> Iterator[None]:
    """Compute while no other thread does that holds this lock, except while one is `waiting`."""
    with lock:
        before = _turn.set(lock)
        try:
            yield
        finally:
            _turn.reset(before)


@contextmanager
def waiting() -> Iterator[None]:
    """Let a match's other games go on while an agent waits for an answer from elsewhere."""
    if (lock := _turn.get()) is None:
        yield
        return
    lock.release()
    try:
        yield
    finally:
        lock.acquire()


@runtime_checkable
class Analysing(Protocol):
    """An agent that evaluates the moves of a position; see `boardenvs.analyse`."""

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """Return the moves and their values, first the move that `act` plays with the same
        generator.

        The position is not over.
        """
        ...


@runtime_checkable
class AnalysingUntil(Protocol):
    """An agent whose search can be continued."""

    def analyse_until(
        self, position: Position, stop: Callable[[], bool], rng: np.random.Generator
    ) -> Iterator[Analysis]:
        """Yield what `Analysing.analyse` returns, again and again until `stop()`."""
        ...


def analysis_by(agent: Agent, position: Position, rng: np.random.Generator) -> Analysis:
    """Return the agent's moves in order of preference: by its `analyse`, by the probabilities and
    values of an `Evaluator`, or else only the move that it chooses.
    """
    # Imported here: environments know players, but load no search.
    from boardenvs.search.analysis import Analysis, MoveAnalysis, analyse_by_evaluator
    from boardenvs.search.mcts import Evaluator

    if isinstance(agent, Analysing):
        return agent.analyse(position, rng)
    if isinstance(agent, Evaluator):
        return analyse_by_evaluator(agent, position)
    action = int(agent.act(position.game, stack([position]), rng)[0])
    return Analysis(position=position, moves=(MoveAnalysis(action=action, line=(action,)),))


def report_of(agent: object) -> dict[str, float]:
    """Return what an agent has counted since it was made by name, such as illegal replies of a
    model: its `report()`; empty if it has none.
    """
    return dict(getattr(agent, "report", dict)())


@runtime_checkable
class GameSpecific(Protocol):
    """An agent that plays only some games."""

    def check_game(self, game: Game) -> None:
        """Raise ValueError, with the games it plays, if the agent cannot play this game."""
        ...


def check_game(agent: object, game: Game) -> None:
    """Raise ValueError if the agent cannot play the game; call this before a match begins."""
    if isinstance(agent, GameSpecific):
        agent.check_game(game)


def check_heuristic(agent: object, game: Game) -> None:
    """Raise ValueError, with what to write, if the game lacks the heuristic that an agent needs."""
    if not game.has_heuristic:
        raise ValueError(f"{type(agent).__name__} cannot play: {game.no_heuristic}")


class AgentByGame(ABC):
    """Plays each game by an agent made for this game."""

    @abstractmethod
    def player(self, game: Game) -> Agent:
        """Return the agent for this game; ValueError if there is none."""

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        return self.player(game).act(game, state, np.random.default_rng(rng))

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """Return the analysis of the agent for this game."""
        return analysis_by(self.player(position.game), position, rng)

    def check_game(self, game: Game) -> None:
        """Raise ValueError if there is no agent for this game."""
        check_game(self.player(game), game)
