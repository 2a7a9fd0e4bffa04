"""Review a game that was played: the value of each move, and what would have been better.

found = review(record, "alphabeta:depth=6")
for ply in found.largest_losses(3):
    print(ply.number, ply.name, ply.lost, ply.analysis.names(ply.best.line))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from boardenvs.agents import Agent, agent_for
from boardenvs.agents.analyse import analyse, default_analyst
from boardenvs.game.rules import MAX_VALUE
from boardenvs.records.record import Record, replay
from boardenvs.search.analysis import Analysis, MoveAnalysis, Unit


@dataclass(frozen=True)
class ReviewedPly:
    """A ply of a game as an agent sees it. Values are for the side that played it."""

    number: int  # from 1
    role: int
    action: int
    name: str
    analysis: Analysis  # of the position before the ply
    after: float | None  # the value of the move that was played
    lost: float | None  # how much less than the best move, in the analysis's unit: 0 or more

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
    """Analyse every position of a game with an agent, by default the game's `default_analyst`.

    A move's loss is the best move's value minus its own, both from the analysis of the position
    before it, but never more than the analysis of the next position confirms, which looks one ply
    further.

    progress: called with the number of analysed positions and of all. ValueError if the agent
    cannot play the game, IllegalActionError if the record breaks the rules.
    """
    game, positions = record.game, replay(record)
    agent, found = agent_for(game, agent or default_analyst(game)), list[Analysis]()
    for position in positions:
        found.append(analyse(position, agent, rng=np.random.default_rng(seed)))
        if progress:
            progress(len(found), len(positions))
    plies = []
    for number, action in enumerate(record.actions, start=1):
        seen = found[number - 1]
        after, lost = loss_of(action, seen, found[number])
        role, name = seen.position.to_move, game.action_name(action, seen.position)
        plies.append(ReviewedPly(number, role, action, name, seen, after, lost))
    return Review(record, tuple(plies))


def loss_of(
    action: int, seen: Analysis, following: Analysis | None
) -> tuple[float | None, float | None]:
    """Return a move's value for the side that played it, and its loss; None if unknown.

    seen: the analysis of the position before the move. following: of the position after it, which
    limits the loss, and gives the value if `seen` has none for this move.
    """
    known = {move.action: move.value for move in seen.moves}
    after, later = known.get(action), None
    if following is not None and following.value is not None and following.unit == seen.unit:
        same = following.position.to_move == seen.position.to_move
        later = following.value if same else -following.value
    if after is None:
        after = later
    if seen.value is None or after is None:
        return after, 0.0 if action == seen.choice else None
    return after, max(0.0, seen.value - max(after, after if later is None else later))
