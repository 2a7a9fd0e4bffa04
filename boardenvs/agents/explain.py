"""What an agent thinks of a position: one question to every agent, for those who look on.

An agent with a method `explain(game, position, rng)` answers itself, and one with a method
`explain_steadily(game, position, stop, rng)` goes on improving its answer. Agents that judge
positions (`boardenvs.search.Evaluator`) are asked for their probabilities and values, all others
for the action that they choose.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from boardenvs.agents.base import Agent, check_game
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.perft import successors
from boardenvs.game.state import FloatArray, IntArray, State, take
from boardenvs.search.analysis import Outcome
from boardenvs.search.evaluator import Evaluator

Unit: TypeAlias = Literal["score", "margin", "heuristic"]
Stop: TypeAlias = Callable[[], bool]

_LINE_PLIES = 8  # of a line by a network's most probable actions


@dataclass(frozen=True, kw_only=True)
class MoveExplanation:
    """A legal action as the agent sees it; None stands for what the agent does not know."""

    action: int
    name: str  # as players write it, see `Game.action_name`
    probability: float | None = None  # that the agent's network gives it, 0 to 1
    visits: int | None = None  # how often the search of a tree tried it
    value: float | None = None  # to the side to move, in the explanation's unit
    line: tuple[int, ...]  # the action, and what the agent expects after it
    plies: int | None = None  # to the end of the game, this one included, where that is proven


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A position as the agent sees it. All values are for the side to move: more is better for it.

    The unit of all values is one of

    - "score": the expected result, from -1 (a loss) over 0 (a draw) to 1 (a win);
    - "margin": the margin in points, in Othello discs, from -64 to 64 (`Game.score_margin`): with
      best play at the end of the game where `exact`; as a learnt evaluation foresees it there; or
      else right after the move;
    - "heuristic": the game's own heuristic (`Game.values`), below `MAX_VALUE` = 100,000 either way;
      a move that is proven to win or lose has 100,000 or -100,000.

    ```python
    import boardenvs

    game = boardenvs.games.make("wolf_and_sheep")
    found = boardenvs.explain(boardenvs.make_agent("perfect"), game, game.start())
    print(found.outcome, found.plies, [move.name for move in found.moves])
    ```
    """

    value: float | None = None  # of the position; None where the agent has no values
    unit: Unit
    exact: bool = False  # whether the value is proven
    outcome: Outcome | None = None  # with best play, to the side to move, where exact
    plies: int | None = None  # to the end of the game with best play, where that is known
    moves: tuple[MoveExplanation, ...]  # best first: the first is what the agent would play
    line: tuple[int, ...]  # what the agent expects from here on, its own action first
    positions: int = 0  # how many were searched or judged for this
    seconds: float = 0.0


@runtime_checkable
class Explaining(Protocol):
    """An agent that explains itself."""

    def explain(self, game: Game, position: Position, rng: np.random.Generator) -> Explanation:
        """What it thinks of a position that is not over."""
        ...


@runtime_checkable
class ExplainingSteadily(Protocol):
    """An agent whose search can go on."""

    def explain_steadily(
        self, game: Game, position: Position, stop: Stop, rng: np.random.Generator
    ) -> Iterator[Explanation]:
        """What it thinks of a position that is not over, again and again until `stop()`."""
        ...


def explain(
    agent: Agent, game: Game, position: Position, rng: np.random.Generator | None = None
) -> Explanation:
    """What the agent thinks of a position, with the effort that it spends on a move.

    The first of its moves is what `act` plays with the same generator; agents that draw from
    probabilities have the most probable one first. All chance comes from `rng`, by default one with
    seed 0. An agent with limits (`alphabeta`) may take twice as long as for a move, since it values
    all of them. ValueError where the game is over, or the agent cannot play it.

    ```python
    import boardenvs

    game = boardenvs.games.make("othello")
    found = boardenvs.explain(boardenvs.make_agent("trained"), game, game.start())
    for move in found.moves:
        print(move.name, f"{move.probability:.2f} {move.value:+.2f}", move.line)
    ```
    """
    _check(agent, game, position)
    rng = np.random.default_rng(0) if rng is None else rng
    began = time.perf_counter()
    if isinstance(agent, Explaining):
        found = agent.explain(game, position, rng)
    elif isinstance(agent, Evaluator):
        found = explain_evaluator(agent, game, position)
    else:
        found = _explain_choice(game, position, agent.act(game, stack([position]), rng))
    return replace(found, seconds=time.perf_counter() - began)


