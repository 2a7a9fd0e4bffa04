"""Groups of boards: the opponent, how games begin, and totals of games that ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from boardenvs.agents import Agent, agent_for
from boardenvs.agents.history import History, with_history
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.game import Game
from boardenvs.game.openings import Starts
from boardenvs.game.state import (
    BoolArray,
    FloatArray,
    Int8Array,
    IntArray,
    State,
    Transition,
    WordArray,
    put,
    take,
)
from boardenvs.game.stepping import check_actions, illegal_action, is_legal, step_batch
from boardenvs.utils.checks import check_name, quote
from boardenvs.utils.splitmix import GOLDEN, mix

# The values of `opponent=`, see `boardenvs.agents.agent_for`: an agent, its text, or any
# function or object that `boardenvs.agents.spec` adapts.
Opponent: TypeAlias = Agent | Callable[..., Any] | str


def choose(
    opponent: Agent,
    game: Game,
    state: State,
    rng: np.random.Generator,
    history: History | None = None,
) -> IntArray:
    """Return the opponent's legal action in every row, (B,) of integers.

    IllegalActionError, with the legal actions, if it chose another; TypeError or ValueError if it
    returned something else.
    """
    act = opponent.act if history is None else with_history(opponent.act, history)
    chosen = act(game, state, rng)
    try:
        actions = check_actions(chosen, len(state.ply))
    except (TypeError, ValueError) as error:
        raise type(error)(f"the opponent {opponent} chose {quote(chosen)}: {error}") from None
    legal = is_legal(game, state, actions)
    if not legal.all():
        wrong = illegal_action(game, state, actions, ~legal)
        raise IllegalActionError(f"the opponent {opponent}: {wrong}")
    return actions


def check_seat(game: Game, seat: str) -> None:
    """ValueError if the seat is neither a role, "random" nor "alternating"."""
    check_name("seat", seat, (*game.roles, "random", "alternating"))


def draw_seat(game: Game, seat: str, games: int, rng: np.random.Generator) -> int:
    """Return the learner's role after this number of games, as an index of `game.roles`."""
    if seat in game.roles:
        return game.roles.index(seat)
    return games % 2 if seat == "alternating" else int(rng.integers(2))


def draw_seats(game: Game, seat: str, keys: WordArray, games: WordArray) -> Int8Array:
    """Return the learner's role in the next game of each row, (N,) int8, an index of `game.roles`.

    `keys` (N,) uint64 are the rows' seeds, `games` (N,) uint64 how many games each has begun.
    """
    if seat in game.roles:
        return np.full(len(keys), game.roles.index(seat), np.int8)
    numbers: IntArray = (
        mix(keys) + games if seat == "alternating" else mix(keys + games * np.uint64(GOLDEN))
    )
    return (numbers & np.uint64(1)).astype(np.int8)


# How often a game is set up again because the opponent's first ply ended it.
_TRIES = 20


@dataclass(frozen=True)
class BoardGroup:
    """A number of equal boards: without an opponent one policy plays both sides, else the `seat`.

    `opponent` is an agent, the text of one, or any function or object that
    `boardenvs.agents.spec` adapts; `seat` is the learner's: a role, "random" (drawn for each
    game) or "alternating". Groups of one `name` share their metrics.
    """

    boards: int
    opponent: Opponent | None = None
    seat: str = "alternating"
    name: str = "boards"


@dataclass
class EndedGames:
    """Totals of games that ended."""

    games: int = 0
    plies: int = 0
    points: float = 0.0  # the learner's: 1 a win, 1/2 a draw; without an opponent the last mover's

    def add(self, rewards: FloatArray, final: State) -> None:
        """Count N games with these rewards (N,) and last positions."""
        self.games += len(rewards)
        self.plies += int(np.add.reduce(final.ply))  # half the time of its `sum`
        self.points += float(np.add.reduce(rewards) + len(rewards)) / 2


class GroupInPlay:
    """The rows of a group in a batch, from `first` on: its opponent, seats and random numbers."""

    def __init__(self, game: Game, kind: BoardGroup, first: int, starts: Starts) -> None:
        check_seat(game, kind.seat)
        self.name = kind.name
        self.rows = slice(first, first + kind.boards)
        self.opponent = None if kind.opponent is None else agent_for(game, kind.opponent)
        self.starts = starts
        self.seats = np.zeros(kind.boards, np.int8)  # the learner's role in each game
        self._game, self._seat = game, kind.seat

    def seed(self, keys: WordArray) -> None:
        """Seed the rows by these, (N,)."""
        self.keys = keys
        self.games = np.zeros(len(keys), np.uint64)  # how many games in each row
        # A digest of all seeds, in which the order counts of the first one only.
        digest = [int(np.bitwise_xor.reduce(mix(keys))), int(keys[0]), len(keys)]
        self.rng = np.random.default_rng(digest)
        self.starts.clear()

    def mine(self, rows: IntArray) -> slice:
        """Return where among ascending rows of the batch this group's are."""
        return slice(*np.searchsorted(rows, (self.rows.start, self.rows.stop)))

    def begin(self, state: State, rows: IntArray) -> None:
        """Begin new games in this group's part of the ascending rows, with the opponent's move if
        it moves first.

        ValueError if openings are so near the end that the opponent keeps ending them.
        """
        rows = rows[self.mine(rows)]
        if self.opponent is None:  # no game is over where it starts
            if rows.size:
                self.starts.put(state, rows, self.rng)
            return
        tries = 0
        while rows.size:
            if tries == _TRIES:
                raise ValueError(
                    f"{len(rows)} openings in a row were over before the learner's first move: "
                    "start further from the end of the game"
                )
            tries += 1
            new = self.starts.draw(len(rows), self.rng)
            own = rows - self.rows.start
            seats = draw_seats(self._game, self._seat, self.keys[own], self.games[own])
            theirs = np.flatnonzero(new.to_move != seats)
            while theirs.size:
                replied = self._reply(take(new, theirs)).state
                put(new, theirs, replied)
                theirs = self._still(theirs, replied, seats[theirs])
            self.seats[own] = seats
            self.games[own] += np.uint64(1)
            put(state, rows, new)
            rows = rows[self._game.is_over(new)]

    def answer(self, after: Transition, waiting: BoolArray) -> None:
        """Play the opponent's plies in games that go on, and update the learner's rewards."""
        own = self.rows
        live = ~(after.terminated[own] | after.truncated[own] | waiting[own])
        if not self._game.alternates:
            live &= after.state.to_move[own] != self.seats
        rows = np.flatnonzero(live) + own.start
        while rows.size:
            reply = self._reply(take(after.state, rows))
            put(after.state, rows, reply.state)
            after.rewards[rows] = 0.0 - reply.rewards
            after.terminated[rows] = reply.terminated
            after.truncated[rows] = reply.truncated
            rows = self._still(rows, reply.state, self.seats[rows - own.start])

    def _still(self, rows: IntArray, replied: State, seats: Int8Array) -> IntArray:
        """Return the rows in which the opponent is to move again after its ply."""
        if self._game.alternates:
            return rows[:0]
        waiting: BoolArray = (replied.to_move != seats) & ~self._game.is_over(replied)
        return rows[waiting]

    def _reply(self, state: State) -> Transition:
        """Play the opponent's ply in every row."""
        assert self.opponent is not None
        actions = choose(self.opponent, self._game, state, self.rng)
        return step_batch(self._game, state, actions, np.zeros(len(actions), np.bool_))
