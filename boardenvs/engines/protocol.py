"""What is said to engines, whatever the format in which it is said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from boardenvs.engines.channel import Channel
from boardenvs.game.contract import Game, Position
from boardenvs.games import spec_of
from boardenvs.games.notation import MoveNotation
from boardenvs.games.othello import Othello


@dataclass(frozen=True)
class Ply:
    """An action that was taken, and how engines write it."""

    role: int
    name: str


@dataclass(frozen=True)
class Question:
    """The position that an engine is to move in, and how long it may think."""

    position: Position
    plies: tuple[Ply, ...] | None  # from the game's start; None where only the position is known
    depth: int | None = None  # plies to search
    move_time: float | None = None  # seconds
    left: float | None = None  # seconds for the rest of the game


class Protocol(ABC):
    """A format in which an engine is spoken to. `EngineError` where it does not answer as it must;
    the channel's clock has begun.
    """

    probe: ClassVar[str]  # a line, after which an engine that knows the protocol says so,
    has_depth: ClassVar[bool]  # whether it can be told how deep to search
    farewell: ClassVar[bytes] = b"quit\n"

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    @staticmethod
    @abstractmethod
    def knows(line: str) -> bool:
        """Whether it is what only engines of this protocol answer to the probe."""

    @abstractmethod
    def greet(self) -> None:
        """Do what comes before everything else; the probe was answered, others perhaps too."""

    @abstractmethod
    def begin(self, game: Game) -> None:
        """Say which game is to be played; ValueError where protocol or engine do not know it."""

    @abstractmethod
    def ask(self, question: Question) -> str:
        """What the engine plays, as it writes it."""


def plies_to(position: Position, actions: Sequence[int]) -> tuple[Ply, ...] | None:
    """The plies to the position; None where these actions do not lead there from the start."""
    at, plies = position.game.start(), list[Ply]()
    notation = notation_of(position.game)
    for action in actions:
        if not at.is_legal(action):
            return None
        plies.append(Ply(at.to_move, notation.write(action, at)))
        at = at.step(action)
    return tuple(plies) if at == position else None


def notation_of(game: Game) -> MoveNotation:
    """How engines write moves: as players of the game do."""
    return MoveNotation(game)


def name_of(game: Game) -> str:
    """What engines call the game: Othello, or our text for it."""
    return "Othello" if is_othello(game) else spec_of(game)


def is_othello(game: Game) -> bool:
    """Whether others know the game as Othello: it has no holes."""
    return isinstance(game, Othello) and not game.holes
