"""A game in the terminal: boards printed, moves typed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.text import Text

from boardenvs.agents import Agent, agent_for, analyse
from boardenvs.cli.tables import moves_table
from boardenvs.game.errors import IllegalActionError
from boardenvs.play import KeptGame, MoveNotation
from boardenvs.play.kept_game import reply
from boardenvs.render import to_ansi

with contextlib.suppress(ImportError):  # Windows has none
    import readline  # noqa: F401 - lines that are typed can be edited, and earlier ones recalled

_HINTS = 3  # moves


class _Command(NamedTuple):
    run: Callable[[str], None]
    help: str


class TerminalGame:
    """A game of those who type."""

    def __init__(self, game: KeptGame, notation: MoveNotation, console: Console, seed: int) -> None:
        self._game, self._notation = game, notation
        self._console, self._seed = console, seed
        self._agents: dict[str, Agent] = {}
        self._ended = False
        self._commands = {
            "hint": _Command(self._hint, "what the agent would play, and what it expects"),
            "undo": _Command(self._undo, "take your last move back"),
            "redo": _Command(self._redo, "play again what was taken back"),
            "resign": _Command(self._resign, "give the game up"),
            "level": _Command(self._level, "level AGENT: go on against another agent"),
            "new": _Command(self._new, "begin another game; this one stays in the file"),
            "help": _Command(self._help, "this list"),
            "quit": _Command(self._quit, "end the program; --resume goes on"),
        }

    def run(self) -> None:
        """Play until the player quits, or there is no more input."""
        self._say("type a move, or help")
        self._show()
        while not self._ended:
            self._turn()

    # ---- turns ---------------------------------------------------------------------------------

    def _turn(self) -> None:
        game = self._game
        if game.session.must_pass:
            self._say(f"{game.mover} has no move and passes")
            self._play(game.session.game.noop)
        elif game.session.is_over or game.is_humans_turn:
            self._ask()
        else:
            self._let_agent_move()

    def _let_agent_move(self) -> None:
        session, role = self._game.session, self._game.mover
        name = self._game.players[session.position.to_move]
        with self._console.status(f"{role}, {name}, is thinking"):
            action = reply(self._agent(name), session.game, session.position, self._seed)
        written = self._notation.write(action, session.position)
        self._play(action)
        self._say(f"{role} played {written}")

    def _agent(self, name: str) -> Agent:
        if name not in self._agents:
            self._agents[name] = agent_for(self._game.session.game, name)
        return self._agents[name]

    def _play(self, action: int) -> None:
        self._game.play(action)
        self._show()

    def _ask(self) -> None:
        """One line of input."""
        session = self._game.session
        prompt = "undo, new or quit" if session.is_over else self._game.mover
        try:
            text = input(f"{prompt}> ").strip()
        except EOFError:
            self._say("")
            self._ended = True
            return
        word, _, rest = text.partition(" ")
        command = self._commands.get(word.lower())
        try:
            if command is not None:
                command.run(rest.strip())
            elif text:
                self._play(self._notation.parse(text, session.position))
        except IllegalActionError as error:
            self._complain(f"{error}; or type help")
        except ValueError as error:
            self._complain(str(error))

    # ---- commands ------------------------------------------------------------------------------

    def _hint(self, _: str) -> None:
        session, name = self._game.session, self._game.adviser
        if session.is_over:
            raise ValueError("the game is over: there is no move to look for")
        with self._console.status(f"{name} is thinking"):
            rng = np.random.default_rng(self._seed)
            found = analyse(session.position, self._agent(name), rng=rng)
        self._console.print(moves_table(self._notation, found, _HINTS))

    def _undo(self, _: str) -> None:
        self._game.undo()
        self._show()

    def _redo(self, _: str) -> None:
        self._game.redo()
        self._show()

    def _resign(self, _: str) -> None:
        self._game.resign()
        self._show()

    def _level(self, name: str) -> None:
        game = self._game
        seats = [role for role in (0, 1) if role not in game.humans]
        if not name or not seats:
            now = game.players[seats[0]] if seats else "nobody: both sides are yours"
            self._say(f"you play against {now}" + ("; level AGENT changes that" if seats else ""))
            return
        self._agent(name)  # ValueError where it cannot play
        game.change_player(seats[0], name)
        self._say(f"you play against {name} now")

    def _new(self, _: str) -> None:
        self._game.new_game()
        self._show()

    def _help(self, _: str) -> None:
        for name, command in self._commands.items():
            self._say(f"  {name:<7} {command.help}")
        self._say("anything else is a move, such as one of those listed")

    def _quit(self, _: str) -> None:
        self._ended = True

    # ---- output --------------------------------------------------------------------------------

    def _show(self) -> None:
        """The board, the pieces counted, and the legal moves or the result."""
        session, legal = self._game.session, self._game.is_humans_turn
        last = session.actions[-1] if session.actions else None
        board = to_ansi(session.game, session.position, last, before=session.before, legal=legal)
        self._console.print()
        self._console.print(Text.from_ansi(board))
        self._say(self._game.counts)
        if session.is_over:
            self._say(self._game.result)
        elif legal and not session.must_pass:
            self._say(f"moves: {' '.join(self._notation.legal(session.position))}")

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False)

    def _complain(self, text: str) -> None:
        self._console.print(text, style="red", markup=False)
