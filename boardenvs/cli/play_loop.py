"""A game in the terminal: boards printed, moves typed, and every change kept in a file at once."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from rich.console import Console
from rich.text import Text

from boardenvs.agents import agent_for
from boardenvs.agents.analyse import analyse, default_analyst
from boardenvs.cli.tables import moves_table
from boardenvs.game.errors import IllegalActionError
from boardenvs.play import HUMAN, GameSession, GameStore, choose_action, read_turn
from boardenvs.render import to_ansi

with contextlib.suppress(ImportError):  # Windows has none
    import readline  # noqa: F401 - lines that are typed can be edited, and earlier ones recalled

_HINTS = 3  # moves

_agent = lru_cache(maxsize=4)(agent_for)


@dataclass
class TerminalGame:
    """A game that people play by typing."""

    session: GameSession
    _store: GameStore
    _console: Console
    _seed: int
    _ended: bool = False

    def __post_init__(self) -> None:
        # The docstring of each is its help.
        self._commands = {
            "hint": self._hint,
            "undo": self._undo,
            "resign": self._resign,
            "help": self._help,
            "quit": self._quit,
        }

    def run(self) -> None:
        """Play until the player quits, or there is no more input."""
        self._console.print("type a move, or help")
        self._show()
        while not self._ended:
            self._turn()

    @property
    def _players(self) -> tuple[str, str]:
        return self.session.players or (HUMAN, HUMAN)

    @property
    def _humans(self) -> list[int]:
        return [role for role in (0, 1) if self._players[role] == HUMAN]

    # ---- turns ---------------------------------------------------------------------------------

    def _turn(self) -> None:
        session, game, position = self.session, self.session.game, self.session.position
        side, player = game.sides[position.to_move], self._players[position.to_move]
        if session.must_pass:
            self._console.print(f"{side} has no move and passes")
            self._play(game.noop)
        elif session.is_over or player == HUMAN:
            self._ask("undo or quit" if session.is_over else side)
        else:
            with self._console.status(f"{side}, {player}, is thinking"):
                action = choose_action(session, _agent(game, player), self._seed)
            self._play(action)
            self._console.print(f"{side} played {position.game.usual_name(action, position)}")

    def _play(self, *actions: int) -> None:
        self.session.play_line(actions)
        self._changed()

    def _changed(self) -> None:
        self._store.keep(self.session)
        self._show()

    def _ask(self, prompt: str) -> None:
        """Read and run one line of input."""
        try:
            text = input(f"{prompt}> ").strip()
        except EOFError:
            self._console.print()
            self._ended = True
            return
        command = self._commands.get("help" if text == "?" else text.lower())
        try:
            if command:
                command()
            elif text:
                self._play(*read_turn(text, self.session.position))
        except ValueError as error:
            advice = "; or type help" if isinstance(error, IllegalActionError) else ""
            self._console.print(f"{error}{advice}", style="red")

    # ---- commands ------------------------------------------------------------------------------

    def _hint(self) -> None:
        """Show the move that the agent would play, and the best line."""
        game, position = self.session.game, self.session.position
        if self.session.is_over:
            raise ValueError("the game is over: there is no move to look for")
        agents = [name for name in self._players if name != HUMAN]
        name = agents[0] if agents else default_analyst(game)
        with self._console.status(f"{name} is thinking"):
            analysis = analyse(position, _agent(game, name), rng=np.random.default_rng(self._seed))
        self._console.print(moves_table(analysis, _HINTS))

    def _undo(self) -> None:
        """Take your last move back."""
        if not self.session.undo_to(self._humans):
            raise ValueError("there is no move of yours to take back")
        self._changed()

    def _resign(self) -> None:
        """Give the game up."""
        self.session.resign(self.session.position.to_move)
        self._changed()

    def _help(self) -> None:
        """Show this list."""
        for name, command in self._commands.items():
            said = str(command.__doc__).removesuffix(".")
            self._console.print(f"  {name:<7} {said[0].lower()}{said[1:]}")
        self._console.print("anything else is a move, such as one of those listed")

    def _quit(self) -> None:
        """End the program; --resume goes on."""
        self._ended = True

    # ---- output --------------------------------------------------------------------------------

    def _show(self) -> None:
        """Print the board and how the game ended, what each side has, and the legal moves."""
        session, say = self.session, self._console.print
        legal = not session.is_over and session.position.to_move in self._humans
        at = session.position
        board = to_ansi(session.game, at, session.last, before=session.before, legal=legal)
        say()
        say(Text.from_ansi(board))
        sides = session.game.sides
        counted = zip(sides, session.game.standing(at), strict=True)
        say(", ".join(f"{side} has {count}" for side, count in counted))
        if session.resigned is not None:
            say(f"{sides[session.resigned]} resigned: {sides[1 - session.resigned]} wins")
        elif legal and not session.must_pass:
            say(f"moves: {' '.join(session.game.usual_name(a, at) for a in at.legal_actions())}")
