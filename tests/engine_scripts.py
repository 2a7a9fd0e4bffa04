"""Engines without processes: a script answers, time passes only where it says so, and it can be
made to do wrong in all the ways that a program can.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from boardenvs.engines import Engine, Host, Transport, servers_of
from boardenvs.engines.clock import Clock
from boardenvs.engines.player import ask_each
from boardenvs.engines.server import Ended
from boardenvs.game.contract import Game, Position
from boardenvs.game.state import IntArray, State

# What a script does with a line: bytes that it writes, or seconds that it takes.
Doing = Iterable[bytes | float]
Script = Callable[[str], Doing]

END = -1.0  # it ends


@dataclass
class Scripted(Transport):
    """Runs a script; what it does lies ahead until it is read."""

    script: Script
    time: float = 0.0
    cpu_time: float = 0.0
    closed: bool = False
    read_bytes: int = 0
    busy: bool = False  # whether time that passes is CPU time
    _ahead: Iterator[bytes | float] = field(default_factory=lambda: iter(()))
    _left: float = 0.0
    _ended: bool = False

    def write(self, data: bytes) -> None:
        lines = data.decode().splitlines()
        more = itertools.chain.from_iterable(self.script(line) for line in lines)
        self._ahead = itertools.chain(self._ahead, more)

    def read(self, seconds: float) -> bytes | None:
        assert not self.closed
        assert 0 <= seconds < 1000
        until = self.time + seconds
        while not self._ended:
            if not self._left:
                doing = next(self._ahead, None)
                if isinstance(doing, bytes) and doing:
                    self.read_bytes += len(doing)
                    return doing
                self._ended = doing == END
                self._left = float("inf") if doing is None else max(0.0, float(doing or 0))
            passing = min(self._left, until - self.time)
            nothing_to_do = self._left == float("inf")
            self._left = 0.0 if nothing_to_do else self._left - passing
            self.time += passing
            self.cpu_time += passing * self.busy
            if self.time >= until:
                return None
        return b""

    def now(self) -> float:
        self.time += 1e-6
        return self.time

    def cpu(self) -> float:
        return self.cpu_time

    def complaints(self) -> bytes:
        return b"complaint \x1b[31m\n"

    def close(self, farewell: bytes = b"") -> None:
        self.closed = True


def last_legal(position: Position, actions: Any) -> int:
    """What the engines of tests play."""
    return position.legal_actions()[-1]


def honest(game: Game, protocol: str, choose: Any = last_legal) -> Script:
    """An engine that does nothing wrong: our own."""
    (kind,) = servers_of(game, protocol)
    server = kind(Host(game, "honest", choose))

    def answer(line: str) -> Doing:
        try:
            for text in server.answer(line):
                yield f"{text}\n".encode()
        except Ended:
            yield END
        except ValueError as error:
            yield f"{server.complain(str(error))}\n".encode()

    return answer


@dataclass
class Played:
    """An engine of scripts as an agent; `started` are those that were started for it."""

    make: Callable[[int], Script]  # the script of the engine that is started as the nth
    protocol: str | None = None
    clock: Clock = field(default_factory=Clock)
    busy: bool = False
    started: list[Scripted] = field(default_factory=list)
    wants_history = True

    def __post_init__(self) -> None:
        self.engine = Engine(self.start, self.protocol, clock=self.clock)

    def start(self) -> Transport:
        self.started.append(Scripted(self.make(len(self.started)), busy=self.busy))
        return self.started[-1]

    def act(self, game: Game, state: State, rng: Any) -> IntArray:
        raise AssertionError("it is not told how the games came about")

    def act_after(self, game: Game, state: State, actions: IntArray, rng: Any) -> IntArray:
        return ask_each(self.engine, game, state, actions)


# ---- what engines do wrong -----------------------------------------------------------------------

# Each takes an honest script's answers to a question for a move, and gives others in their place.
Fault = Callable[[list[bytes]], Doing]


def _in_place(*doing: bytes | float) -> Fault:
    return lambda honestly: doing


def _moved(move: bytes) -> Fault:
    """Another move than the engine's own."""

    def fault(honestly: list[bytes]) -> Doing:
        for said in honestly:
            words = said.split()
            if words and words[0] in (b"bestmove", b"==="):
                yield words[0] + b" " + move + b"\n"
            elif words and words[0][:1] == b"=":
                yield words[0] + b" " + move + b"\n\n"
            else:
                yield said

    return fault


