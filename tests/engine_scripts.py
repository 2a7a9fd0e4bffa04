"""Engines without processes: scripts that answer, with a clock that only they move, and with every
kind of fault that a program can have.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from boardenvs.agents.each import act_each
from boardenvs.agents.history import History
from boardenvs.engines import EngineProcess, ProcessTransport, ServedAgent, servers_of
from boardenvs.engines.protocol import Ended, ServedLimits
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.session import GameSession
from boardenvs.game.state import IntArray, State
from boardenvs.search.analysis import Analysis, MoveAnalysis

# A script's reaction to a line: bytes that it writes, and seconds that pass.
Doing = Iterable[bytes | float]
Script = Callable[[str], Doing]

END = -1.0  # it ends
CHUNK = 1 << 16  # bytes that are read at once


@dataclass
class Scripted(ProcessTransport):
    """Runs a script, as far as its output is read."""

    script: Script
    time: float = 0.0
    complaints: bytes = b"complaint \x1b[31m\n"
    closed: bool = False
    read_bytes: int = 0
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
            if self.time >= until:
                return None
        return b""

    def now(self) -> float:
        self.time += 1e-6
        return self.time

    def cpu_seconds(self) -> float:
        return 0.0

    def how_it_ended(self) -> str:
        return "with exit code 3"

    def close(self, farewell: bytes = b"") -> None:
        self.closed = True


def last_legal(position: Position) -> int:
    """The move of the engines in tests."""
    return position.legal_actions()[-1]


@dataclass
class Chooser(ServedAgent):
    """The player behind a server in tests; `asked` has the limits that it was asked to keep to."""

    choose_action: Any = last_legal
    asked: list[ServedLimits] = field(default_factory=list)
    check_game: Any = id

    def choose(self, session: GameSession, limits: ServedLimits) -> tuple[int, None]:
        self.asked.append(replace(limits))
        return self.choose_action(session.position), None

    def analyse(self, position: Position, limits: ServedLimits) -> Analysis:
        self.asked.append(replace(limits))
        legal = position.legal_actions()
        moves = [MoveAnalysis(action=a, line=(a,), value=-i / 2) for i, a in enumerate(legal)]
        return Analysis(position=position, moves=tuple(moves), unit="margin", value=0.0, depth=3)


def honest(game: Game, protocol: str, choose: Any = last_legal) -> Script:
    """An engine without faults: our own, or one of chess that speaks UCI."""
    if protocol == "uci":
        return uci(game, choose)
    (kind,) = servers_of(game, protocol)
    player = choose if isinstance(choose, Chooser) else Chooser(choose)
    server = kind(game, "honest", player)

    def answer(line: str) -> Doing:
        try:
            for text in server.answer(line):
                yield f"{text}\n".encode()
        except Ended:
            yield END
        except ValueError as error:
            yield f"{server.complain(str(error))}\n".encode()

    return answer


def uci(game: Game, choose: Any = last_legal) -> Script:
    """A program of chess."""
    session = GameSession(game)

    def answer(line: str) -> Doing:
        nonlocal session
        match line.split():
            case ["uci"]:
                yield b"id name Fish\noption name Hash type spin default 1 min 1 max 9\nuciok\n"
            case ["isready"]:
                yield b"readyok\n"
            case ["position", _, *words]:
                fen, _, moves = " ".join(words).partition("moves")
                session = GameSession(game, parse_position(game, fen) if fen else None)
                session.play_line([game.parse_action(move) for move in moves.split()])
            case ["go", *_]:
                position = session.position
                action = choose(position)
                name = game.action_name(action)
                queens = name[3:] in ("1", "8") and position.word("pawns") >> action % 64 & 1
                yield f"info depth 1 pv {name}\nbestmove {name}{'q' * queens}\n".encode()
            case ["quit"]:
                yield END

    return answer


@dataclass
class Played:
    """A scripted engine as an agent; `started` has every start of it."""

    make: Callable[[int], Script]  # the script of the nth start
    protocol: str | None = None
    move_time: float | None = None
    started: list[Scripted] = field(default_factory=list)
    games_at_once: int = 0
    depth: int | None = None

    def __post_init__(self) -> None:
        self.engine = EngineProcess(self.start, self.protocol, self.move_time, self.depth)

    def start(self) -> ProcessTransport:
        self.started.append(Scripted(self.make(len(self.started))))
        return self.started[-1]

    def act(self, game: Game, state: State, rng: Any, history: History | None = None) -> IntArray:
        return act_each(game, state, history, lambda session, _: self.engine.choose(session))


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
            elif b"bestmove" in words:
                yield b"bestmove " + move + b"\n"
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
    "clears the screen": _in_place(b"\x1b[2J\x1b[H\x07 pwned\n", END),
    "says nothing": _in_place(),
    "says what is no move": _moved(b"nonsense"),
    "plays off the board": _moved(b"z99"),
    "passes though it can move": _moved(b"pass"),
    "ends in the other's words": _in_place(b"=9999999 d3\n\n=== \npong 77\n", 1e9),
}

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


def refusing(script: Script, move: str) -> Script:
    """In GTP, refuse a move that was played."""

    def answer(line: str) -> Doing:
        said, words = list(script(line)), line.split()
        refused = "play" in words[:2] and move == words[-1]
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
