"""Many games in progress: what the batched environments of Gymnasium and SB3 are made of.

Every step is one action in every game: of whoever is to move, or, against an opponent, of the
learner's seat, with the opponent's plies played inside. There is no loop over boards.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from boardenvs.agents import Agent, make_agent
from boardenvs.game.contract import ILLEGAL_ACTION_REWARD, Game, goal_to_reward
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.openings import random_openings
from boardenvs.game.state import BoolArray, FloatArray, Int8Array, IntArray, State, put, take
from boardenvs.utils.checks import check_name, is_whole
from boardenvs.utils.splitmix import GOLDEN, mix

# Openings are drawn this many at a time: a batch large enough to be cheap a game.
_POOL = 4096

# How often a game is set up anew because the opponent's first ply ended it.
_TRIES = 20


class Plies(NamedTuple):
    """What one step did, row by row."""

    rewards: FloatArray  # (B,) float64: the mover's, or the learner's against an opponent
    terminated: BoolArray  # (B,) bool: the game is over, or was lost by an illegal action
    truncated: BoolArray  # (B,) bool: the cap on plies was reached
    illegal: BoolArray  # (B,) bool: the action was illegal; the board did not change


class Batch:
    """`size` games of `game`.

    `opponent` (an agent or its specification) plays the other side where given; `seat` is then the
    learner's: a role, "random" (drawn for each game) or "alternating". New games start after a
    number of random plies drawn from `random_plies` (low, high), or, where `starts` is given, from
    one of its rows, drawn uniformly. `goal_rewards` pays goal values, else +1 / 0 / -1.

    Raises ValueError for values that make no sense.
    """

    def __init__(
        self,
        game: Game,
        size: int,
        *,
        opponent: Agent | str | None = None,
        seat: str = "random",
        random_plies: tuple[int, int] = (0, 0),
        starts: State | None = None,
        goal_rewards: bool = False,
    ) -> None:
        if not is_whole(size, 1):
            raise ValueError(f"num_envs is {size!r}: it must be a whole number, 1 or more")
        if starts is not None and (not len(starts.ply) or is_over(game, starts).any()):
            raise ValueError("starts must hold one or more positions in which the game is not over")
        self.game = game
        self.size = size
        self.opponent = make_agent(opponent) if isinstance(opponent, str) else opponent
        check_seat(game, seat)
        self.seat = seat
        self.random_plies = random_plies
        self._starts = starts
        self._goal_rewards = goal_rewards
        self.state = game.init(size)
        self.seats: Int8Array = np.zeros(size, np.int8)  # the learner's role, against an opponent
        self._games = np.zeros(size, np.uint64)  # games begun in each row
        self.seed(None)

    def seed(self, seeds: int | Sequence[int] | None) -> None:
        """Seed every row: row i by seeds[i], or by seeds + i. None seeds them unpredictably.

        A row's seats depend on its own seed alone; openings and the opponent's choices, which are
        drawn for all rows at once, on all of them.
        """
        if seeds is None:
            seeds = int(np.random.default_rng().integers(1 << 63))
        if isinstance(seeds, (int, np.integer)):
            keys = np.arange(self.size, dtype=np.uint64) + np.uint64(int(seeds) % (1 << 64))
        else:
            if len(seeds) != self.size:
                raise ValueError(f"there are {len(seeds)} seeds for {self.size} games")
            keys = np.array([int(s) % (1 << 64) for s in seeds], np.uint64)
        self._keys = keys
        # A digest of all seeds, in which the order counts of the first one only.
        digest = [int(np.bitwise_xor.reduce(mix(keys))), int(keys[0]), self.size]
        self._rng = np.random.default_rng(digest)
        self._games[:] = 0
        self._pool = self.game.init(0)

    def restart(self, rows: IntArray | None = None) -> None:
        """New games in these rows (by default in all); the opponent opens where it is first.

        ValueError where openings are so near the end that the opponent keeps ending them.
        """
        rows = np.arange(self.size) if rows is None else rows
        for _ in range(_TRIES):
            rows = self._begin(rows)
            if not rows.size:
                return
        raise ValueError(
            f"{len(rows)} openings in a row were over before the learner's first move: start "
            "further from the end of the game"
        )

    def _begin(self, rows: IntArray) -> IntArray:
        """Set up new games; the rows of those that the opponent's opening ply ended."""
        new = self._new_games(len(rows))
        if self.opponent is not None:
            self.seats[rows] = self._draw_seats(rows)
            self._games[rows] += np.uint64(1)
            waiting = np.flatnonzero(new.to_move != self.seats[rows])
            if waiting.size:
                put(new, waiting, self._reply(take(new, waiting)))
        put(self.state, rows, new)
        return rows[is_over(self.game, new)]

    def step(self, actions: IntArray, skip: BoolArray | None = None) -> Plies:
        """Play one action in each row but those of `skip`; a game that ended stays as it ended.

        Raises TypeError or ValueError where `actions` is not (B,) of integers.
        """
        game = self.game
        actions = self._checked(actions)
        movers = self.state.to_move if self.opponent is None else self.seats
        illegal = ~game.is_legal(self.state, actions)
        if skip is not None:
            illegal &= ~skip
        if skip is None and not illegal.any():
            self.state = game.step(self.state, actions)
            over = is_over(game, self.state)
            live = ~over
        else:
            live = ~illegal if skip is None else ~(illegal | skip)
            over = self._step_rows(np.flatnonzero(live), actions)
            live &= ~over
        if self.opponent is not None:
            over |= self._step_opponent(live)
        return self._plies(movers, over, illegal)

    def _checked(self, actions: IntArray) -> IntArray:
        actions = np.asarray(actions)
        if actions.shape != (self.size,):
            raise ValueError(f"actions have shape {actions.shape}: it must be ({self.size},)")
        if actions.dtype.kind not in "iu":
            raise TypeError(f"actions are {actions.dtype}: they must be integers")
        return actions

    def _step_rows(self, rows: IntArray, actions: IntArray) -> BoolArray:
        """One ply in these rows only; (B,) bool of the games that it ended."""
        new = self.game.step(take(self.state, rows), actions[rows])
        state = State(*(x.copy() for x in self.state))
        put(state, rows, new)
        self.state = state
        over: BoolArray = np.zeros(self.size, np.bool_)
        over[rows] = is_over(self.game, new)
        return over

    def _step_opponent(self, live: BoolArray) -> BoolArray:
        """The opponent's ply in the live games; (B,) bool of those that it ended."""
        rows = np.flatnonzero(live)
        over: BoolArray = np.zeros(self.size, np.bool_)
        if rows.size:
            whole = rows.size == self.size
            new = self._reply(self.state if whole else take(self.state, rows))
            over[rows] = is_over(self.game, new)
            if whole:
                self.state = new
            else:
                put(self.state, rows, new)
        return over

    def _reply(self, state: State) -> State:
        """The state after the opponent's ply in every row."""
        assert self.opponent is not None
        actions = np.asarray(self.opponent.act(self.game, state, self._rng))
        legal = self.game.is_legal(state, actions)
        if not legal.all():
            row = int(np.argmin(legal))
            raise IllegalActionError(
                f"the opponent {self.opponent} chose {actions[row]}; legal: "
                f"{np.flatnonzero(self.game.legal(take(state, slice(row, row + 1)))).tolist()}"
            )
        return self.game.step(state, actions)

    def _plies(self, movers: Int8Array, over: BoolArray, illegal: BoolArray) -> Plies:
        rewards = np.zeros(self.size)
        truncated: BoolArray = np.zeros(self.size, np.bool_)
        ended = np.flatnonzero(over)
        if ended.size:
            final = take(self.state, ended)
            goals = self.game.results(final)[np.arange(ended.size), movers[ended]]
            rewards[ended] = goals if self._goal_rewards else goal_to_reward(goals)
            truncated[ended] = self.game.truncated(final)
        rewards[illegal] = ILLEGAL_ACTION_REWARD
        return Plies(rewards, (over & ~truncated) | illegal, truncated, illegal)

    def _draw_seats(self, rows: IntArray) -> Int8Array:
        if self.seat in self.game.roles:
            return np.full(len(rows), self.game.roles.index(self.seat), np.int8)
        first = mix(self._keys[rows])
        numbers: IntArray = (
            first + self._games[rows]
            if self.seat == "alternating"
            else mix(self._keys[rows] + self._games[rows] * np.uint64(GOLDEN))
        )
        return (numbers & np.uint64(1)).astype(np.int8)

    def _new_games(self, count: int) -> State:
        """`count` starting positions; openings come from a pool, so that their cost is shared."""
        if self._starts is not None:
            return take(self._starts, self._rng.integers(len(self._starts.ply), size=count))
        if self.random_plies == (0, 0):
            return self.game.init(count)
        if len(self._pool.ply) < count:
            size = max(_POOL, count)
            self._pool = random_openings(self.game, size, self.random_plies, self._rng)
        drawn = take(self._pool, np.arange(count))
        self._pool = take(self._pool, slice(count, None))
        return drawn

    def snapshot(self) -> dict[str, Any]:
        """All that the games to come depend on, as arrays and plain values; see `restore`."""
        return deepcopy(
            {
                "state": tuple(self.state),
                "pool": tuple(self._pool),
                "seats": self.seats,
                "games": self._games,
                "keys": self._keys,
                "rng": self._rng.bit_generator.state,
            }
        )

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot` of a batch made alike."""
        snapshot = deepcopy(snapshot)  # games that go on write into their arrays
        self.state = State(*snapshot["state"])
        self._pool = State(*snapshot["pool"])
        self.seats = snapshot["seats"]
        self._games = snapshot["games"]
        self._keys = snapshot["keys"]
        self._rng.bit_generator.state = snapshot["rng"]


def check_seat(game: Game, seat: str) -> None:
    """ValueError where the seat is neither a role nor a way to draw one."""
    check_name("seat", seat, (*game.roles, "random", "alternating"))


def is_over(game: Game, state: State) -> BoolArray:
    """Where the game is terminated or truncated, (B,) bool."""
    return state.terminated | game.truncated(state)