def _half(honestly: list[bytes]) -> Doing:
    said = b"".join(honestly)
    return said[: len(said) // 2], END


def _flood(chunk: bytes) -> Fault:
    return lambda honestly: itertools.repeat(chunk)


FAULTS: dict[str, Fault] = {
    "sleeps": _in_place(1e9),
    "sleeps and answers": lambda honestly: (1000.0, *honestly),
    "drips": lambda honestly: (x for c in b"".join(honestly) for x in (9.0, bytes([c]))),
    "dies": _in_place(END),
    "dies after half a line": _half,
    "writes no line's end": lambda honestly: (b"".join(honestly).rstrip(b"\n"),),
    "floods with lines": _flood(b"info depth 1 nodes 2\n" * 1000),
    "floods with empty lines": _flood(b"\n" * 9999),
    "floods without a line's end": _flood(b"x" * 65536),
    "floods with zeros": _flood(bytes(65536)),
    "writes a line of a million": lambda honestly: (b"x" * 1_000_000 + b"\n", *honestly),
    "writes binary": _in_place(bytes(range(256)) * 50),
    "writes binary lines": _in_place(b"\xff\xfe\x00\n" * 500),
    "clears the screen": _in_place(b"\x1b[2J\x1b[H\x07 pwned\n", END),
    "says nothing": _in_place(),
    "says what is no move": _moved(b"nonsense"),
    "says no move": _moved(b""),
    "says a move of a million": _moved(b"a1" * 500_000),
    "plays off the board": _moved(b"z99"),
    "plays where nothing can": _moved(b"a1-a1"),
    "passes though it can move": _moved(b"pass"),
    "plays a number": _moved(b"-1"),
    "says what is no text": _moved(b"\xc3\x28\xff"),
    "says a move in braces": _moved(b"{0.__class__}%s%n"),
    "asks to be run": _moved(b"__import__('os').abort()"),
    "ends in the other's words": _in_place(b"=9999999 d3\n\nbestmove\n=== \npong 77\n", 1e9),
}

# What is unusual, and not wrong.
HABITS: dict[str, Fault] = {
    "ends lines as Windows does": lambda honestly: (x.replace(b"\n", b"\r\n") for x in honestly),
    "talks first": lambda honestly: (b"info d3 is good\nstatus ...\n?\n\xff\n", *honestly),
    "writes byte by byte": lambda honestly: (bytes([c]) for c in b"".join(honestly)),
    "takes its time": lambda honestly: (1.5, *honestly),
    "says it twice": lambda honestly: (*honestly, *honestly),
}


def is_question(line: str) -> bool:
    """Whether a move is asked for."""
    words = line.split()
    return "genmove" in words[:2] or words[:1] == ["go"]


def faulty(script: Script, fault: Fault, when: int, asked: Callable[[str], bool]) -> Script:
    """The script, but that it answers by the fault what is `asked` for the time number `when`."""
    times = itertools.count()

    def answer(line: str) -> Doing:
        if not asked(line) or next(times) != when:
            return script(line)
        return fault([doing for doing in script(line) if isinstance(doing, bytes)])

    return answer


def on_another_board(script: Script) -> Script:
    """Takes back, in secret, what was played last."""

    def answer(line: str) -> Doing:
        words = line.split()
        if "play" in words[:2]:
            return (f"={words[0]}\n\n".encode(),)
        if "moves" in words:
            line = line.rsplit(" ", 1)[0]
        return script(re.sub(r"[BW]\[..\];\)$", ";)", line))

    return answer


def refusing(script: Script, move: str = "") -> Script:
    """Says, in GTP, that a move that was played is not legal; by default any."""

    def answer(line: str) -> Doing:
        said = list(script(line))
        words = line.split()
        refused = "play" in words[:2] and move in (words[-1], "")
        return (f"?{words[0]} illegal move\n\n".encode(),) if refused else said

    return answer