def explain_steadily(
    agent: Agent,
    game: Game,
    position: Position,
    stop: Stop,
    rng: np.random.Generator | None = None,
) -> Iterator[Explanation]:
    """Explanations that get better, until `stop()` is true.

    Agents that search (`mcts`, `alphabeta`) go on beyond their limits, until the result is proven
    or memory is full; `stop` is asked every few milliseconds, and in the thread of the caller. All
    others explain themselves once. At least one explanation comes, at once. The seconds are those
    since the beginning; else as `explain`.
    """
    _check(agent, game, position)
    if not isinstance(agent, ExplainingSteadily):
        yield explain(agent, game, position, rng)
        return
    rng = np.random.default_rng(0) if rng is None else rng
    began = time.perf_counter()
    for found in agent.explain_steadily(game, position, stop, rng):
        yield replace(found, seconds=time.perf_counter() - began)


def explain_evaluator(evaluator: Evaluator, game: Game, position: Position) -> Explanation:
    """By the evaluator's probabilities, and its values of the position and after each move.

    A move that ends the game has its result as value. Lines follow the most probable actions of
    both sides.
    """
    state = stack([position])
    probabilities, value = evaluator.evaluate(game, state)
    _, actions, after = successors(game, state)
    ahead = _look_ahead(evaluator, game, actions, after)
    moves = [
        MoveExplanation(
            action=action,
            name=game.action_name(action, position),
            probability=float(probabilities[0, action]),
            value=float(ahead.values[place]),
            line=tuple(ahead.lines[place]),
        )
        for place, action in enumerate(actions.tolist())
    ]
    moves.sort(key=lambda move: -(move.probability or 0.0))
    return Explanation(
        value=float(value[0]),
        unit="score",
        moves=tuple(moves),
        line=moves[0].line,
        positions=1 + ahead.positions,
    )


def chosen_first(moves: Iterable[MoveExplanation], chosen: int) -> tuple[MoveExplanation, ...]:
    """The moves, of which this one comes first; the others stay in their order."""
    return tuple(sorted(moves, key=lambda move: move.action != chosen))


def final_scores(game: Game, after: State) -> FloatArray:
    """The result to the side that has just moved, in rows where the game is over, (B,) float."""
    scores: FloatArray = -np.sign(game.score_margin(after)).astype(np.float64)
    return scores


@dataclass
class _Ahead:
    """What is seen after each of N moves."""

    values: FloatArray  # (N,) to the side that makes the move
    lines: list[list[int]]
    positions: int = 0  # judged


def _look_ahead(evaluator: Evaluator, game: Game, actions: IntArray, after: State) -> _Ahead:
    found = _Ahead(final_scores(game, after), [[action] for action in actions.tolist()])
    rows, state = np.arange(len(actions)), after
    for ply in range(_LINE_PLIES):
        live = np.flatnonzero(~game.is_over(state))
        if not live.size:
            break
        rows, state = rows[live], take(state, live)
        probabilities, values = evaluator.evaluate(game, state)
        found.positions += len(rows)
        if ply == 0:
            found.values[rows] = -values
        replies: IntArray = probabilities.argmax(axis=1)
        for row, reply in zip(rows.tolist(), replies.tolist(), strict=True):
            found.lines[row].append(reply)
        state = game.step(state, replies)
    return found


def _explain_choice(game: Game, position: Position, actions: IntArray) -> Explanation:
    """Of an agent that only says what it plays."""
    action = int(actions[0])
    name = game.action_name(action, position)
    move = MoveExplanation(action=action, name=name, line=(action,))
    return Explanation(unit="score", moves=(move,), line=move.line)


def _check(agent: Agent, game: Game, position: Position) -> None:
    check_game(agent, game)
    if position.is_over():
        raise ValueError("the game is over in this position: there is nothing to explain")
