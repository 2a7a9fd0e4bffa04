"""A game that was played, gone through by an agent: what each move was worth, and what was better.

found = review(record, make_agent("alphabeta:depth=6"))
for ply in found.largest_losses(3):
    print(ply.number, ply.name, ply.lost, ply.best.name)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from boardenvs.agents.base import Agent
from boardenvs.agents.explain import Explanation, MoveExplanation, Unit, explain
from boardenvs.records.record import Record, replay


@dataclass(frozen=True)
class ReviewedPly:
    """A ply of a game, and what the agent thinks of it. Values are for the side that played it."""

    number: int  # from 1
    role: int
    action: int
    name: str  # as players write it
    explanation: Explanation  # of the position before the ply
    before: float | None  # the value of the move that the agent would play
    after: float | None  # the value of the move that was played

    @property
    def best(self) -> MoveExplanation:
        """What the agent would have played."""
        return self.explanation.moves[0]

    @property
    def is_choice(self) -> bool:
        """Whether there was another legal move."""
        return len(self.explanation.moves) > 1

    @property
    def agrees(self) -> bool:
        """Whether the agent would have played this too."""
        return self.action == self.best.action

    @property
    def lost(self) -> float | None:
        """What the move gave away, in the explanation's unit: 0 or more; None where that is not
        known.
        """
        if self.agrees:
            return 0.0
        if self.before is None or self.after is None:
            return None
        return max(0.0, self.before - self.after)


@dataclass(frozen=True)
class RoleSummary:
    """How one side played, by the moves for which it had a choice."""

    role: str
    choices: int  # plies with more than one legal move
    agreed: int  # of these, those that the agent would have played
    lost: dict[Unit, float]  # in all, by unit
    worst: ReviewedPly | None  # the largest loss; see `Review.largest_losses`


@dataclass(frozen=True)
class Review:
    """A recorded game and what an agent thinks of its plies."""

    record: Record
    plies: tuple[ReviewedPly, ...]

    @property
    def summaries(self) -> tuple[RoleSummary, RoleSummary]:
        """Both sides, by role."""
        return self._summary(0), self._summary(1)

    def largest_losses(
        self, count: int, *, role: int | None = None, unit: Unit | None = None
    ) -> list[ReviewedPly]:
        """The plies that gave most away, at most so many; proven losses come before others."""
        losing = [
            ply
            for ply in self.plies
            if ply.lost and role in (None, ply.role) and unit in (None, ply.explanation.unit)
        ]
        return sorted(losing, key=_weight, reverse=True)[:count]

    def _summary(self, role: int) -> RoleSummary:
        choices = [ply for ply in self.plies if ply.role == role and ply.is_choice]
        lost: dict[Unit, float] = {}
        for ply in choices:
            if ply.lost is not None:
                unit = ply.explanation.unit
                lost[unit] = lost.get(unit, 0.0) + ply.lost
        return RoleSummary(
            role=self.record.game.roles[role],
            choices=len(choices),
            agreed=sum(ply.agrees for ply in choices),
            lost=lost,
            worst=next(iter(self.largest_losses(1, role=role)), None),
        )


def review(
    record: Record,
    agent: Agent,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Review:
    """Have an agent explain every position of a game in which a move was made.

    `progress` is told how many of how many plies are done. ValueError where the agent cannot play
    the game; IllegalActionError where the record breaks the rules.
    """
    game, positions = record.game, replay(record)
    explanations = []
    for done, position in enumerate(positions[:-1], start=1):
        explanations.append(explain(agent, game, position, np.random.default_rng(seed)))
        if progress:
            progress(done, len(record.actions))
    plies = []
    for ply, action in enumerate(record.actions):
        following = explanations[ply + 1] if ply + 1 < len(explanations) else None
        found = explanations[ply]
        plies.append(
            ReviewedPly(
                number=ply + 1,
                role=positions[ply].to_move,
                action=action,
                name=game.action_name(action, positions[ply]),
                explanation=found,
                before=found.moves[0].value,
                after=_value_of(found, action, following),
            )
        )
    return Review(record, tuple(plies))


def _value_of(found: Explanation, action: int, following: Explanation | None) -> float | None:
    """The value of a move to who made it: as the agent saw it before the move, or else after it."""
    for move in found.moves:
        if move.action == action and move.value is not None:
            return move.value
    if following is None or following.value is None or following.unit != found.unit:
        return None
    return -following.value  # the turn passes with every ply


def _weight(ply: ReviewedPly) -> tuple[bool, float]:
    return ply.explanation.exact, ply.lost or 0.0
