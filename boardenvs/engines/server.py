"""The other way: a player of ours as an engine, on standard input and output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import IO

from boardenvs.engines.protocol import notation_of
from boardenvs.game.contract import PASS, Game, Position

_MAX_LINE = 1 << 16  # characters
_KEPT = 10_000  # moves whose meaning is remembered

# What is played in a position, to which these actions led from the game's start if that is known.
Choose = Callable[[Position, Sequence[int]], int]


class Ended(Exception):  # noqa: N818  # it is no error
    """The other side has said that it is done."""


class Host:
    """The game that is played, and the player."""

    def __init__(self, game: Game, name: str, choose: Choose) -> None:
        self.game = game
        self.name = f"boardenvs {name}"
        self._choose = choose
        self._notation = notation_of(game)
        # A game is told again for each of its moves.
        self._parse = lru_cache(maxsize=_KEPT)(self._notation.parse)
        self.start()

    @property
    def position(self) -> Position:
        """Where the game stands."""
        return self._positions[-1]

    def start(self, position: Position | None = None) -> None:
        """Begin anew, at the start or a position."""
        self._positions = [self.game.start() if position is None else position]
        self._actions: list[int] = []
        self.is_wrong = False  # the other side's position is another, as its last was refused

    def parse(self, move: str) -> int:
        """The action that a move means; IllegalActionError, a ValueError, where it is not legal."""
        return self._parse(move, self.position)

    def play(self, move: str) -> None:
        """Play what the other side says; ValueError where it is not legal."""
        self.play_action(self.parse(move))

    def play_action(self, action: int) -> None:
        """Play a legal action."""
        self._positions.append(self.position.step(action))
        self._actions.append(action)

    def undo(self) -> None:
        """Take the last ply back; ValueError where there is none."""
        if not self._actions:
            raise ValueError("cannot undo")
        self._positions.pop()
        self._actions.pop()

    def must_pass(self) -> bool:
        """Whether the side to move can only pass."""
        return self.position.legal_actions() == [self.game.noop]

    def choose(self) -> str:
        """What the player plays here; it is not played yet. A pass where the game is over."""
        if self.is_wrong:
            raise ValueError("there is no position to move in: the last was refused")
        position = self.position
        if position.is_over():
            return PASS
        from_start = self._positions[0] == self.game.start()
        try:
            action = self._choose(position, self._actions if from_start else ())
            if not position.is_legal(action):
                raise position.illegal_action(action)
        except ValueError as error:  # the player's fault, not the other side's
            raise RuntimeError(str(error)) from error
        return self._notation.write(action, position)


class Server(ABC):
    """Answers lines in one protocol."""

    def __init__(self, host: Host) -> None:
        self.host = host

    @staticmethod
    @abstractmethod
    def speaks(line: str) -> bool:
        """Whether the first line that came is of this protocol."""

    @abstractmethod
    def answer(self, line: str) -> Iterator[str]:
        """The lines that answer a line; `Ended` at the end, ValueError for what is wrong in it."""

    @abstractmethod
    def complain(self, wrong: str) -> str:
        """The line that says what is wrong."""


def serve(
    host: Host, servers: Sequence[type[Server]], lines_in: IO[str], lines_out: IO[str]
) -> None:
    """Answer lines until the other side ends; its first line says which of the protocols it is.

    What is wrong in a line is answered, and lines that are of no protocol are passed over.
    """
    server: Server | None = None
    while line := lines_in.readline(_MAX_LINE):
        if server is None:
            kind = servers[0] if len(servers) == 1 else None
            kind = kind or next((known for known in servers if known.speaks(line)), None)
            if kind is None:
                continue
            server = kind(host)
        try:
            for answer in server.answer(line):
                print(answer, file=lines_out, flush=True)
        except Ended:
            return
        except ValueError as error:
            host.is_wrong = True
            print(server.complain(" ".join(str(error).split())), file=lines_out, flush=True)
