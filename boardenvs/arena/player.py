"""An agent in a match: it is asked for actions, timed, and loses the games that it cannot play on.

An agent forfeits a game with an illegal action, or where it says so (`ForfeitError`). Where it
raises another exception or returns no array of one whole number a board, it is asked again, board
by board, and forfeits the games of those boards alone that fail again: that games are played side
by side is the match's choice, and one position that an agent cannot handle must not cost it the
games beside.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from boardenvs.agents.base import Agent, act_after, cpu_elsewhere, report_of
from boardenvs.game.contract import Game
from boardenvs.game.errors import ForfeitError
from boardenvs.game.position import Position
from boardenvs.game.state import IntArray, State, take
from boardenvs.utils.imports import describe

# Of what journals have.
Count = Annotated[int, Field(strict=True, ge=0, le=1 << 62)]
Amount = Annotated[float, Field(strict=True, ge=0, le=1e15)]

FORFEIT = int(np.iinfo(np.int64).min)  # in the place of an action


@dataclass
class Faults:
    """What an agent did wrong in a match, and how long it thought."""

    forfeits: Count  # games
    message: str | None  # what was wrong first, with a forfeit or without
    repeats: Count  # times that it failed on a batch and was asked again, board by board
    moves: Count  # actions that it was asked for
    timed_moves: Count  # the same without its first batch, which may load or compile
    cpu_seconds: Amount  # spent on the timed moves
    counts: dict[str, Amount] = field(default_factory=dict)  # what it counted itself, by name

    @classmethod
    def none(cls) -> Faults:
        """Those of who was not asked yet."""
        return cls(0, None, 0, 0, 0, 0.0)

    @classmethod
    def sum(cls, faults: Iterable[Faults]) -> Faults:
        """Those of several matches."""
        every = list(faults)
        names = ("forfeits", "repeats", "moves", "timed_moves", "cpu_seconds")
        total = {name: sum(getattr(one, name) for one in every) for name in names}
        counts = Counter[str]()
        for one in every:
            counts.update(one.counts)
        message = next((one.message for one in every if one.message), None)
        return cls(message=message, **total, counts=dict(counts))

    @property
    def all_cpu_seconds(self) -> float:
        """Spent on all moves, were those as quick that were not timed."""
        return self.cpu_seconds / max(1, self.timed_moves) * self.moves

    @property
    def ms_per_move(self) -> float | None:
        """CPU milliseconds that it thought about a move; None where nothing was timed."""
        return 1000 * self.cpu_seconds / self.timed_moves if self.timed_moves else None

    def explain(self, label: str, games: int, where: str = "") -> str | None:
        """What the agent did wrong in a match of so many games; None where nothing."""
        if self.forfeits:
            return f"{label} forfeited {self.forfeits} of {games} games{where}: {self.message}"
        if self.repeats:
            return (
                f"{label} failed {self.repeats} times on several boards at once, and then played "
                f"them one by one{where}: {self.message}"
            )
        return None

    def add(self, games: int, message: str) -> None:
        """Note a fault that costs so many games, perhaps none."""
        self.forfeits += games
        self.message = self.message or message


class Player:
    """Asks `agent` for actions; `rng` is all that it is given to draw from."""

    def __init__(self, agent: Agent, rng: np.random.Generator) -> None:
        self._agent = agent
        self._rng = rng
        self._before = report_of(agent)
        self.faults = Faults.none()

    def count(self) -> Faults:
        """The faults so far, with what the agent has counted itself since the match began."""
        counted = {k: v - self._before.get(k, 0) for k, v in report_of(self._agent).items()}
        self.faults.counts = {name: amount for name, amount in counted.items() if amount > 0}
        return self.faults

    def act(self, game: Game, state: State, played: IntArray) -> IntArray:
        """A legal action for each row, or FORFEIT, (B,) int64; KeyboardInterrupt passes through.

        Row i of `played` (B, P) has the plies of game i so far, -1 after the last.
        """
        started = self._cpu()
        actions = self._ask(game, state, played)
        faults, asked = self.faults, len(actions)
        if faults.moves:
            faults.cpu_seconds += self._cpu() - started
            faults.timed_moves += asked
        faults.moves += asked
        given = actions != FORFEIT
        illegal = np.flatnonzero(given & ~game.is_legal(state, actions))
        if len(illegal):
            first = int(illegal[0])
            position = game.positions(take(state, [first]))[0]
            faults.add(len(illegal), _illegal(game, position, int(actions[first])))
            actions[illegal] = FORFEIT
        return actions

    def _cpu(self) -> float:
        return time.process_time() + cpu_elsewhere(self._agent)

    def _ask(self, game: Game, state: State, played: IntArray) -> IntArray:
        batch = len(state.ply)
        try:
            # The agent gets copies, which it may write to.
            given = take(state, np.arange(batch))
            answer = act_after(self._agent, game, given, played.copy(), self._rng)
            return _checked(answer, batch)
        except KeyboardInterrupt:
            raise
        except ForfeitError as forfeit:
            actions = _checked(forfeit.actions, batch)
            actions[list(forfeit.reasons)] = FORFEIT
            self.faults.add(len(forfeit.reasons), str(forfeit))
            return actions
        except BaseException as error:  # sys.exit() in an agent, too, loses its games alone
            self.faults.add(int(batch == 1), describe(error))
        if batch == 1:
            return np.array([FORFEIT])
        self.faults.repeats += 1
        rows = ([row] for row in range(batch))
        return np.concatenate([self._ask(game, take(state, row), played[row]) for row in rows])


def _checked(answer: Any, batch: int) -> IntArray:
    """The answer as (B,) int64, without FORFEIT in it; TypeError where it is no such array."""
    actions = np.asarray(answer)
    if actions.shape != (batch,) or not np.issubdtype(actions.dtype, np.integer):
        raise TypeError(
            f"actions of shape {actions.shape} and type {actions.dtype}: they must be whole "
            f"numbers of shape ({batch},), one a board"
        )
    return np.maximum(actions.astype(np.int64), FORFEIT + 1)


def _illegal(game: Game, position: Position, action: int) -> str:
    known = 0 <= action < game.num_actions
    name = f" ({game.action_name(action, position)})" if known else ""
    return f"action {action}{name} is not legal in {position.fen()!r}"
