"""GTP, the Go Text Protocol, which programs of other games speak too.

Source: https://www.lysator.liu.se/~gunnar/gtp/gtp2-spec-draft2/gtp2-spec.html. A command has a
number, a name and arguments. Its answer begins with "=" and the number, or with "?", the number and
an error, and ends with an empty line. `set_game` names games other than Go, as in Quarry; moves are
written as the game's players write them. The side that begins is black. Scores are written as in
SGF: "B+2.5", "B+" in games without points, and "0" for a draw.

GTP has moves from the start but no positions; programs have commands of their own for those.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from boardenvs.engines.channel import Channel, EngineError, shown
from boardenvs.engines.nboard import squares_from_the_top
from boardenvs.engines.protocol import (
    Ended,
    Protocol,
    Server,
    is_othello,
    name_of,
    plain_name,
)
from boardenvs.game.errors import HistoryNeededError
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.notation import PASS
from boardenvs.game.session import GameSession
from boardenvs.games import Go
from boardenvs.utils.checks import quote
from boardenvs.utils.version import __version__

COLOURS = ("black", "white")
POSITION = "boardenvs-position"  # a command of ours, followed by `Position.fen`
COMMANDS = (  # of our server
    "boardenvs-position", "boardsize", "clear_board", "final_score", "genmove", "known_command",
    "komi", "level", "list_commands", "list_games", "name", "play", "protocol_version", "quit",
    "reg_genmove", "set_game", "showboard", "time_left", "time_settings", "undo", "version",
)  # fmt: skip
_MOVES_LEFT = 20  # that a clock is divided by
_GRHINO_POSITION = "grhino-setup_board"
_ANSWER = re.compile(r"([=?])([0-9]{1,9})\b")


def colours(game: Game) -> tuple[str, str]:
    """Return the sides' names by role, which for some games are white and black."""
    return game.sides if sorted(game.sides) == sorted(COLOURS) else COLOURS


class RefusedError(EngineError):
    """An engine refused a command, and said why."""


class Gtp(Protocol):
    """Asks an engine over GTP."""

    title, probe = "GTP", "1 protocol_version"

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self._number = 1
        self._commands: set[str] = set()

    @staticmethod
    def knows(line: str) -> bool:
        return re.match(r"[=?]1\b", line) is not None

    def greet(self) -> None:
        self._commands = set(self._say("list_commands"))

    def begin(self, game: Game, depth: int | None, move_time: float | None) -> None:
        self._played, name, (rows, columns) = (), name_of(game), game.board
        if depth is not None and "level" not in self._commands:
            raise ValueError("the engine has no GTP command `level`: give its own option")
        if "list_games" in self._commands:
            games = self._say("list_games")
            name = {plain_name(its): its for its in games}.get(plain_name(name), "")
            if not name:
                said = shown(", ".join(games))
                raise ValueError(f"the engine does not play {name_of(game)}; it plays {said}")
        settings = {
            "set_game": name,
            "boardsize": rows if rows == columns else None,
            "komi": f"{game.komi:g}" if isinstance(game, Go) else None,
            "level": depth,
            "time_settings": move_time and f"0 {max(1, int(move_time))} 1",
        }
        supported = {k: v for k, v in settings.items() if v is not None and k in self._commands}
        try:
            if supported:
                self._say(*(f"{command} {value}" for command, value in supported.items()))
        except RefusedError as error:
            raise ValueError(f"the engine does not play {name}: {error}") from None

    def ask(self, session: GameSession) -> str:
        colour = colours(session.game)[session.position.to_move]
        move = " ".join(self._say(*self._position(session), f"genmove {colour}"))
        if move.lower() == "resign":
            raise EngineError("it resigned")
        self._played += (plain_name(move),)
        return move

    def _position(self, session: GameSession) -> Iterator[str]:
        """Yield the commands that set up the position."""
        game, start, (goes_on, plies) = session.game, session.start, self._news(session)
        if not goes_on:
            if start == game.start():
                yield "clear_board"
            elif POSITION in self._commands:
                yield f"{POSITION} {start.fen()}"
            elif _GRHINO_POSITION in self._commands and is_othello(game):
                yield f"{_GRHINO_POSITION} {squares_from_the_top(start)}"
            else:
                raise HistoryNeededError(
                    "the engine needs all moves from the start: GTP has no command for a "
                    f"position, and it does not know {POSITION}"
                )
        for role, name in plies:
            yield f"play {colours(game)[role]} {name}"

    def _say(self, *commands: str) -> list[str]:
        """Send commands, all at once, so that the engine does not wait until we have read each
        answer; return the lines of the last answer. RefusedError if one is refused.
        """
        numbers = range(self._number + 1, self._number + 1 + len(commands))
        self._number += len(commands)
        self.channel.send(f"{n} {command}" for n, command in zip(numbers, commands, strict=True))
        answers = [self._answer(number) for number in numbers]
        for command, (refused, lines) in zip(commands, answers, strict=True):
            # Othello programs may have passed by themselves, and then refuse a pass.
            if refused and not command.endswith(" pass"):
                raise RefusedError(f"it refuses {command!r}: {shown(' '.join(lines))}")
        return answers[-1][1]

    def _answer(self, number: int) -> tuple[bool, list[str]]:
        """Return whether the command with this number was refused, and the lines of its answer."""
        begun = None
        while begun is None or int(begun[2]) != number:  # answers that we did not ask for
            begun = _ANSWER.match(line := self.channel.line())
        lines = [line[begun.end() :].strip()]
        while line := self.channel.line():
            lines.append(line)
        return begun[1] == "?", lines


