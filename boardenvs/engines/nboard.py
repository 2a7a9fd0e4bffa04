"""NBoard, a protocol of Othello programs for Othello only.

Source: http://www.orbanova.com/nboard/protocol.htm, version 2. Positions and games are written in
GGF, the Generic Game Format: squares from a1 on with rows counted from the top, "*" for black,
which begins, and "O" for white.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress

from boardenvs.board.bitboard import drawn
from boardenvs.engines.channel import EngineLateError
from boardenvs.engines.protocol import (
    Ended,
    Hint,
    Protocol,
    Server,
    is_othello,
    plain_name,
)
from boardenvs.game.game import Game
from boardenvs.game.notation import PASS
from boardenvs.game.position import Position
from boardenvs.game.session import GameSession
from boardenvs.games import spec_of
from boardenvs.records.sgf import properties_of, read_moves
from boardenvs.utils.checks import quote

_DISCS = "*O"
_SIDES = "BW"
_PASS = "PA"
_STOPPING = 5.0  # seconds in which an engine has to stop when it is asked to


def squares_from_the_top(position: Position) -> str:
    """Return the squares from a1 on, row by row from the top, and then the side to move."""
    signs = drawn([(disc, position.pieces(i)) for i, disc in enumerate(_DISCS)], 64, "-")
    squares = "".join(signs[square] for square in position.game.named_squares)
    return f"{squares} {_DISCS[position.to_move]}"


def in_discs(value: float | None, unit: str) -> float | None:
    """Return an analysis's value in discs, an expected result as 64 of them."""
    return None if value is None else value * 64 if unit == "score" else value


def check_othello(game: Game) -> None:
    """Raise ValueError for a game other than Othello."""
    if not is_othello(game):
        raise ValueError(
            f"NBoard is a protocol for Othello only, not for {spec_of(game)}: use protocol=gtp"
        )


class NBoard(Protocol):
    """Asks an engine over NBoard."""

    title, probe = "NBoard", "nboard 2\nping 1"
    _pings = 1

    @staticmethod
    def knows(line: str) -> bool:
        return line.split() == ["pong", "1"]

    def greet(self) -> None:
        self._wait()

    def begin(self, game: Game, depth: int | None, move_time: float | None) -> None:
        check_othello(game)
        self._played = ()
        if depth is not None:
            self.channel.send([f"set depth {depth}"])

    def ask(self, session: GameSession) -> str:
        self._set_up(session)
        self.channel.send(["go"])
        while not (line := self.channel.line()).startswith("==="):
            pass
        words = line[3:].replace("/", " ").split()
        return words[0] if words else ""

    def hints(self, session: GameSession) -> list[Hint]:
        """Return the last hint of each move, until the engine says that it is done, or its time is
        over.
        """
        self._set_up(session)
        hints, count = dict[str, Hint](), len(session.position.legal_actions())
        self.channel.send([f"hint {count}"])
        with suppress(EngineLateError):
            while True:
                words = self.channel.line().split()
                if words[:1] in (["search"], ["book"]) and (hint := _hint(words)):
                    hints[hint[0][0]] = hint
                elif words == ["status"] or (words[:1] == ["status"] and len(hints) >= count):
                    break
        self.channel.begin(_STOPPING)
        self._wait()
        return list(hints.values())

    def _set_up(self, session: GameSession) -> None:
        """Have the engine set up the position; moves of a game that it has are sent alone."""
        goes_on, plies = self._news(session)
        if goes_on:
            self.channel.send(f"move {_written(name)}" for _, name in plies)
        else:
            moves = "".join(f"{_SIDES[role]}[{_written(name)}]" for role, name in plies)
            head = "GM[Othello]PC[boardenvs]PB[black]PW[white]RE[?]TI[0]TY[8]"
            start = squares_from_the_top(session.start)
            self.channel.send([f"set game (;{head}BO[8 {start}]{moves};)"])
        self._wait()  # its output about the position before is no answer

    def _wait(self) -> None:
        """Wait until the engine has done everything so far."""
        self._pings += 1
        self.channel.send([f"ping {self._pings}"])
        while self.channel.line().split() != ["pong", str(self._pings)]:
            pass


def _written(name: str) -> str:
    return _PASS if name == PASS else name.upper()


def _hint(words: list[str]) -> Hint | None:
    """Return the hint of "search F5d6C3 -1.50 0 12"; None for other words."""
    line = re.findall("[a-h][1-8]|pa", words[1].lower()) if len(words) > 2 else []
    value = re.match(r"\(?([-+]?\d{1,3}(?:\.\d{0,9})?)", words[2]) if line else None
    return (line, float(value[1])) if value else None


class NBoardServer(Server):
    """Answers NBoard for a player of ours."""

    @staticmethod
    def speaks(line: str) -> bool:
        return line.split()[:1] == ["nboard"]

    def answer(self, line: str) -> Iterator[str]:
        command, _, rest = line.strip().partition(" ")
        match command:
            case "nboard":
                yield f"set myname {self.name}"
            case "ping":
                yield f"pong {rest.strip()}"
            case "set" if rest.startswith("game "):
                self._read(rest)
            case "set" if depth := re.fullmatch(r"depth\s+(\d{1,3})", rest.strip()):
                self.limits.depth = int(depth[1])
            case "move":
                self._play(rest)
            case "go":
                began = time.monotonic()
                move, value = self.choose()
                told = "" if value is None else f"{value:.2f}"
                seconds = time.monotonic() - began
                yield f"=== {_written(move)}/{told}/{seconds:.2f}"
            case "hint":
                yield from self._hints(int(rest) if rest.strip().isdecimal() else 1)
            case "analyze":
                self.check_known()
                for ply, position in reversed([*enumerate(self.session.positions)]):
                    analysis = self.player.analyse(position, self.limits)
                    yield f"analysis {ply} {in_discs(analysis.value, analysis.unit) or 0:.2f}"
                yield "status"
            case "learn":
                yield "learned"
            case "quit":
                raise Ended

    def complain(self, wrong: str) -> str:
        return f"status {wrong}"

    def _hints(self, count: int) -> Iterator[str]:
        self.check_known()
        analysis = self.player.analyse(self.position, self.limits)
        for move in analysis.moves[:count]:
            value = in_discs(move.value, analysis.unit)
            names = analysis.names(move.line)
            line = "".join(map(_written, names))
            yield f"search {line} {value or 0:.2f} 0 {analysis.depth}"
        yield "status"

    def _read(self, game: str) -> None:
        properties = properties_of(game)
        name = dict(properties).get("GM", "Othello")
        if plain_name(name) != "othello":
            raise ValueError(f"the game is {quote(name)}: NBoard is for Othello")
        moves, start = read_moves(properties, self.game)
        self.start(start)
        for move in moves:
            self.play(move)

    def _play(self, move: str) -> None:
        self.play(move.split("/")[0])
