"""GTP, the Go Text Protocol, as programs of other games speak it too.

Source: https://www.lysator.liu.se/~gunnar/gtp/gtp2-spec-draft2/gtp2-spec.html. A command has a
number, a name and arguments; its answer begins with "=", or "?" and what was wrong, and the number,
and ends with an empty line. Games other than Go are named by `set_game`, as Quarry does; moves are
written as the game writes them. The side that begins is black.

GTP knows no positions, only moves from the start: programs have commands of their own for that.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache

from boardenvs.engines.channel import Channel, EngineError, escaped
from boardenvs.engines.nboard import squares_from_the_top
from boardenvs.engines.protocol import Protocol, Question, is_othello, name_of, notation_of
from boardenvs.engines.server import Ended, Host, Server
from boardenvs.game.contract import Game, Position
from boardenvs.game.fen import parse_position
from boardenvs.utils.checks import quote
from boardenvs.utils.version import __version__

COLOURS = ("black", "white")
POSITION = "boardenvs-position"  # our own command, with a position as `Position.fen` writes it
_GRHINO_POSITION = "grhino-setup_board"
_ANSWER = re.compile(r"([=?])([0-9]{1,9})\b")


def colours(game: Game) -> tuple[str, str]:
    """What the sides are called, by role: where players call them black and white, as they do."""
    sides = notation_of(game).sides
    return sides if sorted(sides) == sorted(COLOURS) else COLOURS


class RefusedError(EngineError):
    """An engine answered a command with what is wrong with it."""


class Gtp(Protocol):
    """Speaks GTP to an engine."""

    probe = "1 protocol_version"
    has_depth = False

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self._number = 1
        self._commands: set[str] = set()

    @staticmethod
    def knows(line: str) -> bool:
        return re.match(r"[=?]1\b", line) is not None

    def greet(self) -> None:
        try:
            self._commands = set(self._say("list_commands"))
        except RefusedError:
            self._commands = set()

    def begin(self, game: Game) -> None:
        wanted = name_of(game)
        if "list_games" in self._commands:
            known = self._say("list_games")
            wanted = next((name for name in known if _plain(name) == _plain(wanted)), "")
            if not wanted:
                shown = escaped(", ".join(known))
                raise ValueError(f"the engine does not play {name_of(game)}; it plays {shown}")
        try:
            if "set_game" in self._commands:
                self._say(f"set_game {wanted}")
            rows, columns = game.shape
            if "boardsize" in self._commands and rows == columns:
                self._say(f"boardsize {rows}")
        except RefusedError as error:
            raise ValueError(f"the engine does not play {wanted}: {error}") from None

    def ask(self, question: Question) -> str:
        names = colours(question.position.game)
        colour = names[question.position.to_move]
        commands = [*self._position(question)]
        if question.left is not None and "time_left" in self._commands:
            commands.append(f"time_left {colour} {int(question.left)} 0")
        elif question.move_time is not None and "time_settings" in self._commands:
            commands.append(f"time_settings 0 {max(1, int(question.move_time))} 1")
        commands.append(f"genmove {colour}")
        # All at once: the engine need not wait for us to have read each answer.
        numbers = [self._send(command) for command in commands]
        *answers, (refused, move) = [self._answer(number) for number in numbers]
        for command, (wrong, lines) in zip(commands, answers, strict=False):
            # Programs of Othello may pass by themselves, and refuse to be told.
            if wrong and not command.endswith(" pass"):
                raise _refused(command, lines)
        if refused:
            raise _refused(commands[-1], move)
        if move[0].lower() == "resign":
            raise EngineError("it resigned")
        return " ".join(move)

    def _position(self, question: Question) -> Iterator[str]:
        """The commands that set up the position."""
        position = question.position
        if question.plies is not None:
            yield "clear_board"
            names = colours(position.game)
            for ply in question.plies:
                yield f"play {names[ply.role]} {ply.name}"
        elif POSITION in self._commands:
            yield f"{POSITION} {position.fen()}"
        elif _GRHINO_POSITION in self._commands and is_othello(position.game):
            yield f"{_GRHINO_POSITION} {squares_from_the_top(position)}"
        else:
            raise EngineError(
                "only moves from the start can be told to it: GTP has no command for a position, "
                f"and it does not know {POSITION}"
            )

    def _say(self, command: str) -> list[str]:
        """The lines of the answer."""
        refused, lines = self._answer(self._send(command))
        if refused:
            raise _refused(command, lines)
        return lines

    def _send(self, command: str) -> int:
        self._number += 1
        self.channel.send([f"{self._number} {command}"])
        return self._number

    def _answer(self, number: int) -> tuple[bool, list[str]]:
        """Whether the command of this number was refused, and the lines of its answer."""
        begun = None
        while begun is None or int(begun[2]) != number:  # what belongs to no question of ours
            begun = _ANSWER.match(line := self.channel.line())
        lines = [line[begun.end() :].strip()]
        while line := self.channel.line():
            lines.append(line)
        return begun[1] == "?", lines


def _refused(command: str, lines: list[str]) -> RefusedError:
    return RefusedError(f"it refuses {command!r}: {escaped(' '.join(lines))}")


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


class GtpServer(Server):
    """Answers GTP."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        found = (name for name in dir(self) if name.startswith("do_"))
        self._commands = sorted(name[3:].replace("boardenvs_", "boardenvs-") for name in found)

    @staticmethod
    def speaks(line: str) -> bool:
        words = re.sub(r"^\d+\s+", "", line).split()
        return bool(words) and hasattr(GtpServer, f"do_{words[0]}")

    def answer(self, line: str) -> Iterator[str]:
        found = re.match(r"\s*(\d*)\s*(\S+)\s*(.*)", line.partition("#")[0])
        if found is None:
            return
        number, command, arguments = found[1], found[2], found[3].split()
        sign, text = "=", ""
        try:
            if command not in self._commands:
                raise ValueError("unknown command")
            name = f"do_{command.replace('-', '_')}"
            if not takes(getattr(GtpServer, name), 1 + len(arguments)):
                raise ValueError("wrong number of arguments")
            text = getattr(self, name)(*arguments)
        except Ended:
            yield f"={number}\n"
            raise
        except ValueError as error:
            sign, text = "?", " ".join(str(error).split())
        yield f"{sign}{number} {text}\n"

    def complain(self, wrong: str) -> str:
        return f"? {wrong}\n"

    # ---- commands: their methods have their arguments ----------------------------------------

    def do_protocol_version(self) -> str:
        return "2"

    def do_name(self) -> str:
        return self.host.name

    def do_version(self) -> str:
        return __version__

    def do_known_command(self, name: str) -> str:
        return str(name in self._commands).lower()

    def do_list_commands(self) -> str:
        return "\n".join(self._commands)

    def do_quit(self) -> str:
        raise Ended

    def do_list_games(self) -> str:
        return name_of(self.host.game)

    def do_set_game(self, *name: str) -> str:
        if _plain(" ".join(name)) != _plain(name_of(self.host.game)):
            raise ValueError("unsupported game")
        self.host.start()
        return ""

    def do_boardsize(self, size: str) -> str:
        if [size, size] != [str(length) for length in self.host.game.shape]:
            raise ValueError("unacceptable size")
        self.host.start()
        return ""

    def do_clear_board(self) -> str:
        self.host.start()
        return ""

    def do_komi(self, points: str) -> str:
        return ""

    def do_time_settings(self, *settings: str) -> str:
        return ""  # the player's text says how long it thinks

    def do_time_left(self, *settings: str) -> str:
        return ""

    def do_boardenvs_position(self, *fen: str) -> str:
        self.host.start(parse_position(self.host.game, " ".join(fen)))
        return ""

    def do_play(self, colour: str, *move: str) -> str:
        self._turn(colour)
        self.host.play(" ".join(move))
        return ""

    def do_genmove(self, colour: str) -> str:
        move = self.do_reg_genmove(colour)
        if not self.host.position.is_over():
            self.host.play(move)
        return move

    def do_reg_genmove(self, colour: str) -> str:
        self._turn(colour)
        return self.host.choose()

    def do_undo(self) -> str:
        self.host.undo()
        return ""

    def do_showboard(self) -> str:
        return self.host.position.fen()

    def do_final_score(self) -> str:
        position: Position = self.host.position
        if not position.is_over():
            raise ValueError("cannot score")
        first, second = position.result()
        if first == second:
            return "0"
        winner = colours(self.host.game)[0 if first > second else 1]
        points = 1
        if self.host.game.margin_counts:
            points = abs(position.own.bit_count() - position.opp.bit_count())
        return f"{winner[0].upper()}+{points}"

    def _turn(self, colour: str) -> None:
        """Have the side of this colour to move; ValueError where it is not its turn."""
        host, names = self.host, colours(self.host.game)
        given = [i for i, name in enumerate(names) if colour.lower() in (name, name[0])]
        if not given:
            raise ValueError(f"{quote(colour)} is no colour: they are {' and '.join(names)}")
        if host.position.to_move != given[0] and host.must_pass():
            host.play_action(host.game.noop)
        if host.position.to_move != given[0]:
            raise ValueError(f"it is the turn of {names[host.position.to_move]}")


@cache
def takes(function: Callable[..., str], arguments: int) -> bool:
    """Whether a function can be called with so many arguments."""
    try:
        inspect.signature(function).bind(*range(arguments))
    except TypeError:
        return False
    return True
