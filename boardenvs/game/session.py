"""A game in progress: plies, which can be taken back, and resignation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.rules import LOSS, WIN


class GameSession:
    """A game from a position on, by default from its start.

    players: names by role, and info: other facts; both are only kept here. A method that raises
    leaves the game unchanged.
    """

    def __init__(
        self,
        game: Game,
        start: Position | None = None,
        *,
        players: tuple[str, str] | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> None:
        self.game = game
        self.players = players
        self.info = dict(info or {})
        self._positions = [start or game.start()]  # one more than actions
        self._actions: list[int] = []
        self._resigned: int | None = None

    @classmethod
    def reaching(cls, position: Position, actions: Sequence[int] = ()) -> GameSession:
        """Return the game that these actions lead to, if they lead from the start to this position;
        else one that begins in it.
        """
        session = cls(position.game)
        with suppress(ValueError):
            session.play_line(actions)
        return session if session.position == position else cls(position.game, position)

    # ---- state -------------------------------------------------------------------------------

    @property
    def start(self) -> Position:
        """The position that the game began from."""
        return self._positions[0]

    @property
    def position(self) -> Position:
        """The current position."""
        return self._positions[-1]

    @property
    def last(self) -> int | None:
        """The last action; None at the start."""
        return self._actions[-1] if self._actions else None

    @property
    def before(self) -> Position | None:
        """The position before the last action; None at the start."""
        return self._positions[-2] if self._actions else None

    @property
    def positions(self) -> tuple[Position, ...]:
        """All positions so far, one more than actions."""
        return tuple(self._positions)

    @property
    def actions(self) -> tuple[int, ...]:
        """The actions so far, passes included."""
        return tuple(self._actions)

    @property
    def plies(self) -> list[tuple[Position, str]]:
        """The plies so far: the position before, and the action in the game's notation."""
        plies = zip(self._positions, self._actions, strict=False)
        return [(position, self.game.action_name(action, position)) for position, action in plies]

    @property
    def resigned(self) -> int | None:
        """The role that has resigned; None if neither has."""
        return self._resigned

    @property
    def is_over(self) -> bool:
        """Whether the game has ended: by its rules, by the limit on plies or by resignation."""
        return self._resigned is not None or self.position.is_over()

    @property
    def must_pass(self) -> bool:
        """Whether the side to move can only pass."""
        return not self.is_over and self.position.legal_actions() == [self.game.noop]

    @property
    def goal(self) -> tuple[float, float] | None:
        """The goal values by role, 100, 50 or 0; None until the game is over."""
        if self._resigned is not None:
            return (LOSS, WIN) if self._resigned == 0 else (WIN, LOSS)
        return self.position.result() if self.is_over else None

    def legal_actions(self) -> list[int]:
        """Return the legal actions; empty if the game is over."""
        return [] if self.is_over else self.position.legal_actions()

    # ---- changes -----------------------------------------------------------------------------

    def play(self, action: int) -> None:
        """Play a legal action; IllegalActionError for others, ValueError if the game is over."""
        if self.is_over:
            raise ValueError("the game is over: undo a move, or begin a new game")
        self._positions.append(self.position.step(action))
        self._actions.append(action)

    def play_line(self, actions: Sequence[int]) -> None:
        """Play actions one after the other; see `play`."""
        for action in actions:
            self.play(action)

    def resign(self, role: int) -> None:
        """Resign for a role; ValueError if the game is over."""
        if self.is_over:
            raise ValueError("the game is over: nobody can resign")
        self._resigned = role

    def undo(self, plies: int = 1) -> int:
        """Take back n plies, or as many as there are; return how many.

        A resignation is taken back first, and does not count.
        """
        self._resigned = None
        plies = max(0, min(plies, len(self._actions)))
        kept = len(self._actions) - plies
        del self._actions[kept:], self._positions[kept + 1 :]
        return plies

    def undo_to(self, roles: Collection[int]) -> bool:
        """Take back a resignation, or go back to the last earlier position in which one of these
        roles had a choice; return whether there was one or the other.

        Against an agent this takes back its reply together with the move before it.
        """
        if self._resigned is not None:
            self._resigned = None
            return True
        for plies, position in enumerate(reversed(self._positions[:-1]), start=1):
            if position.to_move in roles and position.legal_actions() != [self.game.noop]:
                return self.undo(plies) > 0
        return False
