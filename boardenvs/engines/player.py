"""An engine as a player: "engine:COMMAND,protocol=gtp"."""

from __future__ import annotations

import shlex
import shutil
from typing import Any

import numpy as np

from boardenvs.agents.each import act_each
from boardenvs.agents.history import History
from boardenvs.engines.channel import EngineError
from boardenvs.engines.process import PROTOCOLS, EngineProcess
from boardenvs.engines.transport import ProcessTransport
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.session import GameSession
from boardenvs.game.state import IntArray, State
from boardenvs.search.analysis import Analysis, MoveAnalysis
from boardenvs.utils.checks import check_name, check_whole, is_number, quote


class EngineAgent(EngineProcess):
    """Asks a program for its moves, over a protocol that game programs speak.

    command: the program and its arguments, quoted as in a shell, which is not used.
    protocol: "gtp", "nboard" or, in chess, "uci"; by default the one that the program answers to
    first.
    move_time: seconds for a move; the program hears of them if the protocol has words for that.
    By default a minute, without a word; over UCI a second.
    depth: how deep it searches, by NBoard's `set depth`, GTP's `level` or UCI's `go depth`.

    A program that is late, ends, or answers wrongly loses that game, and is started again for the
    next; `ForfeitError` says for which rows, and why. After being late three times in a row it is
    asked no more. Matches play one game after the other, so that it keeps its memory of the game;
    in a game that it does not have on its board it gets all moves. It is not asked for a move
    without a choice.
    """

    games_at_once = 1

    def __init__(
        self,
        command: str,
        protocol: str | None = None,
        move_time: float | None = None,
        depth: int | None = None,
    ) -> None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"{quote(command)} is no command: {error}") from None
        if not words or shutil.which(words[0]) is None:
            raise ValueError(f"there is no program {quote(words[0] if words else command)} to run")
        if protocol is not None:
            check_name("protocol", protocol, PROTOCOLS)
        if move_time is not None and not (is_number(move_time, 0, 1e6) and move_time):
            raise ValueError(f"move_time is {quote(move_time)}: it must be more than 0, in seconds")
        if depth is not None:
            check_whole("depth", depth, 1, 100)
        self._arguments = command, protocol, move_time, depth
        super().__init__(lambda: ProcessTransport(words), protocol, move_time, depth)

    def __reduce__(self) -> tuple[Any, ...]:
        return EngineAgent, self._arguments

    def report(self) -> dict[str, float]:
        """Return the CPU seconds of its processes, by name."""
        return {"CPU_seconds_of_the_program": round(self.cpu_seconds, 2)}

    def act(
        self,
        game: Game,
        state: State,
        rng: np.random.Generator | None = None,
        history: History | None = None,
    ) -> IntArray:
        """Return an action for each board, (B,) int64; random numbers are the program's own.

        HistoryNeededError without the moves so far, if the program has no command for a position.
        """
        return act_each(game, state, history, lambda session, _: self.choose(session))

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """Analyse by the hints of an NBoard program; other programs only name their move.

        ValueError if the program fails.
        """
        legal = position.legal_actions()
        try:
            hints = self.hints(position) if legal != [position.game.noop] else {}
            if hints:
                first = max(hints, key=lambda action: hints[action][0])
            elif len(legal) == 1:
                first = legal[0]
            else:
                first = self.choose(GameSession(position.game, position))
        except EngineError as error:
            raise ValueError(str(error)) from error
        shown = [first, *legal] if hints else [first]  # the first first
        views = {action: (None, (action,)) for action in shown} | hints
        moves = tuple(MoveAnalysis(action=a, line=x, value=v) for a, (v, x) in views.items())
        return Analysis(position=position, unit="margin", moves=moves, choice=first)
