"""Many games in progress: what the batched environments of Gymnasium and SB3 are made of.

Every step is one action in every game: of whoever is to move, or, against an opponent, of the
learner's seat, with the opponent's plies played inside. There is no loop over boards.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

from boardenvs.agents import Agent, agent_for
from boardenvs.envs.opponent import Opponent, check_actions, choose
from boardenvs.envs.seats import check_seat, draw_seats
from boardenvs.game.contract import Game
from boardenvs.game.openings import Starts
from boardenvs.game.state import (
    BoolArray,
    FloatArray,
    Int8Array,
    IntArray,
    State,
    Transition,
    put,
    take,
)
from boardenvs.utils.checks import is_whole, quote
from boardenvs.utils.splitmix import mix

# How often a game is set up anew because the opponent's first ply ended it.
_TRIES = 20


class StepResult(NamedTuple):
    """The result of a step by row, and the final positions of the games that ended in it."""

    rewards: FloatArray  # (B,) float64: +1, 0, -1 for the mover, or the learner with an opponent
    terminated: BoolArray  # (B,) bool: the game is over, or was lost by an illegal action
    truncated: BoolArray  # (B,) bool: the cap on plies was reached
    illegal: BoolArray  # (B,) bool: the action was illegal; the board did not change
    ended: IntArray  # (N,) int64: the rows whose games this step ended, ascending
    final: State  # the last positions of those games, N rows


class Batch:
    """`size` games of `game`, in `state`.

    `opponent` plays the other side where given: an agent, the text of one, or any function or
    object that `boardenvs.agents.foreign` adapts. `seat` is then the learner's: a role, "random"
    (drawn for each game) or "alternating"; `seats` (B,) int8 has the role in each game. New games
    start after a number of random plies drawn from `opening_plies` (low, high), or, where `starts`
    is given, from one of its rows, drawn uniformly.

    `autoreset` is Gymnasium's: SAME_STEP replaces a game within the step that ends it; NEXT_STEP
    within the next one, which ignores the row's action; DISABLED leaves it to `restart`.
    `waiting` (B,) bool marks games that are over and not yet replaced.

    Raises ValueError or TypeError for values that make no sense.
    """

    def __init__(
        self,
        game: Game,
        size: int,
        *,
        opponent: Opponent | None = None,
        seat: str = "random",
        opening_plies: tuple[int, int] = (0, 0),
        starts: State | None = None,
        autoreset: AutoresetMode = AutoresetMode.SAME_STEP,
    ) -> None:
        if not is_whole(size, 1):
            raise ValueError(f"num_envs is {quote(size)}: it must be a whole number, 1 or more")
        check_seat(game, seat)
        self.game = game
        self.size = size
        self.seat = seat
        self.opponent = opponent
        self.autoreset = autoreset
        self.state = game.init(size)
        self.seats: Int8Array = np.zeros(size, np.int8)
        self.waiting: BoolArray = np.zeros(size, np.bool_)
        self._starts = Starts(game, opening_plies, starts)
        self._games = np.zeros(size, np.uint64)  # games begun in each row
        self._none = game.init(0)
        self._no_rows: IntArray = np.empty(0, np.int64)
        self.seed(None)

    @property
    def opponent(self) -> Agent | None:
        """Who plays the other side; another one may take over between two steps."""
        return self._opponent

    @opponent.setter
    def opponent(self, given: Opponent | None) -> None:
        self._opponent = None if given is None else agent_for(self.game, given)

    def seed(self, seeds: int | Sequence[int] | None) -> None:
        """Seed every row: row i by seeds[i], or by seeds + i. None seeds them unpredictably.

        A row's seats depend on its own seed alone; openings and the opponent's random choices are
        drawn for all rows together, and depend on all seeds.
        """
        if seeds is None:
            seeds = int(np.random.default_rng().integers(1 << 63))
        if isinstance(seeds, (int, np.integer)):
            keys = np.arange(self.size, dtype=np.uint64) + np.uint64(int(seeds) % (1 << 64))
        else:
            if not isinstance(seeds, Sequence | np.ndarray) or not all(
                isinstance(seed, int | np.integer) for seed in seeds
            ):
                raise TypeError(f"seeds are {quote(seeds)}: they must be ints, or one int")
            if len(seeds) != self.size:
                raise ValueError(f"there are {len(seeds)} seeds for {self.size} games")
            keys = np.array([int(s) % (1 << 64) for s in seeds], np.uint64)
        self._keys = keys
        # A digest of all seeds, in which the order counts of the first one only.
        digest = [int(np.bitwise_xor.reduce(mix(keys))), int(keys[0]), self.size]
        self._rng = np.random.default_rng(digest)
        self._games[:] = 0
        self._starts.clear()

    def restart(self, rows: IntArray | None = None) -> None:
        """New games in these rows (by default in all); the opponent opens where it is first.

        ValueError where openings are so near the end that the opponent keeps ending them.
        """
        rows = np.arange(self.size) if rows is None else rows
        self.waiting[rows] = False
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
        if self._opponent is None:  # no game is over where it starts
            self._starts.put(self.state, rows, self._rng)
            return self._no_rows
        new = self._starts.draw(len(rows), self._rng)
        self.seats[rows] = draw_seats(self.game, self.seat, self._keys[rows], self._games[rows])
        self._games[rows] += np.uint64(1)
        theirs = np.flatnonzero(new.to_move != self.seats[rows])
        if theirs.size:
            put(new, theirs, self._reply(self._opponent, take(new, theirs)).state)
        put(self.state, rows, new)
        return rows[self.game.is_over(new)]

    def step(self, actions: IntArray) -> StepResult:
        """Play one action in each row, and replace games that are over as `autoreset` says.

        Raises TypeError or ValueError where `actions` is not (B,) of integers.
        """
        return self.go_on(self.turn(check_actions(actions, self.size)))

    def turn(self, actions: IntArray, *, checked: bool = False) -> Transition:
        """One action in each row but the waiting ones; nothing has changed before `go_on`.

        With `checked` no game is waiting, and all actions are known to be legal.
        """
        return self.game.transition(self.state, actions, self.waiting, all_legal=checked)

    def go_on(self, turn: Transition) -> StepResult:
        """After a `turn`: the opponent's plies, and new games as `autoreset` says."""
        if self.autoreset is AutoresetMode.SAME_STEP:
            result = self._play(turn)
            if result.ended.size:
                self.restart(result.ended)
            return result
        waiting = self.waiting.copy()
        result = self._play(turn)
        if self.autoreset is AutoresetMode.NEXT_STEP and waiting.any():
            self.restart(np.flatnonzero(waiting))
        self.waiting[result.ended] = True
        return result

    def _play(self, turn: Transition) -> StepResult:
        """The turn, and the opponent's after it; a game that ended stays as it ended."""
        self.state, rewards, terminated, truncated, illegal = turn
        if self._opponent is not None:
            rows = np.flatnonzero(~(terminated | truncated | self.waiting))
            if rows.size:
                self._answer(self._opponent, rows, turn)
        ended = np.flatnonzero(terminated | truncated)
        final = take(self.state, ended) if ended.size else self._none
        return StepResult(rewards, terminated, truncated, illegal, ended, final)

    def _answer(self, opponent: Agent, rows: IntArray, turn: Transition) -> None:
        """The opponent's ply in these rows, and what it comes to for the learner."""
        whole = rows.size == self.size
        reply = self._reply(opponent, self.state if whole else take(self.state, rows))
        turn.rewards[rows] = 0.0 - reply.rewards
        turn.terminated[rows] = reply.terminated
        turn.truncated[rows] = reply.truncated
        if whole:
            self.state = reply.state
        else:
            put(self.state, rows, reply.state)

    def _reply(self, opponent: Agent, state: State) -> Transition:
        """The opponent's ply in every row."""
        actions = choose(opponent, self.game, state, self._rng)
        return self.game.transition(state, actions, all_legal=True)

    def snapshot(self) -> dict[str, Any]:
        """All that the games to come depend on but the opponent, as arrays and plain values; see
        `restore`.
        """
        return deepcopy(
            {
                "state": tuple(self.state),
                "stock": tuple(self._starts.stock),
                "seats": self.seats,
                "waiting": self.waiting,
                "games": self._games,
                "keys": self._keys,
                "rng": self._rng.bit_generator.state,
            }
        )

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot` of a batch made alike."""
        snapshot = deepcopy(snapshot)  # games that go on write into their arrays
        self.state = State(*snapshot["state"])
        self._starts.stock = State(*snapshot["stock"])
        self.seats = snapshot["seats"]
        self.waiting = snapshot["waiting"]
        self._games = snapshot["games"]
        self._keys = snapshot["keys"]
        self._rng.bit_generator.state = snapshot["rng"]
