"""An engine that is asked for moves: it is started when it is needed, and again when it failed."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NoReturn

from boardenvs.engines.channel import Channel, EngineError, EngineLateError, Limit, escaped
from boardenvs.engines.protocol import Protocol, Question, notation_of, plies_to
from boardenvs.engines.protocols import PROTOCOLS
from boardenvs.engines.transport import Transport
from boardenvs.game.contract import Game, Position
from boardenvs.game.errors import IllegalActionError

MOVE = 60.0  # seconds for a move where no others are given
LAG = 1.0  # seconds that an engine may be late: what it is told is not all that passes
_GAMES = 10_000  # whose times are remembered

Key = tuple[int, tuple[int, ...]]


@dataclass
class Clock:
    """Limits in seconds, None for none; those of games hold where the plies so far are known."""

    move_time: float | None = None
    game_time: float | None = None
    move_cpu: float | None = None
    game_cpu: float | None = None
    # What it took in games so far, by its role and all plies before its last move: games that go on
    # side by side are told apart by these, and those that are still the same take turns.
    _spent: dict[Key, list[tuple[float, float]]] = field(default_factory=dict)

    def taken(self, role: int, actions: Sequence[int]) -> tuple[float, float]:
        """Wall and CPU seconds that the game took so far, which is then forgotten."""
        for end in reversed(range(len(actions))):
            key = role, tuple(actions[:end])
            if key in self._spent:
                found = self._spent[key].pop()
                if not self._spent[key]:
                    del self._spent[key]
                return found
        return 0.0, 0.0

    def limit(self, taken: tuple[float, float]) -> Limit:
        """What is left for a move; EngineLateError where the time for the game is over."""
        wall, cpu = taken
        limit = Limit(
            min(_or(self.move_time, MOVE if self.game_time is None else inf), self.left(wall))
            + LAG,
            min(_or(self.move_cpu, inf), _or(self.game_cpu, inf) - cpu),
        )
        if limit.wall <= 0 or limit.cpu <= 0:
            raise EngineLateError("its time for the game is over")
        return limit

    def left(self, wall: float) -> float:
        """Seconds that are left of a game in which it took so many."""
        return _or(self.game_time, inf) - wall

    def add(self, role: int, actions: Sequence[int], wall: float, cpu: float) -> None:
        """Note what a game took up to the move of this role after these actions."""
        if self.game_time is None and self.game_cpu is None:
            return
        self._spent.setdefault((role, tuple(actions)), []).append((wall, cpu))
        if len(self._spent) > _GAMES:
            del self._spent[next(iter(self._spent))]


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


START = 60.0  # seconds until it answers for the first time, and is ready for a game
_MOST_LATE = 3  # times in a row that it is late before it is asked no more


class Engine:
    """Chooses actions; one thread at a time is answered. Every fault is an `EngineError`.

    start: what starts it.
    protocol: a name in PROTOCOLS; None for what it answers to first.
    """

    def __init__(
        self,
        start: Callable[[], Transport],
        protocol: str | None = None,
        depth: int | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._start = start
        self._protocol = protocol
        self._depth = depth
        self._clock = clock or Clock()
        self._late = 0  # times in a row
        self._used = 0.0  # CPU seconds of those that were ended
        self._lock = threading.Lock()
        self._game: Game | None = None  # that it was told
        self._owner = 0  # the process that started it: after a fork it is not this one's
        self._running: list[Protocol] = []  # one or none
        weakref.finalize(self, _close, self._running)

    def check_game(self, game: Game) -> None:
        """ValueError where it does not start, or cannot play the game."""
        with self._lock:
            try:
                self._ready(game)
            except EngineError as error:
                self._fail(error, ValueError)
            except KeyboardInterrupt:
                self.close()
                raise

    def choose(self, position: Position, actions: Sequence[int]) -> int:
        """A legal action of a position that is not over, to which these led from the start, as far
        as they are known.
        """
        with self._lock:
            if self._late >= _MOST_LATE:
                raise EngineError(f"it was late {_MOST_LATE} times in a row, and is asked no more")
            try:
                action = self._ask(position, actions)
            except EngineLateError as error:
                self._late += 1
                self._fail(error, EngineLateError)
            except (EngineError, ValueError) as error:  # ValueError: it does not play the game
                self._late = 0
                self._fail(error, EngineError)
            except BaseException:  # such as KeyboardInterrupt: nobody will read its answer
                self.close()
                raise
            self._late = 0
            return action

    @property
    def cpu_seconds(self) -> float:
        """What it took so far, and what those took that were ended."""
        return self._used + sum(its.channel.transport.cpu() for its in self._running)

    def close(self) -> None:
        """End it, at once; the next question starts it again."""
        self._used = self.cpu_seconds
        if self._running and self._owner == os.getpid():
            self._running[0].channel.transport.close()
        self._running.clear()

    def _fail(self, error: Exception, kind: type[Exception]) -> NoReturn:
        """Raise what went wrong, with its last lines, and end it."""
        last = self._running[0].channel.last_lines() if self._running else ""
        self.close()
        raise kind(f"the engine failed: {error}" + (f"; {last}" if last else "")) from error

    def _ready(self, game: Game) -> Protocol:
        """It, knowing the game."""
        if not self._running or self._owner != os.getpid():
            self._begin()
        protocol = self._running[0]
        if self._game != game:
            self._game = None
            protocol.channel.begin(Limit(START))
            protocol.begin(game)
            self._game = game
        return protocol

    def _begin(self) -> None:
        """Start it, and find out what it speaks."""
        self._running.clear()
        self._game = None
        try:
            channel = Channel(self._start())
        except OSError as error:
            raise EngineError(f"it cannot be started: {error}") from error
        self._owner = os.getpid()
        known = [PROTOCOLS[self._protocol]] if self._protocol else list(PROTOCOLS.values())
        self._running.append(known[0](channel))
        channel.begin(Limit(START))
        channel.send(kind.probe for kind in known)
        found = None
        while found is None:
            line = channel.line()
            found = next((kind for kind in known if kind.knows(line)), None)
        if self._depth is not None and not found.has_depth:
            raise EngineError("its protocol cannot say a depth: say it in the command")
        self._running[0] = found(channel)
        found.greet(self._running[0])

    def _ask(self, position: Position, actions: Sequence[int]) -> int:
        role, clock = position.to_move, self._clock
        plies = plies_to(position, actions)
        taken = clock.taken(role, actions)
        limit = clock.limit(taken)
        protocol = self._ready(position.game)
        protocol.channel.begin(limit)
        question = Question(
            position,
            plies,
            self._depth,
            clock.move_time,
            None if clock.game_time is None else max(0.0, clock.left(taken[0])),
        )
        answer = protocol.ask(question)
        wall, cpu = protocol.channel.spent()
        try:
            action = notation_of(position.game).parse(answer, position)
        except IllegalActionError as error:
            raise EngineError(f"in {position.fen()!r} {escaped(str(error))}") from None
        clock.add(role, actions, taken[0] + wall, taken[1] + cpu)
        return action


def _close(running: list[Protocol]) -> None:
    for protocol in running:
        protocol.channel.transport.close(protocol.farewell)
