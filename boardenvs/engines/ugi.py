"""UGI, the Universal Game Interface: UCI, the protocol of chess programs, for any game.

Source: https://github.com/kz04px/cutegames. Moves are written as the game writes them, and
positions as `Position.fen` does: rows from the top, who is to move, the plies played.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from boardenvs.engines.protocol import Protocol, Question
from boardenvs.engines.server import Ended, Server
from boardenvs.game.contract import Game
from boardenvs.game.fen import parse_position

_MOVE_TIME = 1.0  # seconds, of an engine that is told no limit at all: it might never end


class Ugi(Protocol):
    """Speaks UGI to an engine."""

    probe = "ugi"
    has_depth = True

    @staticmethod
    def knows(line: str) -> bool:
        return line.split() == ["ugiok"]

    def greet(self) -> None:
        self._wait()

    def begin(self, game: Game) -> None:
        self.channel.send(["uginewgame"])
        self._wait()

    def ask(self, question: Question) -> str:
        start, moves = "startpos", question.plies
        if moves is None:
            start = f"fen {question.position.fen()}"
        line = f"position {start}"
        if moves:
            line += f" moves {' '.join(ply.name for ply in moves)}"
        self.channel.send([line])
        self._wait()  # what it says of the position before is no answer
        self.channel.send([f"go {self._limits(question)}"])
        while (words := self.channel.line().split())[:1] != ["bestmove"]:
            pass
        return " ".join(words[1:2])

    @staticmethod
    def _limits(question: Question) -> str:
        if question.depth is not None:
            return f"depth {question.depth}"
        if question.left is not None:
            left = ceil(1000 * question.left)
            return f"p1time {left} p2time {left} p1inc 0 p2inc 0"
        return f"movetime {ceil(1000 * (question.move_time or _MOVE_TIME))}"

    def _wait(self) -> None:
        """Until it has done what it was told so far."""
        self.channel.send(["isready"])
        while self.channel.line().split() != ["readyok"]:
            pass


class UgiServer(Server):
    """Answers UGI."""

    @staticmethod
    def speaks(line: str) -> bool:
        return line.split()[:1] == ["ugi"]

    def answer(self, line: str) -> Iterator[str]:
        command, *words = line.split()
        match command:
            case "ugi":
                yield f"id name {self.host.name}"
                yield "id author boardenvs"
                yield "ugiok"
            case "isready":
                yield "readyok"
            case "uginewgame":
                self.host.start()
            case "position":
                self._set(words)
            case "go":
                yield f"bestmove {self.host.choose()}"
            case "query":
                yield f"response {self._say(words)}"
            case "quit":
                raise Ended

    def complain(self, wrong: str) -> str:
        return f"info string {wrong}"

    def _set(self, words: list[str]) -> None:
        fen, moves = words, list[str]()
        if "moves" in words:
            place = words.index("moves")
            fen, moves = words[:place], words[place + 1 :]
        if fen[:1] == ["fen"]:
            self.host.start(parse_position(self.host.game, " ".join(fen[1:])))
        elif fen == ["startpos"]:
            self.host.start()
        else:
            raise ValueError("a position is startpos, or fen and a position")
        for move in moves:
            self.host.play(move)

    def _say(self, words: list[str]) -> str:
        position = self.host.position
        match words:
            case ["p1turn"]:
                return str(position.to_move == 0).lower()
            case ["gameover"]:
                return str(position.is_over()).lower()
            case ["result"]:
                if not position.is_over():
                    return "none"
                first, second = position.result()
                return "draw" if first == second else "p1win" if first > second else "p2win"
            case ["islegal", *move]:
                try:
                    self.host.parse(" ".join(move))
                except ValueError:
                    return "false"
                return "true"
        raise ValueError("queries are p1turn, gameover, result and islegal MOVE")
