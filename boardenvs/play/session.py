"""A game in progress, that people play: with undo and redo, resignation and its record; and
the file that it is kept in, ply by ply, beside the games before it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boardenvs.agents import Agent, agent_for
from boardenvs.agents.base import HistoryAgent
from boardenvs.envs.groups import choose
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.rules import LOSS, WIN
from boardenvs.game.state import IntArray, State
from boardenvs.games import spec_of
from boardenvs.records.formats import format_of, load, save
from boardenvs.records.record import Record, positions
from boardenvs.utils.files import check_writable

HUMAN = "human"  # among the players of a game, one who is no agent


class GameSession:
    """A game from a position on, by default the game's own start.

    players: their names by role, for the record. Whatever raises leaves the game as it was.
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
        # All plies that are known and the positions between them, and how many of them stand.
        self._positions = [start or game.start()]
        self._line: list[int] = []
        self._ply = 0
        self._resigned: int | None = None

    @classmethod
    def of_record(cls, record: Record) -> GameSession:
        """A recorded game after its last ply; IllegalActionError where it breaks the rules."""
        session = cls(record.game, record.start, players=record.players, info=record.info)
        session._positions = list(positions(record))
        session._line = list(record.actions)
        session._ply = len(record.actions)
        resigned = record.info.get("resigned")
        if resigned in record.game.roles:
            session._resigned = record.game.roles.index(resigned)
            del session.info["resigned"]
        return session

    # ---- what is -----------------------------------------------------------------------------

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self._positions[self._ply]

    @property
    def before(self) -> Position | None:
        """The position before the last action; None where there was none."""
        return self._positions[self._ply - 1] if self._ply else None

    @property
    def positions(self) -> tuple[Position, ...]:
        """All positions so far, one more than actions."""
        return tuple(self._positions[: self._ply + 1])

    @property
    def actions(self) -> tuple[int, ...]:
        """What has been played, passes included."""
        return tuple(self._line[: self._ply])

    @property
    def undone(self) -> tuple[int, ...]:
        """What `redo` would play, the next one first."""
        return tuple(self._line[self._ply :])

    @property
    def resigned(self) -> int | None:
        """The role that has resigned, by index."""
        return self._resigned

    @property
    def is_over(self) -> bool:
        """Whether the game has ended: by its rules, by the cap on plies or by resignation."""
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

    @property
    def pieces(self) -> tuple[int, int]:
        """How many pieces each role has on the board."""
        return self.position.pieces(0).bit_count(), self.position.pieces(1).bit_count()

    def legal_actions(self) -> list[int]:
        """The legal actions; none where the game is over."""
        return [] if self.is_over else self.position.legal_actions()

    def record(self) -> Record:
        """The game so far. Who resigned has goal 0, and is named as info `resigned`."""
        start, info = self._positions[0], self.info
        if self._resigned is not None:
            info = {**info, "resigned": self.game.roles[self._resigned]}
        own = None if start == self.game.start() else start
        return Record(self.game, self.actions, own, self.goal, self.players, info)

    def _repr_html_(self) -> str:
        """In a notebook: the game so far on a board to step through."""
        return self.record()._repr_html_()

    # ---- what is done ------------------------------------------------------------------------

    def play(self, action: int) -> None:
        """Play a legal action; IllegalActionError for others, ValueError where the game is over.

        What was undone is forgotten, unless it begins with this action.
        """
        if self.is_over:
            raise ValueError("the game is over: undo a move, or begin a new game")
        if not (0 <= action < self.game.num_actions and self.position.is_legal(action)):
            raise self.position.illegal_action(action)
        ply = self._ply
        if self._line[ply : ply + 1] != [action]:
            self._line[ply:] = [action]
            self._positions[ply + 1 :] = [self.position.step(action)]
        self._ply += 1

    def resign(self, role: int | None = None) -> None:
        """Give the game up, by default for the side to move; ValueError where it is over."""
        if self.is_over:
            raise ValueError("the game is over: nobody can resign")
        self._resigned = self.position.to_move if role is None else role

    def undo(self, plies: int = 1) -> int:
        """Take so many plies back, or as many as there are; returns how many.

        A resignation is taken back first, and counts as none.
        """
        self._resigned = None
        plies = max(0, min(plies, self._ply))
        self._ply -= plies
        return plies

    def undo_to(self, roles: Collection[int]) -> int:
        """Go back to where one of these roles, by index, had a choice before the last ply; returns
        how many plies that took back. 0, and nothing done, where there is no such position.

        So a person who plays against an agent takes back the agent's reply and the move before it.
        """
        if self._resigned is not None:
            self._resigned = None
            return 0
        for plies in range(1, self._ply + 1):
            position = self._positions[self._ply - plies]
            if position.to_move in roles and position.legal_actions() != [self.game.noop]:
                return self.undo(plies)
        return 0

    def redo(self, plies: int = 1) -> int:
        """Play so many plies again that were taken back, or as many as there are; returns how
        many: none after a resignation.
        """
        plies = 0 if self._resigned is not None else max(0, min(plies, len(self.undone)))
        self._ply += plies
        return plies


def default_opponent(game: Game) -> str:
    """The trained policy where the game has one, else tree search, which plays all games."""
    try:
        agent_for(game, "trained")
    except ValueError:
        return "mcts"
    return "trained"


def reply(
    agent: Agent, game: Game, position: Position, seed: int, record: Record | None = None
) -> int:
    """What an agent plays in a position.

    Random choices follow from seed and ply: a move that is taken back and made again is answered
    alike. How the position came about, by the `record` of the game so far, is told to agents that
    want it: those with `wants_history`. IllegalActionError where it plays what is not legal.
    """
    rng = np.random.default_rng([seed, position.ply])
    if record is not None and record.start is None and getattr(agent, "wants_history", False):
        assert isinstance(agent, HistoryAgent)
        agent = _Told(agent, record.actions)
    return int(choose(agent, game, stack([position]), rng)[0])


@dataclass(frozen=True)
class _Told:
    """An agent that is told how the one game came about that it is asked about."""

    agent: HistoryAgent
    actions: Sequence[int]

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return self.agent.act_after(game, state, np.array([self.actions], np.int16), rng)


class GameStore:
    """A file of records in JSON Lines. What was in it stays; the game in progress is its last.

    ValueError where the file has another format, or holds what is no record; OSError where it
    cannot be written. Both before there is a game to lose.
    """

    def __init__(self, path: Path) -> None:
        if format_of(path) != "jsonl":
            raise ValueError(f"{path}: games are kept in JSON Lines, so end the name in .jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(path)
        self.path = path
        self._finished: list[Record] = load(path) if path.exists() else []

    def resume(self) -> GameSession:
        """The file's last game, to go on with; ValueError where there is none, or it is over."""
        if not self._finished:
            raise ValueError(f"{self.path} has no games to go on with")
        session = GameSession.of_record(self._finished[-1])
        if session.is_over:
            raise ValueError(
                f"the last game in {self.path}, of {spec_of(session.game)}, is over: leave "
                "--resume out to begin a new one"
            )
        self._finished.pop()
        return session

    def keep(self, session: GameSession) -> None:
        """Write the game as it stands; one without a move is not kept."""
        game = [session.record()] if session.actions else []
        if game or self.path.exists():
            save(self.path, [*self._finished, *game])

    def begin_another(self, session: GameSession) -> None:
        """Keep this game for good, as another one begins."""
        self.keep(session)
        if session.actions:
            self._finished.append(session.record())
