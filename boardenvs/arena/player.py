"""An agent in a match: it is asked for actions, timed, and forfeits the games that it cannot play.

An agent forfeits a game by an illegal action, or by `ForfeitError`. After another exception, or an
answer that is not an array of one whole number per board, it is asked again, board by board, and
forfeits only the games of the boards that fail again: it is the match that plays games side by
side, so one position that an agent cannot handle must not cost it the other games.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from boardenvs.agents.base import Agent, cpu_elsewhere, report_of
from boardenvs.agents.history import History, with_history
from boardenvs.arena.executor import FIRST, NOBODY, note_running
from boardenvs.game.errors import ForfeitError, HistoryNeededError
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.state import IntArray, State, take
from boardenvs.utils.checks import printable
from boardenvs.utils.imports import describe

# Numbers in files of games.
Count = Annotated[int, Field(strict=True, ge=0, le=1 << 62)]
MOST = 1e15
Amount = Annotated[float, Field(strict=True, ge=0, le=MOST)]

FORFEIT = int(np.iinfo(np.int64).min)  # instead of an action


@dataclass
class PlayerStats:
    """What a player did in a match: its forfeits, its time and its own counts."""

    forfeits: Count = 0  # games
    message: str | None = None  # the first fault, with a forfeit or without
    repeats: Count = 0  # batches on which it failed and was asked again, board by board
    moves: Count = 0  # actions that it was asked for
    timed_moves: Count = 0  # the same without its first batch, which may load or compile
    cpu_seconds: Amount = 0.0  # for the timed moves
    counts: dict[str, Amount] = field(default_factory=dict)  # what it counted itself, by name

    @classmethod
    def sum(cls, parts: Iterable[PlayerStats]) -> PlayerStats:
        """Return the sum over several matches."""
        total, counts = cls(), Counter[str]()
        for one in parts:
            total.add(one.forfeits, one.message)
            total.repeats += one.repeats
            total.moves += one.moves
            total.timed_moves += one.timed_moves
            total.cpu_seconds += one.cpu_seconds
            counts.update(one.counts)
        total.counts = dict(counts)
        return total

    @property
    def all_cpu_seconds(self) -> float:
        """An estimate for all moves, from the timed ones."""
        return self.cpu_seconds / max(1, self.timed_moves) * self.moves

    @property
    def ms_per_move(self) -> float | None:
        """CPU milliseconds per move; None if nothing was timed."""
        return 1000 * self.cpu_seconds / self.timed_moves if self.timed_moves else None

    def explain(self, label: str, count: int, where: str = "", what: str = "games") -> str | None:
        """Return a sentence on its faults in `count` games; None without faults."""
        if self.forfeits:
            return f"{label} forfeited {self.forfeits} of {count} {what}{where}: {self.message}"
        if self.repeats:
            return (
                f"{label} failed {self.repeats} times on several boards at once, and then played "
                f"them one by one{where}: {self.message}"
            )
        return None

    def add(self, games: int, message: str | None) -> None:
        """Note a fault that costs this number of games, perhaps none."""
        self.forfeits += games
        self.message = self.message or (message and printable(message))


def time_text(milliseconds: float | None) -> str:
    """Return a time per move in a suitable unit."""
    if milliseconds is None:
        return ""
    if milliseconds < 0.9995:  # which is written as 1 ms
        return f"{1000 * milliseconds:.3g} µs"
    return f"{milliseconds:.3g} ms" if milliseconds < 999.5 else f"{milliseconds / 1000:.3g} s"


class Player:
    """Asks `agent` for actions.

    side: FIRST or SECOND of a match. by_thread: count the CPU time of this thread alone, since
    others play other games meanwhile.
    """

    def __init__(self, agent: Agent, side: int = FIRST, by_thread: bool = False) -> None:
        self._agent, self._side = agent, side
        self._clock = time.thread_time if by_thread else time.process_time
        self._before = report_of(agent)
        self.stats = PlayerStats()

    def count(self) -> PlayerStats:
        """Return the stats so far, with the agent's own counts since the match began."""
        now = report_of(self._agent)
        counted = {k: round(v - self._before.get(k, 0), 6) for k, v in now.items()}
        self.stats.counts = {name: amount for name, amount in counted.items() if 0 < amount < MOST}
        return self.stats

    def act(
        self,
        game: Game,
        state: State,
        rng: np.random.Generator,
        history: History | None = None,
    ) -> IntArray:
        """Return a legal action for each row, or FORFEIT, (B,) int64.

        KeyboardInterrupt and HistoryNeededError are raised. The agent draws random numbers from
        `rng` alone.
        """
        started = cpu_elsewhere(self._agent) + self._clock()  # in this order: the first takes time
        actions = self._ask(game, state, rng, history)
        stats, asked = self.stats, len(actions)
        if stats.moves:
            passed = self._clock() + cpu_elsewhere(self._agent) - started
            stats.cpu_seconds += max(0.0, passed)  # an engine that was started again counts from 0
            stats.timed_moves += asked
        stats.moves += asked
        illegal = np.flatnonzero((actions != FORFEIT) & ~game.is_legal(state, actions))
        if len(illegal):
            first = int(illegal[0])
            position = game.positions(take(state, [first]))[0]
            stats.add(len(illegal), _illegal(game, position, int(actions[first])))
            actions[illegal] = FORFEIT
        return actions

    def _ask(
        self, game: Game, state: State, rng: np.random.Generator, history: History | None
    ) -> IntArray:
        batch = len(state.ply)
        try:
            # Copies, since an agent may write to its arguments.
            copied = take(state, np.arange(batch))
            act = with_history(self._agent.act, history and history.of_rows(range(batch)))
            note_running(self._side)
            return _checked(act(game, copied, rng), batch)
        except (KeyboardInterrupt, HistoryNeededError):
            raise
        except ForfeitError as forfeit:
            actions = _checked(forfeit.actions, batch)
            actions[list(forfeit.reasons)] = FORFEIT
            self.stats.add(len(forfeit.reasons), str(forfeit))
            return actions
        except BaseException as error:  # sys.exit() in an agent loses only its games, too
            self.stats.add(int(batch == 1), describe(error))
        finally:
            note_running(NOBODY)
        if batch == 1:
            return np.array([FORFEIT])
        self.stats.repeats += 1
        return np.concatenate(
            [
                self._ask(game, take(state, [row]), rng, history and history.of_rows([row]))
                for row in range(batch)
            ]
        )


def _checked(answer: Any, batch: int) -> IntArray:
    """Return the answer as (B,) int64 without FORFEIT; TypeError for another shape or type."""
    actions = np.asarray(answer)
    if actions.shape != (batch,) or not np.issubdtype(actions.dtype, np.integer):
        raise TypeError(
            f"actions of shape {actions.shape} and type {actions.dtype}: they must be whole "
            f"numbers of shape ({batch},), one a board"
        )
    return np.maximum(actions.astype(np.int64), FORFEIT + 1)


def _illegal(game: Game, position: Position, action: int) -> str:
    name = f" ({game.action_name(action, position)})" if 0 <= action < game.num_actions else ""
    return f"action {action}{name} is not legal in {position.fen()!r}"
