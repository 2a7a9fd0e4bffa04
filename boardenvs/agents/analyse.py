"""`analyse`: a player's view of a position, for the terminal, the page and reviews."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from boardenvs.agents.base import Agent, AnalysingUntil, analysis_by
from boardenvs.agents.perfect import PerfectAgent
from boardenvs.agents.spec import agent_for
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.games import make
from boardenvs.kernel import get_backend
from boardenvs.search.analysis import Analysis, final_analysis, ranked
from boardenvs.search.evaluation_file import trained_evaluation
from boardenvs.search.limits import ENDGAME, Limits
from boardenvs.search.solver import search_position
from boardenvs.tablebase import is_solved
from boardenvs.tablebase.connect_four import exact_search


def analyse(
    at: Game | Position | str,
    agent: Agent | str | None = None,
    *,
    time: float | None = None,
    rng: np.random.Generator | None = None,
) -> Analysis:
    """Return a player's view of a position, or of a game's start: the value of each move, proven
    results, and the expected line of play. `boardenvs analyse` prints it.

    The game may be a text. The player is an agent or a text, by default `default_analyst(game)`. It
    spends as much as on a move, or twice that if it has limits (`alphabeta`), since it values all
    moves; with `time`, an agent that searches (`alphabeta`, `mcts`) goes on for that many seconds.
    Random numbers come from `rng`, by default one with seed 0. The analysis of a finished game is
    its result, without moves. ValueError or TypeError for a wrong player, or one that cannot play
    the game; ValueError for an unknown game.

    ```python
    import boardenvs

    game = boardenvs.games.make("othello")
    analysis = boardenvs.analyse(game.start(), "alphabeta:depth=3")
    for move in analysis.moves:  # best first
        print(analysis.names(move.line), move.value, move.outcome)
    print(analysis.value, analysis.unit, analysis.proven)
    ```
    """
    if time is not None:
        thinking = AnalysisClock(time)
        *_, last = map(thinking.start, analyse_until(at, agent, thinking.is_over, rng))
        return last
    agent, position = _at(at, agent)
    if position.is_over():
        return final_analysis(position)
    began = clock.perf_counter()
    return ranked(analysis_by(agent, position, _generator(rng)), began)


class AnalysisClock:
    """Time to think, which begins with the first analysis: before that, code is compiled."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._until = seconds, math.inf

    def start(self, analysis: Analysis) -> Analysis:
        """Return an analysis; the first one starts the clock."""
        self._until = min(self._until, clock.monotonic() + self._seconds)
        return analysis

    def is_over(self) -> bool:
        """Return whether the seconds have passed."""
        return clock.monotonic() > self._until


def analyse_until(
    at: Game | Position | str,
    agent: Agent | str | None,
    stop: Callable[[], bool],
    rng: np.random.Generator | None = None,
) -> Iterator[Analysis]:
    """Yield better and better analyses until `stop()` is true.

    Agents that search (`mcts`, `alphabeta`) go on beyond their limits, until the result is proven
    or memory is full; `perfect`, where it takes long, first has the analysis of a search. All
    others answer once. `stop` is called every few milliseconds, in the caller's thread. At least
    one analysis comes, at once. Its seconds are counted from the beginning.
    """
    agent, position = _at(at, agent)
    if isinstance(agent, PerfectAgent) and agent.takes_long(position):
        answers = _solve_until(agent, position, stop, _generator(rng))
    elif position.is_over() or not isinstance(agent, AnalysingUntil):
        yield analyse(position, agent, rng=rng)
        return
    else:
        answers = agent.analyse_until(position, stop, _generator(rng))
    began = clock.perf_counter()
    for analysis in answers:
        yield ranked(analysis, began)


def _solve_until(
    agent: PerfectAgent, position: Position, stop: Callable[[], bool], rng: np.random.Generator
) -> Iterator[Analysis]:
    """Yield the analysis by a search, and the exact one if it is found before `stop()`."""
    yield analysis_by(agent_for(position.game, search_analyst(position.game)), position, rng)
    with suppress(TimeoutError), exact_search(get_backend()).until(stop):
        yield agent.analyse(position, rng)


def _at(at: Game | Position | str, agent: Agent | str | None) -> tuple[Agent, Position]:
    position = at if isinstance(at, Position) else make(at).start()
    return agent_for(position.game, agent or default_analyst(position.game)), position


def _generator(rng: np.random.Generator | None) -> np.random.Generator:
    return np.random.default_rng(0) if rng is None else rng


def default_analyst(game: Game) -> str:
    """Return the default player of analyses: the exact solution of a solved game, else a search
    with the best evaluation of the game.
    """
    return "perfect" if is_solved(game) else search_analyst(game)


def search_analyst(game: Game) -> str:
    """Return the player of quick analyses: a search with the best evaluation of the game."""
    if trained_evaluation(game):
        return "alphabeta:depth=4,endgame=12,evaluation=trained"
    return "alphabeta:depth=4,endgame=12" if game.has_heuristic else "mcts:rollouts=2000"


def exact_analyst(game: Game) -> str:
    """Return the player that proves results, given time."""
    if is_solved(game):
        return "perfect"
    return f"alphabeta:endgame={ENDGAME}" if game.has_heuristic else "mcts"


def prove(position: Position, seconds: float, rng: np.random.Generator | None = None) -> Analysis:
    """Return the exact result of a position, if it is found within this time, else the analysis of
    `exact_analyst`, or of its search of the best move alone.
    """
    game = position.game
    if position.is_over() or is_solved(game) or not game.has_heuristic:
        return analyse(position, exact_analyst(game), time=seconds, rng=rng)
    limits = Limits(time=seconds, endgame=ENDGAME)
    search_position(position, replace(limits, nodes=1), moves=False)  # to compile first
    began = clock.perf_counter()
    return ranked(search_position(position, limits, moves=False), began)