def _number(text: str) -> float:
    if not re.fullmatch(r"-?\d{1,9}(\.\d{1,9})?", text):
        raise ValueError(f"{quote(text)} is no number")
    return float(text)


class GtpServer(Server):
    """Answers GTP for a player of ours."""

    _is_timed = False
    _each = 0.0  # seconds for each move, in addition to those that are left

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._left = [0.0, 0.0]  # seconds by role

    @staticmethod
    def speaks(line: str) -> bool:
        words = re.sub(r"^\d+\s+", "", line).split()
        return bool(words) and words[0] in COMMANDS

    def answer(self, line: str) -> Iterator[str]:
        parts = re.match(r"\s*(\d*)\s*(\S+)\s*(.*)", line.partition("#")[0])
        if parts is None:
            return
        sign, text = "=", ""
        try:
            text = self._do(parts[2], parts[3].split())
        except Ended:
            yield f"={parts[1]}\n"
            raise
        except ValueError as error:
            sign, text = "?", " ".join(str(error).split())
        yield f"{sign}{parts[1]} {text}\n"

    def complain(self, wrong: str) -> str:
        return f"? {wrong}\n"

    def _do(self, command: str, arguments: list[str]) -> str:
        """Carry out a command, and return its answer; ValueError if it is wrong."""
        told = {
            "protocol_version": "2",
            "name": self.name,
            "version": __version__,
            "list_commands": "\n".join(COMMANDS),
            "list_games": name_of(self.game),
            "showboard": self.position.fen(),
        }
        match [command, *arguments]:
            case [_] if command in told:
                return told[command]
            case ["known_command", name]:
                return str(name in COMMANDS).lower()
            case ["final_score"]:
                return self._score()
            case ["quit"]:
                raise Ended
            case ["genmove" | "reg_genmove", colour]:
                move = self._choose(self._turn(colour))
                if command == "genmove" and not self.position.is_over():
                    self.play(move)
                return move
            case ["play", colour, *move_words]:
                self._turn(colour)
                if not (self.position.is_over() and plain_name("".join(move_words)) == PASS):
                    self.play(" ".join(move_words))
            case ["undo"]:
                if not self.session.undo():
                    raise ValueError("cannot undo")
            case ["clear_board"]:
                self.start()
            case ["set_game", *words]:
                if plain_name(" ".join(words)) != plain_name(name_of(self.game)):
                    raise ValueError("unsupported game")
                self.start()
            case ["boardsize", size]:
                if [size, size] != [str(length) for length in self.game.board]:
                    raise ValueError("unacceptable size")
                self.start()
            case ["boardenvs-position", *fen]:
                self.start(parse_position(self.game, " ".join(fen)))
            case ["time_settings", main, period, stones]:
                self._set_clock(_number(main), _number(period), _number(stones))
            case ["time_left", colour, left, stones]:
                self._set_left(colour, _number(left), _number(stones))
            case ["level", number]:
                self.limits.depth = int(_number(number))
            case ["komi", points]:
                self._set_komi(_number(points))
            case _:
                exists = command in COMMANDS
                raise ValueError("wrong number of arguments" if exists else "unknown command")
        return ""

    def _choose(self, role: int) -> str:
        """Return the player's move, and take its time from the clock."""
        began = time.monotonic()
        seconds = max(0.0, self._left[role]) / _MOVES_LEFT + self._each
        self.limits.seconds = max(0.01, 0.9 * seconds) if self._is_timed else None
        move, _ = self.choose()
        self._left[role] -= time.monotonic() - began
        return move

    def _set_clock(self, main: float, period: float, stones: float) -> None:
        self._left = [main] * 2
        self._each = period / stones if stones else 0.0
        # Some seconds for no move mean that there is no clock.
        self._is_timed = bool(stones or (main and not period))

    def _set_left(self, colour: str, seconds: float, stones: float) -> None:
        self._left[self._role(colour)] = 0.0 if stones else seconds
        self._each = seconds / stones if stones else self._each
        self._is_timed = True

    def _set_komi(self, komi: float) -> None:
        """Go on with this komi; ValueError in games without one."""
        if isinstance(self.game, Go):
            game = replace(self.game, komi=komi)
            self.player.check_game(game)
            old, self.game = self.session, game
            self.session = GameSession(self.game, parse_position(self.game, old.start.fen()))
            self.session.play_line(old.actions)
        elif komi:
            raise ValueError(f"{self.game.id} has no komi: it is {quote(komi)}, and must be 0")

    def _score(self) -> str:
        position = self.position
        if not position.is_over():
            raise ValueError("cannot score")
        first, second = position.result()
        if first == second:
            return "0"
        winner = colours(self.game)[0 if first > second else 1]
        points = self.game.won_by(position)
        return f"{winner[0].upper()}+{'' if points is None else f'{points:g}'}"

    def _role(self, colour: str) -> int:
        names = colours(self.game)
        for role, name in enumerate(names):
            if colour.lower() in (name, name[0]):
                return role
        raise ValueError(f"{quote(colour)} is no colour: they are {' and '.join(names)}")

    def _turn(self, colour: str) -> int:
        """Return the role of a colour, after a pass of the other side if it must; ValueError if it
        is not this colour's turn. After the end it is everybody's.
        """
        role = self._role(colour)
        if self.position.to_move != role and self.session.must_pass:
            self.session.play(self.game.noop)
        if self.position.to_move != role and not self.position.is_over():
            raise ValueError(f"it is the turn of {colours(self.game)[self.position.to_move]}")
        return role
