"""An engine that is asked for moves: started when it is needed, and again after a failure."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from boardenvs.engines.channel import Channel, EngineError, EngineLateError, shown
from boardenvs.engines.gtp import Gtp
from boardenvs.engines.nboard import NBoard
from boardenvs.engines.protocol import Protocol
from boardenvs.engines.transport import ProcessTransport
from boardenvs.engines.uci import Uci
from boardenvs.game.errors import HistoryNeededError, IllegalActionError
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.session import GameSession
from boardenvs.games.notation import parse_move

PROTOCOLS: dict[str, type[Protocol]] = {"gtp": Gtp, "nboard": NBoard, "uci": Uci}

MOVE = 60.0  # seconds for a move by default
START = 60.0  # seconds until the first answer, and until it is ready for a game
HINTS = 10.0  # seconds for the values of all moves by default
LAG = 1.0  # seconds that an engine may be late, for all that is beyond its control
_MOST_LATE = 3  # times in a row


class EngineProcess:
    """Asks an engine for actions, one thread at a time. Every fault is an `EngineError`.

    start: starts the engine. protocol: a name in PROTOCOLS; by default the one that it answers to.
    move_time: seconds for a move; by default a minute, of which the engine hears nothing. depth:
    how deep it searches, if its protocol can set that.
    """

    def __init__(
        self,
        start: Callable[[], ProcessTransport],
        protocol: str | None = None,
        move_time: float | None = None,
        depth: int | None = None,
    ) -> None:
        self._start = start
        self._protocol, self._move_time, self._depth = protocol, move_time, depth
        self._late = 0  # times in a row
        self._ended_cpu = 0.0  # CPU seconds of processes that were ended
        self._lock = threading.Lock()
        self._game: Game | None = None  # the game that the engine plays now
        self._owner = 0  # the process that started it, which changes with a fork
        self._running: list[Protocol] = []  # one or none
        weakref.finalize(self, _close, self._running)

    def check_game(self, game: Game) -> None:
        """Raise ValueError if the engine does not start, or does not play the game."""
        with self._lock:
            try:
                self._ready(game)
            except EngineError as error:
                self._fail(error, ValueError)

    def choose(self, session: GameSession) -> int:
        """Return a legal action in a game that is not over."""
        with self._guarded():
            position, protocol = session.position, self._ready(session.game)
            protocol.channel.begin((self._move_time or MOVE) + LAG)
            answer = protocol.ask(session)
            protocol.channel.check_time()
            try:
                return parse_move(answer, position)
            except IllegalActionError as error:
                raise EngineError(f"in {position.fen()!r} {shown(str(error))}") from None

    def hints(self, position: Position) -> dict[int, tuple[float, tuple[int, ...]]]:
        """Return the values of legal actions in discs to the side to move, each with the expected
        play that begins with it, if the engine's protocol has words for that.
        """
        values = {}
        with self._guarded():
            protocol = self._ready(position.game)
            protocol.channel.begin(self._move_time or HINTS)
            for names, value in protocol.hints(GameSession(position.game, position)):
                at, line = position, list[int]()
                with suppress(IllegalActionError):  # a line may have left passes out
                    for name in names:
                        line.append(parse_move(name, at))
                        at = at.step(line[-1])
                if line:
                    values[line[0]] = value, tuple(line)
        return values

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Let one thread at a time ask, and end the engine if it fails."""
        with self._lock:
            if self._late >= _MOST_LATE:
                raise EngineError(f"it was late {_MOST_LATE} times in a row, and is asked no more")
            try:
                yield
            except EngineLateError as error:
                self._late += 1
                self._fail(error, EngineLateError)
            except HistoryNeededError:
                self.close()
                raise
            except (EngineError, ValueError) as error:  # ValueError: it does not play the game
                self._late = 0
                self._fail(error, EngineError)
            except BaseException:  # such as KeyboardInterrupt: nobody will read its answer
                self.close()
                raise
            self._late = 0

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds so far, of processes that were ended too."""
        return self._ended_cpu + sum(its.channel.transport.cpu_seconds() for its in self._running)

    def close(self) -> None:
        """End the engine at once; the next question starts it again."""
        self._ended_cpu = self.cpu_seconds
        if self._running and self._owner == os.getpid():
            self._running[0].channel.transport.close()
        self._running.clear()

    def _fail(self, error: Exception, kind: type[Exception]) -> NoReturn:
        """Raise an error with the engine's last lines, and end the engine."""
        said = [its.channel.last_lines() for its in self._running]
        self.close()
        raise kind("; ".join([f"the engine failed: {error}", *filter(None, said)])) from error

    def _ready(self, game: Game) -> Protocol:
        """Start the engine if it does not run, and tell it the game."""
        if not self._running or self._owner != os.getpid():
            self._begin()
        protocol = self._running[0]
        if self._game != game:
            self._game = None
            protocol.channel.begin(START)
            protocol.begin(game, self._depth, self._move_time)
            self._game = game
        return protocol

    def _begin(self) -> None:
        """Start the engine, and find out its protocol."""
        self._running.clear()
        self._game = None
        try:
            channel = Channel(self._start())
        except OSError as error:
            raise EngineError(f"it cannot be started: {error}") from error
        self._owner = os.getpid()
        kinds = [PROTOCOLS[self._protocol]] if self._protocol else list(PROTOCOLS.values())
        self._running.append(kinds[0](channel))
        channel.begin(START)
        channel.send(dict.fromkeys([*(kind.probe for kind in kinds), Uci.probe]))
        spoken = None
        try:
            while spoken is None:
                line = channel.line()
                spoken = next((kind for kind in kinds if kind.knows(line)), None)
                if spoken is None and Uci.knows(line):
                    raise EngineError("it speaks UCI")
        except EngineError as error:
            names = " or ".join(kind.title for kind in kinds)
            raise type(error)(f"it does not answer in {names}: {error}") from error
        self._running[0] = spoken(channel)
        self._running[0].greet()


def _close(running: list[Protocol]) -> None:
    for protocol in running:
        protocol.channel.transport.close(b"quit\n")
