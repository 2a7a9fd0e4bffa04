"""The two sides of a conversation with an engine, independent of its format."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from boardenvs.board.bitboard import EIGHT
from boardenvs.engines.channel import Channel
from boardenvs.game.game import Game
from boardenvs.game.notation import PASS
from boardenvs.game.position import Position
from boardenvs.game.session import GameSession
from boardenvs.games import Go, spec_of
from boardenvs.games.notation import parse_move
from boardenvs.games.othello import Othello

if TYPE_CHECKING:
    from boardenvs.engines.serve import ServedAgent

_REMEMBERED = 10_000  # parsed moves


# An engine's view of a move: the move and the expected play after it, and its value in discs to the
# side to move.
Hint = tuple[list[str], float]


class Protocol(ABC):
    """Asks an engine in one format. Every method raises `EngineError` if the engine does not answer
    as it should; the channel's clock is running.
    """

    title: ClassVar[str]
    probe: ClassVar[str]  # lines that only an engine of this protocol answers, see `knows`

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        # The start and the moves of the game on the engine's board; () if not known.
        self._played: tuple[object, ...] = ()

    def _news(self, session: GameSession) -> tuple[bool, list[tuple[int, str]]]:
        """Return whether the engine has this game on its board, so that it can keep its memory of
        it, and the plies that it lacks, by role and name. From now on it has them all.
        """
        plies = [(p.to_move, name) for p, name in session.plies]
        before, now = self._played, (session.start, *(plain_name(name) for _, name in plies))
        self._played = now
        goes_on = bool(before) and now[: len(before)] == before
        return goes_on, plies[len(before) - 1 :] if goes_on else plies

    @staticmethod
    @abstractmethod
    def knows(line: str) -> bool:
        """Return whether this line is the answer of an engine of this protocol to the probe."""

    def greet(self) -> None:  # noqa: B027 - UCI leaves it to `begin`, which knows the game
        """Read the remaining answers to probes, and ask for the engine's abilities."""

    @abstractmethod
    def begin(self, game: Game, depth: int | None, move_time: float | None) -> None:
        """Say which game is played, and if given how deep to search and how many seconds there are
        for a move; ValueError if the protocol or the engine does not have the game or depths.
        """

    @abstractmethod
    def ask(self, session: GameSession) -> str:
        """Return the engine's move as it writes it."""

    def hints(self, session: GameSession) -> list[Hint]:
        """Return the engine's views of moves, if the protocol has words for that."""
        return []


@dataclass
class ServedLimits:
    """Limits that the other side sets for a player of ours; None: no limit."""

    seconds: float | None = None  # for the next move
    depth: int | None = None  # or level


class Ended(Exception):  # noqa: N818  # no error
    """The other side has said that it is done."""


class Server(ABC):
    """Answers lines in one format, for a player of ours."""

    def __init__(self, game: Game, name: str, player: ServedAgent) -> None:
        self.game = game
        self.name = f"boardenvs {name}"
        self.is_lost = False  # whether the other side has another position, after an error
        self.player, self.limits = player, ServedLimits()
        # Protocols repeat the whole game for each move.
        self._parse = lru_cache(maxsize=_REMEMBERED)(parse_move)
        self.start()

    @staticmethod
    @abstractmethod
    def speaks(line: str) -> bool:
        """Return whether this first line is in this server's protocol."""

    @abstractmethod
    def answer(self, line: str) -> Iterator[str]:
        """Yield the answer's lines; `Ended` at the end, ValueError for a wrong line."""

    @abstractmethod
    def complain(self, wrong: str) -> str:
        """Return the line that reports an error."""

    @property
    def position(self) -> Position:
        """The current position."""
        return self.session.position

    def start(self, position: Position | None = None) -> None:
        """Begin a new game, from its start or a position."""
        self.session = GameSession(self.game, position)
        self.is_lost = False

    def play(self, move: str) -> None:
        """Play a move; ValueError if it is not legal."""
        self.session.play(self._parse(move, self.position))

    def choose(self) -> tuple[str, float | None]:
        """Return the player's move and its value, without playing it; a pass after the end."""
        self.check_known()
        position, session = self.position, self.session
        if position.is_over():
            return PASS, None
        try:
            action, value = self.player.choose(session, self.limits)
            if not position.is_legal(action):
                raise position.illegal_action(action)
        except ValueError as error:  # the player's fault, not the other side's
            raise RuntimeError(str(error)) from error
        return self.game.action_name(action, position), value

    def check_known(self) -> None:
        """Raise ValueError if the other side has another position."""
        if self.is_lost:
            raise ValueError("there is no position to move in: the last was refused")


def plain_name(name: str) -> str:
    """Return a name or a move without capitals and separators."""
    return re.sub(r"[\W_]", "", name).lower()


def name_of(game: Game) -> str:
    """Return the game's name between engines: "Othello", "Go", or our text of the game."""
    if is_othello(game):
        return "Othello"
    return game.title if isinstance(game, Go) else spec_of(game)  # without komi


def is_othello(game: Game) -> bool:
    """Return whether other programs know the game as Othello: on 8x8, without holes."""
    return isinstance(game, Othello) and not game.holes and game.board == EIGHT
