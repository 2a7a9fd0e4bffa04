"""A game in the terminal: boards printed, moves typed, and every change kept in a file at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from rich.console import Console
from rich.text import Text

from boardenvs.agents import agent_for, analyse, default_analyst
from boardenvs.cli.tables import moves_table
from boardenvs.game.errors import IllegalActionError
from boardenvs.play import HUMAN, GameSession, GameStore, MoveNotation, reply
from boardenvs.render import to_ansi

with contextlib.suppress(ImportError):  # Windows has none
    import readline  # noqa: F401 - lines that are typed can be edited, and earlier ones recalled

_HINTS = 3  # moves

_agent = lru_cache(maxsize=4)(agent_for)


class TerminalGame:
    """A game of those who type."""

    def __init__(
        self,
        session: GameSession,
        store: GameStore,
        notation: MoveNotation,
        console: Console,
        seed: int,
    ) -> None:
        self.session = session
        self._store, self._notation = store, notation
        self._console, self._seed = console, seed
        self._ended = False
        # What each word does with the rest of its line, and a word on it.
        self._commands: dict[str, tuple[Callable[[str], None], str]] = {
            "hint": (self._hint, "what the agent would play, and what it expects"),
            "undo": (self._undo, "take your last move back"),
            "redo": (self._redo, "play again what was taken back"),
            "resign": (self._resign, "give the game up"),
            "level": (self._level, "level AGENT: go on against another agent"),
            "new": (self._new, "begin another game; this one stays in the file"),
            "help": (self._help, "this list; so does ?"),
            "quit": (self._quit, "end the program; --resume goes on"),
        }

    def run(self) -> None:
        """Play until the player quits, or there is no more input."""
        self._console.print("type a move, or help")
        self._show()
        while not self._ended:
            self._turn()

    # ---- who plays -----------------------------------------------------------------------------

    @property
    def _players(self) -> tuple[str, str]:
        return self.session.players or (HUMAN, HUMAN)

    @property
    def _humans(self) -> list[int]:
        return [role for role in (0, 1) if self._players[role] == HUMAN]

    @property
    def _mover(self) -> str:
        return self.session.game.roles[self.session.position.to_move]

    # ---- turns ---------------------------------------------------------------------------------

    def _turn(self) -> None:
        session = self.session
        if session.must_pass:
            self._console.print(f"{self._mover} has no move and passes")
            self._play(session.game.noop)
        elif session.is_over or session.position.to_move in self._humans:
            self._ask()
        else:
            role, name, position = self._mover, self._players[session.position.to_move], None
            position = session.position
            with self._console.status(f"{role}, {name}, is thinking"):
                action = reply(_agent(session.game, name), session.game, position, self._seed)
            self._play(action)
            self._console.print(f"{role} played {self._notation.write(action, position)}")

    def _play(self, action: int) -> None:
        self.session.play(action)
        self._changed()

    def _changed(self) -> None:
        self._store.keep(self.session)
        self._show()

    def _ask(self) -> None:
        """One line of input."""
        prompt = "undo, new or quit" if self.session.is_over else self._mover
        try:
            text = input(f"{prompt}> ").strip()
        except EOFError:
            self._console.print()
            self._ended = True
            return
        word, _, rest = text.partition(" ")
        word = "help" if word == "?" else word.lower()
        try:
            if word in self._commands:
                self._commands[word][0](rest.strip())
            elif text:
                self._play(self._notation.parse(text, self.session.position))
        except IllegalActionError as error:
            self._console.print(f"{error}; or type help", style="red")
        except ValueError as error:
            self._console.print(str(error), style="red")

    # ---- commands ------------------------------------------------------------------------------

    def _hint(self, _: str) -> None:
        session = self.session
        if session.is_over:
            raise ValueError("the game is over: there is no move to look for")
        agents = [name for name in self._players if name != HUMAN]
        name = agents[0] if agents else default_analyst(session.game)
        with self._console.status(f"{name} is thinking"):
            rng = np.random.default_rng(self._seed)
            found = analyse(session.position, _agent(session.game, name), rng=rng)
        self._console.print(moves_table(self._notation, found, _HINTS))

    def _undo(self, _: str) -> None:
        """Back to a person's last choice, or a resignation taken back."""
        resigned = self.session.resigned is not None
        if not self.session.undo_to(self._humans) and not resigned:
            raise ValueError("there is no move of yours to take back")
        self._changed()

    def _redo(self, _: str) -> None:
        """Play again what was taken back, up to a person's turn."""
        if not self.session.redo():
            raise ValueError("there is nothing to play again")
        while self.session.undone and self.session.position.to_move not in self._humans:
            self.session.redo()
        self._changed()

    def _resign(self, _: str) -> None:
        """For the person whose turn it is, or comes next."""
        mover = self.session.position.to_move
        self.session.resign(mover if mover in self._humans else 1 - mover)
        self._changed()

    def _level(self, name: str) -> None:
        seats = [role for role in (0, 1) if role not in self._humans]
        if not name or not seats:
            now = self._players[seats[0]] if seats else "nobody: both sides are yours"
            more = "; level AGENT changes that" if seats else ""
            self._console.print(f"you play against {now}{more}")
            return
        _agent(self.session.game, name)  # ValueError where it cannot play
        first, second = self._players
        self.session.players = (name, second) if seats[0] == 0 else (first, name)
        self._console.print(f"you play against {name} now")

    def _new(self, _: str) -> None:
        """From where this one began."""
        self._store.begin_another(self.session)
        start = self.session.positions[0]
        self.session = GameSession(self.session.game, start, players=self._players)
        self._show()

    def _help(self, _: str) -> None:
        for name, (_run, meaning) in self._commands.items():
            self._console.print(f"  {name:<7} {meaning}")
        self._console.print("anything else is a move, such as one of those listed")

    def _quit(self, _: str) -> None:
        self._ended = True

    # ---- output --------------------------------------------------------------------------------

    def _show(self) -> None:
        """The board, the pieces counted, and the legal moves or the result."""
        session, say = self.session, self._console.print
        legal = not session.is_over and session.position.to_move in self._humans
        last = session.actions[-1] if session.actions else None
        board = to_ansi(session.game, session.position, last, before=session.before, legal=legal)
        say()
        say(Text.from_ansi(board))
        counted = zip(session.game.roles, session.pieces, strict=True)
        say(", ".join(f"{role} has {count}" for role, count in counted))
        if session.is_over:
            say(self._result())
        elif legal and not session.must_pass:
            say(f"moves: {' '.join(self._notation.legal(session.position))}")

    def _result(self) -> str:
        session, roles = self.session, self.session.game.roles
        goal, plies = session.goal or (0.0, 0.0), len(session.actions)
        if goal[0] == goal[1]:
            return f"the game is a draw after {plies} plies"
        winner = roles[goal[1] > goal[0]]
        if session.resigned is not None:
            return f"{roles[session.resigned]} resigned: {winner} wins"
        return f"the game is over after {plies} plies: {winner} wins"
