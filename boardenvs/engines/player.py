"""An engine as a player: "engine:COMMAND,protocol=gtp"."""

from __future__ import annotations

import shlex
import shutil
from typing import Any

import numpy as np

from boardenvs.engines.channel import EngineError
from boardenvs.engines.process import PROTOCOLS, EngineClock, EngineProcess
from boardenvs.engines.transport import ProcessTransport
from boardenvs.game.contract import Game
from boardenvs.game.errors import ForfeitError
from boardenvs.game.state import IntArray, State
from boardenvs.utils.checks import check_name, is_number, quote


class EngineAgent:
    """Asks a program for its moves, over a protocol that game programs speak.

    command: the program and its arguments, quoted as in a shell, which is not used.
    protocol: "gtp" or "nboard"; by default the one that the program answers to first.
    move_time, game_time: seconds for a move, and for all its moves of a game; the program hears
    of them if the protocol has words for that. By default a minute for a move, without a word.

    A program that is late, ends, or answers wrongly loses that game, and is started again for the
    next; `ForfeitError` says for which rows, and why. After being late three times in a row it is
    asked no more. For each move it gets the whole game, so that many games can be played side by
    side. It is not asked for a pass that is the only legal action.
    """

    wants_history = True  # GTP has no other way to describe a position

    def __init__(
        self,
        command: str,
        protocol: str | None = None,
        move_time: float | None = None,
        game_time: float | None = None,
    ) -> None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"{quote(command)} is no command: {error}") from None
        if not words or shutil.which(words[0]) is None:
            raise ValueError(f"there is no program {quote(words[0] if words else command)} to run")
        if protocol is not None:
            check_name("protocol", protocol, PROTOCOLS)
        for name, value in (("move_time", move_time), ("game_time", game_time)):
            if value is not None and not (is_number(value, 0, 1e6) and value):
                raise ValueError(f"{name} is {quote(value)}: it must be more than 0, in seconds")
        self._given = (command, protocol, move_time, game_time)
        self._engine = EngineProcess(
            lambda: ProcessTransport(words), protocol, EngineClock(move_time, game_time)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return EngineAgent, self._given

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of its processes so far, on Linux."""
        return self._engine.cpu_seconds

    def check_game(self, game: Game) -> None:
        """ValueError if the program does not start, or cannot play the game."""
        self._engine.check_game(game)

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        """See `Agent.act`; random numbers are the program's own."""
        return self.act_after(game, state, np.empty((len(state.ply), 0), np.int16), rng)

    def act_after(
        self,
        game: Game,
        state: State,
        actions: IntArray,
        rng: np.random.Generator | None = None,
    ) -> IntArray:
        """See `HistoryAgent.act_after`."""
        return ask_each(self._engine, game, state, actions)


def ask_each(engine: EngineProcess, game: Game, state: State, actions: IntArray) -> IntArray:
    """Return the engine's action in each row; ForfeitError with the rows in which it fails."""
    chosen = np.full(len(state.ply), game.noop, np.int64)
    lost = dict[int, str]()
    for row, position in enumerate(game.positions(state)):
        if position.is_over() or position.legal_actions() == [game.noop]:
            continue
        played = [int(action) for action in actions[row] if action >= 0]
        try:
            chosen[row] = engine.choose(position, played)
        except EngineError as error:
            lost[row] = str(error)
    if lost:
        raise ForfeitError(chosen, lost)
    return chosen
