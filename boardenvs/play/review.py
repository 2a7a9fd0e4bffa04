"""Review a game that was played: the value of each move, and what would have been better.

reviewed = review(record)
for ply in reviewed.largest_losses(3):
    print(ply.number, ply.name, ply.lost, ply.analysis.names(ply.best.line))
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count, pairwise

import numpy as np

from boardenvs.agents import Agent, agent_for
from boardenvs.agents.analyse import analyse, default_analyst, search_analyst
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import MAX_VALUE
from boardenvs.game.session import GameSession
from boardenvs.records.record import Record, played
from boardenvs.search.analysis import (
    OPPOSITE,
    Analysis,
    MoveAnalysis,
    Unit,
    final_analysis,
    ranked,
)
from boardenvs.search.compiler import has_exact_end
from boardenvs.search.evaluation_file import trained_evaluation
from boardenvs.search.limits import Limits
from boardenvs.search.solver import search_position
from boardenvs.tablebase import Tablebase, is_solved

_QUICK, _DEEP, _DEEPER = 3_000, 300_000, 1_000_000  # nodes of a position
_EXACT = 17  # empty squares from which positions are solved to the end, with `_TO_END` nodes
_TO_END = 5_000_000
_SOLVING = 30.0  # seconds for a position that is solved by search
_OTHERS = 0.2  # nodes of all other moves together, as a share of the position's
# Differences of two passes from which a position is searched once more.
_DOUBT: dict[Unit, float] = {"margin": 4.0, "score": 0.25, "heuristic": 100.0}


@dataclass(frozen=True)
class ReviewedPly:
    """A ply of a game as an agent sees it. Values are for the side that played it."""

    number: int  # from 1
    action: int
    analysis: Analysis  # of the position before the ply
    after: float | None  # the value of the move that was played
    lost: float | None  # how much less than the best move, in the analysis's unit: 0 or more

    @property
    def role(self) -> int:
        """The side that played it."""
        return self.analysis.position.to_move

    @property
    def name(self) -> str:
        """The name of the action."""
        return self.analysis.names([self.action])[0]

    @property
    def before(self) -> float | None:
        """The value of the best move."""
        return self.analysis.value

    @property
    def best(self) -> MoveAnalysis:
        """The best move."""
        return self.analysis.moves[0]

    @property
    def is_choice(self) -> bool:
        """Whether there was more than one legal move."""
        return len(self.analysis.position.legal_actions()) > 1

    @property
    def agrees(self) -> bool:
        """Whether the agent would have played this move too."""
        return self.action == self.analysis.choice

    @property
    def decides(self) -> bool:
        """Whether a heuristic value stands for a proven win or loss, so that it is no loss to add
        to others.
        """
        values = (self.before or 0.0, self.after or 0.0)
        return self.analysis.unit == "heuristic" and max(map(abs, values)) >= MAX_VALUE


@dataclass(frozen=True)
class RoleSummary:
    """How one side played, over the plies at which it had a choice."""

    role: str
    choices: int  # plies with more than one legal move
    agreed: int  # of these, plies at which the agent would have played the same
    lost: dict[Unit, float]  # total loss by unit, without plies that `decides`


@dataclass(frozen=True)
class Review:
    """A recorded game with the analysis of its plies."""

    record: Record
    plies: tuple[ReviewedPly, ...]

    @property
    def summaries(self) -> tuple[RoleSummary, RoleSummary]:
        """Both sides, by role."""
        return self._summary(0), self._summary(1)

    def largest_losses(self, count: int) -> list[ReviewedPly]:
        """Return up to `count` plies with the largest losses, proven ones first."""
        losing = [ply for ply in self.plies if ply.lost]
        losing.sort(key=lambda ply: (ply.analysis.proven, ply.lost), reverse=True)
        return losing[:count]

    def _summary(self, role: int) -> RoleSummary:
        choices = [ply for ply in self.plies if ply.role == role and ply.is_choice]
        lost: dict[Unit, float] = {}
        for ply in choices:
            if ply.lost is not None and not ply.decides:
                lost[ply.analysis.unit] = lost.get(ply.analysis.unit, 0.0) + ply.lost
        return RoleSummary(
            role=self.record.game.sides[role],
            choices=len(choices),
            agreed=sum(ply.agrees for ply in choices),
            lost=lost,
        )


def review(
    record: Record,
    agent: Agent | str | None = None,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Review:
    """Analyse every position of a game with an agent, by default as `analyse_line` does.

    A move's loss is the value of the best move minus the value of the position after the move.

    progress: called with the number of analyses so far and of all. ValueError if the agent cannot
    play the game, IllegalActionError if the record breaks the rules.
    """
    session = played(record)
    positions = session.positions
    analyses = {}
    passes = 2 if agent is None and _has_passes(positions[0]) else 1
    for done, (ply, analysis, _) in enumerate(analyse_line(session, agent, seed), 1):
        analyses[ply] = analysis
        if progress:
            progress(done, passes * len(positions))
    pairs = pairwise(analyses[ply] for ply in range(len(positions)))
    plies = (
        ReviewedPly(number, action, analysis, *loss_of(action, analysis, following))
        for number, action, (analysis, following) in zip(count(1), record.actions, pairs)
    )
    return Review(record, tuple(plies))


def analyse_line(
    session: GameSession,
    agent: Agent | str | None = None,
    seed: int = 0,
) -> Iterator[tuple[int, Analysis, bool]]:
    """Yield the plies of all positions of a game, their analyses, and whether these are rough; of
    a ply's, the last is best.

    Without an agent, games with a search are analysed twice: quickly, and from the last position
    back to the first with some hundred times the nodes, exactly as early as possible, with even
    more where the two differ. A position's value then takes the next one's into account.
    """
    game, positions, actions = session.game, session.positions, session.actions
    if agent is not None or not _has_passes(positions[0]):
        agent = agent_for(game, agent or default_analyst(game))
        for ply, position in enumerate(positions):
            yield ply, analyse(position, agent, rng=np.random.default_rng(seed)), False
        return
    quick = []
    for ply, position in enumerate(positions):
        quick.append(_search(position, _QUICK))
        yield ply, quick[ply], True
    following: Analysis | None = None
    for ply in reversed(range(len(positions))):
        analysis = _search(positions[ply], _DEEP)
        if analysis.nodes < _DEEPER and not analysis.proven and analysis.value is not None:
            expected = [quick[ply].value]
            if following and analysis.choice == actions[ply]:
                expected.append(value_after(analysis, following))
            if any(
                v is not None and abs(v - analysis.value) > _DOUBT[analysis.unit] for v in expected
            ):
                analysis = _search(positions[ply], _DEEPER)
        if following:
            analysis = with_next(analysis, actions[ply], following)
        following = analysis
        yield ply, analysis, False


def _has_passes(position: Position) -> bool:
    """Return whether games from this position are analysed twice: by search, not from a table."""
    game = position.game
    return not Tablebase.covers(game) and (game.has_heuristic or is_solved(game))


def _search(position: Position, nodes: int) -> Analysis:
    """Return the analysis by a search of this size, in learnt values if the game has them, or by
    the exact solution of a solved game.
    """
    game = position.game
    if position.is_over():
        return final_analysis(position)
    if is_solved(game):
        if nodes == _QUICK:
            return analyse(position, search_analyst(game))
        return analyse(position, "perfect", time=_SOLVING)
    evaluation, fills_up = trained_evaluation(game), has_exact_end(game)
    if fills_up and nodes > _QUICK and game.empty_squares(stack([position]))[0] <= _EXACT:
        nodes = _TO_END
    limits = Limits(
        nodes=nodes,
        endgame=12 if nodes == _QUICK else _EXACT,
        probcut=1.5 if fills_up and evaluation else 0.0,
        reductions=evaluation is not None and not fills_up,
    )
    began = time.perf_counter()
    others = 1.0 if nodes == _QUICK else _OTHERS
    analysis = search_position(position, limits, evaluation=evaluation, moves=others)
    return ranked(analysis, began)


def value_after(analysis: Analysis, following: Analysis | None) -> float | None:
    """Return the value of the next position for the side to move in `analysis`; None if unknown."""
    if following is None or following.value is None or following.unit != analysis.unit:
        return None
    same = following.position.to_move == analysis.position.to_move
    return following.value if same else -following.value


def with_next(analysis: Analysis, action: int, following: Analysis) -> Analysis:
    """Return the analysis with the value of the next position for the move that was played."""
    value = value_after(analysis, following)
    if value is None or analysis.proven:
        return analysis
    outcome, same = following.outcome, following.position.to_move == analysis.position.to_move
    played = replace(
        next(move for move in analysis.moves if move.action == action),
        value=value,
        outcome=outcome if same or outcome is None else OPPOSITE[outcome],
        plies=None if following.plies is None else following.plies + 1,
        line=(action, *following.line),
    )
    moves = [move for move in analysis.moves if move.action != action]
    if action == analysis.choice:  # the others were searched less deep
        lower = (value if m.value is None else min(m.value, value) for m in moves)
        moves = [replace(m, value=v, outcome=None) for m, v in zip(moves, lower, strict=True)]
    moves.insert(0 if action == analysis.choice else len(moves), played)
    moves.sort(key=lambda move: -math.inf if move.value is None else move.value, reverse=True)
    return replace(analysis, moves=tuple(moves), choice=moves[0].action, value=moves[0].value)


def loss_of(
    action: int, analysis: Analysis, following: Analysis | None
) -> tuple[float | None, float | None]:
    """Return a move's value for the side that played it, and its loss; None if unknown. What the
    analysis chooses loses nothing.

    analysis: of the position before the move. following: of the position after it, whose
    value is the move's, if it is of the same unit.
    """
    after = value_after(analysis, following)
    if after is None:
        after = {move.action: move.value for move in analysis.moves}.get(action)
    if action == analysis.choice:
        return after, 0.0
    if analysis.value is None or after is None:
        return after, None
    return after, max(0.0, analysis.value - after)
