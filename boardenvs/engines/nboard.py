"""NBoard, a protocol of Othello programs for Othello only.

Source: http://www.orbanova.com/nboard/protocol.htm, version 2. Positions and games are written in
GGF, the Generic Game Format: squares from a1 on with rows counted from the top, "*" for black,
which begins, and "O" for white.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from boardenvs.board.bitboard import drawn
from boardenvs.engines.protocol import Ended, MoveQuery, Protocol, Server, is_othello
from boardenvs.game.contract import Game
from boardenvs.game.notation import PASS
from boardenvs.game.position import Position

_DISCS = "*O"
_SIDES = "BW"
_PASS = "PA"
_BOARD = re.compile(r"BO\[8\s+([-*O\s]+)\]")
_MOVE = re.compile(r"(?<=[\];])\s*([BW])\[([^\]/]*)[^\]]*\]")


def squares_from_the_top(position: Position) -> str:
    """Return the squares from a1 on, row by row from the top, and then the side to move."""
    signs = drawn([(disc, position.pieces(i)) for i, disc in enumerate(_DISCS)], 64, "-")
    squares = "".join(signs[square] for square in position.game.named_squares)
    return f"{squares} {_DISCS[position.to_move]}"


def check_othello(game: Game) -> None:
    """ValueError for a game other than Othello."""
    if not is_othello(game):
        raise ValueError(
            f"NBoard is a protocol for Othello only, not for {game.id}: use protocol=gtp"
        )


class NBoard(Protocol):
    """Asks an engine over NBoard."""

    probe = "nboard 2\nping 1"
    _pings = 1

    @staticmethod
    def knows(line: str) -> bool:
        return line.split() == ["pong", "1"]

    def greet(self) -> None:
        self._wait()

    def begin(self, game: Game) -> None:
        check_othello(game)

    def ask(self, query: MoveQuery) -> str:
        plies = query.plies
        start = query.position if plies is None else query.position.game.start()
        moves = "".join(
            f"{_SIDES[ply.role]}[{_PASS if ply.name == PASS else ply.name.upper()}]"
            for ply in plies or ()
        )
        head = "GM[Othello]PC[boardenvs]PB[black]PW[white]RE[?]TI[0]TY[8]"
        self.channel.send([f"set game (;{head}BO[8 {squares_from_the_top(start)}]{moves};)"])
        self._wait()  # its output about the game before is no answer
        self.channel.send(["go"])
        while not (line := self.channel.line()).startswith("==="):
            pass
        move = line[3:].split("/")[0].strip()
        return PASS if move.upper() in (_PASS, "PASS") else move

    def _wait(self) -> None:
        """Wait until the engine has done everything so far."""
        self._pings += 1
        self.channel.send([f"ping {self._pings}"])
        while self.channel.line().split() != ["pong", str(self._pings)]:
            pass


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
            case "move":
                self._play(rest)
            case "go":
                move = self.choose()
                yield f"=== {_PASS if move == PASS else move.upper()}"
            case "quit":
                raise Ended

    def complain(self, wrong: str) -> str:
        return f"status {wrong}"

    def _read(self, game: str) -> None:
        board = _BOARD.search(game)
        text = "".join(board[1].split()) if board else ""
        if board is None or len(text) != 65 or text[64] == "-":
            raise ValueError("the game has no board BO[8 ...] of 64 squares and the side to move")
        squares = list(zip(self.game.named_squares, text, strict=False))
        words = tuple(sum(1 << s for s, c in squares if c == disc) for disc in _DISCS)
        self.start(self.game.position(words, _DISCS.index(text[64])))
        for _, move in _MOVE.findall(game[board.end() - 1 :]):
            self._play(move)

    def _play(self, move: str) -> None:
        name = move.split("/")[0].strip()
        self.play(PASS if name.upper() == _PASS else name)
