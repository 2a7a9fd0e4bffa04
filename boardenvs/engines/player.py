"""An engine as a player: "engine:COMMAND,protocol=gtp"."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from boardenvs.engines.channel import EngineError
from boardenvs.engines.engine import Clock, Engine
from boardenvs.engines.protocols import PROTOCOLS
from boardenvs.engines.transport import ProcessTransport
from boardenvs.game.contract import Game
from boardenvs.game.errors import ForfeitError
from boardenvs.game.state import IntArray, State
from boardenvs.utils.checks import check_name, is_number, is_whole, quote

_LIMITS = ("move_time", "game_time", "move_cpu", "game_cpu")


class EngineAgent:
    """Asks a program for its moves, in a protocol that programs of games speak.

    command: the program and its arguments as in a shell, though no shell has a part in it.
    protocol: "gtp", "nboard" or "ugi"; by default what the program answers to first.
    depth: how many plies it searches, where the protocol can say so.
    move_time, game_time: seconds that it has for a move, and for all its moves of a game; it is
    told where the protocol can say so. By default a minute for a move, which it is not told.
    move_cpu, game_cpu: the same in seconds of CPU of all its processes, on Linux; it is not told.

    A program that is late, ends, or answers what it must not loses that game, and is started again
    for the next; `ForfeitError` says which rows have no answer, and why. It is told for each move
    all that was played before, so that many games can go on side by side. A pass that is the only
    action is not asked for. Where it is late three times in a row it is asked no more.
    """

    def __init__(
        self,
        command: str,
        protocol: str | None = None,
        depth: int | None = None,
        move_time: float | None = None,
        game_time: float | None = None,
        move_cpu: float | None = None,
        game_cpu: float | None = None,
    ) -> None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"{quote(command)} is no command: {error}") from None
        if not words or shutil.which(words[0]) is None:
            raise ValueError(f"there is no program {quote(words[0] if words else command)} to run")
        if protocol is not None:
            check_name("protocol", protocol, PROTOCOLS)
            if depth is not None and not PROTOCOLS[protocol].has_depth:
                raise ValueError(f"{protocol} cannot say a depth: say it in the command")
        if depth is not None and not is_whole(depth, 1, 1000):
            raise ValueError(f"depth is {quote(depth)}: it must be 1 to 1000 plies")
        limits = move_time, game_time, move_cpu, game_cpu
        for name, value in zip(_LIMITS, limits, strict=True):
            if value is not None and not (is_number(value, 0, 1e6) and value):
                raise ValueError(f"{name} is {quote(value)}: it must be more than 0, in seconds")
        if (move_cpu or game_cpu) and not Path("/proc/self/stat").exists():
            raise ValueError("the CPU time of programs is known on Linux alone")
        self._given = (command, protocol, depth, *limits)
        self._engine = Engine(lambda: ProcessTransport(words), protocol, depth, Clock(*limits))

    def __reduce__(self) -> tuple[Any, ...]:
        return EngineAgent, self._given

    wants_history = True  # GTP has no other way

    @property
    def cpu_seconds(self) -> float:
        """What its processes took so far, on Linux."""
        return self._engine.cpu_seconds

    def check_game(self, game: Game) -> None:
        """ValueError where the program does not start, or cannot play the game."""
        self._engine.check_game(game)

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        """Chance is the program's own."""
        return self.act_after(game, state, np.empty((len(state.ply), 0), np.int16), rng)

    def act_after(
        self,
        game: Game,
        state: State,
        actions: IntArray,
        rng: np.random.Generator | None = None,
    ) -> IntArray:
        """As `HistoryAgent.act_after`."""
        return ask_each(self._engine, game, state, actions)


def ask_each(engine: Engine, game: Game, state: State, actions: IntArray) -> IntArray:
    """What an engine plays in each row; ForfeitError for those in which it fails."""
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
