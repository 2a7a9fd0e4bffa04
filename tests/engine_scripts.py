"""Engines without processes: scripts that answer, with a clock that only they move, and with every
kind of fault that a program can have.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boardenvs.engines import EngineProcess, Transport, servers_of
from boardenvs.engines.player import ask_each
from boardenvs.engines.process import EngineClock
from boardenvs.engines.protocol import Ended
from boardenvs.game.contract import Game
from boardenvs.game.position import Position
from boardenvs.game.state import IntArray, State
from boardenvs.games import parse

# A script's reaction to a line: bytes that it writes, and seconds that pass.
Doing = Iterable[bytes | float]
Script = Callable[[str], Doing]

END = -1.0  # it ends
CHUNK = 1 << 16  # bytes that are read at once


@dataclass
class Scripted(Transport):
    """Runs a script, as far as its output is read."""

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
                    if len(doing) > CHUNK:
                        parts = [doing[i : i + CHUNK] for i in range(0, len(doing), CHUNK)]
                        doing, self._ahead = parts[0], itertools.chain(parts[1:], self._ahead)
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
    """The move of the engines in tests."""
    return position.legal_actions()[-1]


def honest(game: Game, protocol: str, choose: Any = last_legal) -> Script:
    """An engine without faults: our own."""
    (kind,) = servers_of(game, protocol)
    server = kind(game, "honest", choose)

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
    """A scripted engine as an agent; `started` has every start of it."""

    make: Callable[[int], Script]  # the script of the nth start
    protocol: str | None = None
    clock: EngineClock = field(default_factory=EngineClock)
    busy: bool = False
    started: list[Scripted] = field(default_factory=list)
    wants_history = True

    def __post_init__(self) -> None:
        self.engine = EngineProcess(self.start, self.protocol, clock=self.clock)

    def start(self) -> Transport:
        self.started.append(Scripted(self.make(len(self.started)), busy=self.busy))
        return self.started[-1]

    def act(self, game: Game, state: State, rng: Any) -> IntArray:
        raise AssertionError("it needs the history")

    def act_after(self, game: Game, state: State, actions: IntArray, rng: Any) -> IntArray:
        return ask_each(self.engine, game, state, actions)


# ---- what engines do wrong -----------------------------------------------------------------------

# A fault takes an honest engine's answers to a question, and returns other ones.
Fault = Callable[[list[bytes]], Doing]


def _in_place(*doing: bytes | float) -> Fault:
    return lambda honestly: doing


def _moved(move: bytes) -> Fault:
    """Answer with another move."""

    def fault(honestly: list[bytes]) -> Doing:
        for said in honestly:
            words = said.split()
            if words and words[0] == b"===":
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
    "dies": _in_place(END),
    "dies after half a line": _half,
    "floods with lines": _flood(b"info depth 1 nodes 2 " * 60 + b"\n"),
    "floods without a line's end": _flood(b"x" * 65536),
    "writes a line of a million": lambda honestly: (b"x" * 1_000_000 + b"\n", *honestly),
    "writes binary": _in_place(bytes(range(256)) * 50),
    "clears the screen": _in_place(b"\x1b[2J\x1b[H\x07 pwned\n", END),
    "says nothing": _in_place(),
    "says what is no move": _moved(b"nonsense"),
    "says no move": _moved(b""),
    "plays off the board": _moved(b"z99"),
    "plays where nothing can": _moved(b"a1-a1"),
    "passes though it can move": _moved(b"pass"),
    "ends in the other's words": _in_place(b"=9999999 d3\n\n=== \npong 77\n", 1e9),
}

# Of lines so short that they count for more than their bytes; slower to read than all others.
SHORT_LINES = _flood(b"\n" * 9999)

# Unusual, but correct.
HABITS: dict[str, Fault] = {
    "ends lines as Windows does": lambda honestly: (x.replace(b"\n", b"\r\n") for x in honestly),
    "talks first": lambda honestly: (b"info d3 is good\nstatus ...\n?\n\xff\n", *honestly),
    "writes byte by byte": lambda honestly: (bytes([c]) for c in b"".join(honestly)),
}


def is_question(line: str) -> bool:
    """Whether a move is asked for."""
    words = line.split()
    return "genmove" in words[:2] or words[:1] == ["go"]


def faulty(script: Script, fault: Fault, when: int, asked: Callable[[str], bool]) -> Script:
    """The script with a fault in answer number `when` to lines that match `asked`."""
    times = itertools.count()

    def answer(line: str) -> Doing:
        if not asked(line) or next(times) != when:
            return script(line)
        return fault([doing for doing in script(line) if isinstance(doing, bytes)])

    return answer


@dataclass
class Composed:
    """A faulty engine derived from a seed: its protocol and game, when and after which lines it
    fails, once or from then on, in its first process or in all, and up to three changes of its
    output.
    """

    seed: int

    def __post_init__(self) -> None:
        rng = self._rng = random.Random(self.seed)
        self.protocol = rng.choice(("gtp", "nboard"))
        self.name = (
            "othello" if self.protocol == "nboard" else rng.choice(("othello", "wolf_and_sheep"))
        )
        self.told = rng.random() < 0.8  # whether the protocol is given, or must be found out
        self.always_faulty = rng.random() < 0.2  # every process, not only the first
        self._from_then_on = rng.random() < 0.3
        self._asked = rng.choice((is_question, is_question, lambda line: True))
        self._when = rng.choice((0, 0, 1, 1, 2, 3, 5, 8))
        self._changes = [rng.choice(_CHANGES) for _ in range(rng.choice((1, 1, 2, 3)))]

    def script(self, number: int) -> Script:
        """The script of the nth process."""
        honestly, times = honest(parse(self.name), self.protocol), itertools.count()

        def answer(line: str) -> Doing:
            if not self._asked(line) or (number and not self.always_faulty):
                return honestly(line)
            time = next(times)
            if time != self._when and not (self._from_then_on and time > self._when):
                return honestly(line)
            doing: list[bytes | float] = list(honestly(line))
            for change in self._changes:
                doing = change(self._rng, doing)
            return doing

        return answer


Change = Callable[[random.Random, list[bytes | float]], list[bytes | float]]


def _with(*inserted: bytes | float) -> Change:
    """Insert one of these somewhere."""

    def change(rng: random.Random, doing: list[bytes | float]) -> list[bytes | float]:
        place = rng.randint(0, len(doing))
        return [*doing[:place], rng.choice(inserted), *doing[place:]]

    return change


def _to_one(edit: Callable[[random.Random, bytes], list[bytes]]) -> Change:
    """Replace one of the outputs."""

    def change(rng: random.Random, doing: list[bytes | float]) -> list[bytes | float]:
        places = [place for place, said in enumerate(doing) if isinstance(said, bytes)]
        if not places:
            return doing
        place = rng.choice(places)
        said = doing[place]
        assert isinstance(said, bytes)
        return [*doing[:place], *edit(rng, said), *doing[place + 1 :]]

    return change


def _scattered(rng: random.Random, said: bytes) -> list[bytes]:
    places = rng.sample(range(len(said)), min(len(said), rng.choice((1, 3, 20))))
    return [bytes(rng.randrange(256) if i in places else b for i, b in enumerate(said))]


def _changed_ply(rng: random.Random, said: bytes) -> list[bytes]:
    other = rng.choice((b"a1", b"h8", b"a1-b2", b"z9", b"pass", b"0", b"", b"--", b"d3 d4"))
    return [re.sub(rb"\b[a-hA-H][1-8](-[a-h][1-8])?\b", other, said)]


def _in_part(rng: random.Random, said: bytes) -> list[bytes]:
    start, end = sorted((rng.randint(0, len(said)), rng.randint(0, len(said))))
    return [said[start:end]]


_CHANGES: tuple[Change, ...] = (
    _with(0.5, 9.0, 70.0, 1e9),
    _with(END),
    _with(b"\n", b"\r", b"?\n", b"=\n\n", b"\x00", b"\x1b[2J\n", b"\xff\xfe\n", b"x" * 70_000),
    _with(b"=1\n\n", b"=99 d3\n\n", b"?2 no\n\n", b"pong 1\n", b"pong 2\n", b"=== D3\n", b"===\n"),
    _to_one(_scattered),
    _to_one(_changed_ply),
    _to_one(_in_part),
    _to_one(lambda rng, said: []),
    _to_one(lambda rng, said: [said] * rng.choice((2, 3, 30))),
    _to_one(lambda rng, said: [bytes([b]) for b in said[:999]]),
    lambda rng, doing: doing[: rng.randint(0, len(doing))],
    lambda rng, doing: [*doing, *[b"x" * 65536] * 80],
)


def on_another_board(script: Script) -> Script:
    """Secretly ignore the last move."""

    def answer(line: str) -> Doing:
        words = line.split()
        if "play" in words[:2]:
            return (f"={words[0]}\n\n".encode(),)
        return script(re.sub(r"[BW]\[..\];\)$", ";)", line))

    return answer


def refusing(script: Script, move: str = "") -> Script:
    """In GTP, refuse a move that was played; by default any move."""

    def answer(line: str) -> Doing:
        said = list(script(line))
        words = line.split()
        refused = "play" in words[:2] and move in (words[-1], "")
        return (f"?{words[0]} illegal move\n\n".encode(),) if refused else said

    return answer


# ---- processes -----------------------------------------------------------------------------------


class Held:
    """A pipe that is held open by a program and by everything that it started."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        os.mkfifo(path)
        self._reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def wait(self, ended: bool) -> None:
        """Wait until nobody holds it, or until somebody does."""
        until = time.monotonic() + 60
        while self._is_free() is not ended:
            assert time.monotonic() < until
            time.sleep(0.01)

    def _is_free(self) -> bool:
        try:
            return not os.read(self._reading, 1)
        except BlockingIOError:
            return False


def run_composed(seed: int) -> None:
    """Run the faulty engine of this seed on standard input and output."""
    script = Composed(seed).script(0)
    for line in sys.stdin:
        for doing in script(line.rstrip("\n")):
            if doing == END:
                return
            if isinstance(doing, bytes):
                sys.stdout.buffer.write(doing)
                sys.stdout.buffer.flush()
            else:
                time.sleep(min(doing, 1000.0))


if __name__ == "__main__":
    open_while_it_runs = os.open(sys.argv[2], os.O_WRONLY)
    run_composed(int(sys.argv[1]))
