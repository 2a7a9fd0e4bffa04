"""A game in the terminal: boards printed, moves typed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from boardenvs.agents import Agent, agent_for, explain
from boardenvs.cli.analyse_tables import explanation_table
from boardenvs.envs.opponent import choose
from boardenvs.game.contract import Game
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.state import stack
from boardenvs.play import GameSession, MoveNotation
from boardenvs.play.store import GameStore
from boardenvs.render import to_ansi

with contextlib.suppress(ImportError):  # Windows has none
    import readline  # noqa: F401 - lines that are typed can be edited, and earlier ones recalled

HUMAN = "human"
_HINTS = 3  # moves


def default_opponent(game: Game) -> str:
    """The trained policy where the game has one, else tree search, which plays all games."""
    try:
        agent_for(game, "trained")
    except ValueError:
        return "mcts"
    return "trained"


class _Command(NamedTuple):
    run: Callable[[str], None]
    help: str


class TerminalGame:
    """A session whose players are `human`, who types, or the texts of agents."""

    def __init__(
        self,
        session: GameSession,
        notation: MoveNotation,
        store: GameStore,
        console: Console,
        seed: int,
    ) -> None:
        self._session, self._notation = session, notation
        self._store, self._console, self._seed = store, console, seed
        self._names = list(session.players or (HUMAN, HUMAN))
        self._humans = tuple(role for role in (0, 1) if self._names[role] == HUMAN)
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
        try:
            self._show()
            while not self._ended:
                self._turn()
        except KeyboardInterrupt:
            self._say("")
            raise typer.Exit(130) from None
        finally:
            self._store.keep(self._session)
            if self._session.actions:
                self._say(f"the game is in {self._store.path}")

    # ---- turns ---------------------------------------------------------------------------------

    def _turn(self) -> None:
        session = self._session
        role = session.game.roles[session.position.to_move]
        if session.must_pass:
            self._say(f"{role} has no move and passes")
            self._play(session.game.noop)
        elif session.is_over or session.position.to_move in self._humans:
            self._ask()
        else:
            self._let_agent_move(role)

    def _let_agent_move(self, role: str) -> None:
        session = self._session
        name = self._names[session.position.to_move]
        with self._console.status(f"{role}, {name}, is thinking"):
            # By ply, so that a move that is taken back and made again is answered alike.
            rng = np.random.default_rng([self._seed, session.position.ply])
            action = int(choose(self._agent(name), session.game, stack([session.position]), rng)[0])
        written = self._notation.write(action, session.position)
        self._play(action)
        self._say(f"{role} played {written}")

    def _agent(self, name: str) -> Agent:
        if name not in self._agents:
            self._agents[name] = agent_for(self._session.game, name)
        return self._agents[name]

    def _play(self, action: int) -> None:
        self._session.play(action)
        self._store.keep(self._session)
        self._show()

    def _ask(self) -> None:
        """One line of input."""
        session = self._session
        prompt = (
            "undo, new or quit" if session.is_over else session.game.roles[session.position.to_move]
        )
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
        session = self._session
        if session.is_over:
            raise ValueError("the game is over: there is no move to look for")
        agents = [name for name in self._names if name != HUMAN]
        name = agents[0] if agents else default_opponent(session.game)
        with self._console.status(f"{name} is thinking"):
            rng = np.random.default_rng(self._seed)
            found = explain(self._agent(name), session.game, session.position, rng)
        self._console.print(explanation_table(self._notation, session.position, found, _HINTS))

    def _undo(self, _: str) -> None:
        resigned = self._session.resigned is not None
        if not self._session.undo_to(self._humans) and not resigned:
            raise ValueError("there is no move of yours to take back")
        self._store.keep(self._session)
        self._show()

    def _redo(self, _: str) -> None:
        session = self._session
        if not session.redo():
            raise ValueError("there is nothing to play again")
        while session.undone and session.position.to_move not in self._humans:
            session.redo()
        self._store.keep(session)
        self._show()

    def _resign(self, _: str) -> None:
        session = self._session
        session.resign()
        self._store.keep(session)
        self._show()

    def _level(self, name: str) -> None:
        seats = [role for role in (0, 1) if role not in self._humans]
        if not name or not seats:
            now = self._names[seats[0]] if seats else "nobody: both sides are yours"
            self._say(f"you play against {now}" + ("; level AGENT changes that" if seats else ""))
            return
        self._agent(name)  # ValueError where it cannot play
        self._names[seats[0]] = name
        self._session.players = (self._names[0], self._names[1])
        self._say(f"you play against {name} now")

    def _new(self, _: str) -> None:
        self._store.begin_another(self._session)
        first = self._session.positions[0]
        self._session = GameSession(
            self._session.game, first, players=(self._names[0], self._names[1])
        )
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
        session = self._session
        last = session.actions[-1] if session.actions else None
        legal = session.position.to_move in self._humans and not session.is_over
        board = to_ansi(session.game, session.position, last, before=session.before, legal=legal)
        self._console.print()
        self._console.print(Text.from_ansi(board))
        counted = zip(session.game.roles, session.pieces, strict=True)
        self._say(", ".join(f"{role} has {count}" for role, count in counted))
        if session.is_over:
            self._say(self._result())
        elif legal and not session.must_pass:
            self._say(f"moves: {' '.join(self._notation.legal(session.position))}")

    def _result(self) -> str:
        session = self._session
        goal = session.goal or (0.0, 0.0)
        if goal[0] == goal[1]:
            return "the game is a draw"
        winner = session.game.roles[goal[1] > goal[0]]
        if session.resigned is not None:
            return f"{session.game.roles[session.resigned]} resigned: {winner} wins"
        return f"the game is over: {winner} wins"

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False)

    def _complain(self, text: str) -> None:
        self._console.print(text, style="red", markup=False)
