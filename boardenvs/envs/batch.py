"""Batches of games, the base of batched environments and trainers. There is no loop over boards.

Boards come in groups. In a group without an opponent one policy plays both sides: each step is one
ply of the side to move, and the value of the next state counts with the factor -1 (negamax), or +1
if the same side moves again. In a group with an opponent each step is a ply of the learner and the
opponent's reply; the next state is the learner's again, with the factor +1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple, TypedDict

import numpy as np
from gymnasium.vector import AutoresetMode

from boardenvs.agents import agent_for
from boardenvs.envs.core import OnIllegal
from boardenvs.envs.groups import BoardGroup, EndedGames, GroupInPlay, Opponent
from boardenvs.envs.symmetry import BoardSymmetries
from boardenvs.game.game import Game
from boardenvs.game.openings import Starts
from boardenvs.game.rules import swap_sides
from boardenvs.game.state import (
    Array,
    BoolArray,
    FloatArray,
    Int8Array,
    IntArray,
    State,
    Transition,
    take,
    where,
)
from boardenvs.game.stepping import check_actions, illegal_action, is_legal, step_batch
from boardenvs.utils.checks import check_seed, check_whole, quote

__all__ = [
    "SAME_SIDE",
    "ZERO_SUM",
    "Batch",
    "BatchOptions",
    "BoardGroup",
    "EndedGames",
    "StepResult",
    "Stepping",
]

ZERO_SUM, SAME_SIDE = -1.0, 1.0  # the factor of the next state's value
_UNIT = 32  # pixels of a square, in pictures of many boards


class Stepping(NamedTuple):
    """How a batch steps: `Batch` explains the fields. Trainers use the defaults."""

    on_illegal: OnIllegal = "raise"
    autoreset: AutoresetMode = AutoresetMode.SAME_STEP
    copy: bool = True
    totals: bool = True


_DEFAULT = Stepping()
_BY_GROUP = ("seats", "games", "keys")  # what groups keep of each row


class BatchOptions(TypedDict, total=False):
    """The options of `Batch` that learners choose."""

    opening_plies: tuple[int, int]
    starts: State | None
    symmetries: bool
    mover_view: bool
    threads: int
    seed: int | None


class StepResult(NamedTuple):
    """The result of a step by row, and the final positions of the games that ended in it."""

    rewards: FloatArray  # (B,) float64: +1, 0, -1 for the mover, or the learner with an opponent
    terminated: BoolArray  # (B,) bool: the game is over, or was lost by an illegal action
    truncated: BoolArray  # (B,) bool: the cap on plies was reached
    illegal: BoolArray  # (B,) bool: the action was illegal; the board did not change
    ended: IntArray  # (N,) int64: the rows whose games this step ended, ascending
    final: State  # the last positions of those games, N rows


class Batch:
    """Games of `game` in `state`: the boards of all `groups`, one group after the other.

    `groups` is one number of boards in self-play, or a list of `BoardGroup`. New games start after
    a number of random plies drawn from `opening_plies` (low, high), or, where `starts` is given,
    from one of its rows, drawn uniformly. `discounts` (B,) float64 is the factor of the next
    state's value on each board, after the last step; in games whose turn always passes it stays.
    `self_play` (B,) bool marks the boards without an opponent.

    With `symmetries` each game is seen under one of the game's symmetries, drawn when it begins:
    `seen` holds the positions so transformed, and actions are those chosen on them. `state` holds
    the positions themselves; modify neither. With `mover_view`, in a game with a `mover_symmetry`,
    they are turned by it where the second role is to move, which then sees what the first would.

    `threads` groups are played at a time; what happens in them does not depend on that, as long as
    opponents share nothing, such as NumPy's global generator. It pays where opponents search, in
    compiled code that leaves Python to the others.

    Of `stepping`, `on_illegal="raise"` refuses illegal actions, and nothing is played; "forfeit"
    loses the games. `autoreset` is Gymnasium's: SAME_STEP replaces a game within the step that ends
    it; NEXT_STEP within the next one, which ignores the row's action; DISABLED leaves it to
    `restart`. `waiting` (B,) bool marks games that are over and not yet replaced. Without `copy`,
    `observe` writes to the same memory again and again; without `totals`, `take_ended` has none.

    Raises ValueError or TypeError for values that make no sense.
    """

    def __init__(
        self,
        game: Game,
        groups: int | Sequence[BoardGroup],
        *,
        opening_plies: tuple[int, int] = (0, 0),
        starts: State | None = None,
        symmetries: bool = False,
        mover_view: bool = False,
        threads: int = 1,
        seed: int | None = None,
        stepping: Stepping = _DEFAULT,
    ) -> None:
        self.game, self.stepping = game, stepping
        kinds = groups if isinstance(groups, Sequence) else [BoardGroup(groups)]
        if not kinds:
            raise ValueError("there are no groups of boards: give one or more")
        if not all(isinstance(kind, BoardGroup) for kind in kinds):
            raise TypeError(f"groups are {quote(kinds)}: they must be a list of BoardGroup")
        check_whole("threads", threads, 1)
        self.groups = kinds = [replace(kind, boards=_size(kind.boards)) for kind in kinds]
        sizes = [kind.boards for kind in kinds]
        *firsts, self.size = np.cumsum([0, *sizes]).tolist()
        self._groups = [
            GroupInPlay(game, kind, first, Starts(game, opening_plies, starts))
            for kind, first in zip(kinds, firsts, strict=True)
        ]
        self._answering = [group for group in self._groups if group.opponent is not None]
        self.self_play = np.repeat([kind.opponent is None for kind in kinds], sizes)
        self.discounts: FloatArray = np.where(self.self_play, ZERO_SUM, SAME_SIDE)
        self.state = self.seen = game.init(self.size)
        self.waiting: BoolArray = np.zeros(self.size, np.bool_)
        self._draws = symmetries
        turned = symmetries or mover_view
        self.symmetries = BoardSymmetries(game, self.size, mover_view) if turned else None
        self._none = game.init(0)
        self._workers = GroupThreads(threads) if threads > 1 and len(sizes) > 1 else None
        self._plane_bytes = self.size * int(np.prod(game.observation_shape))
        self._memory = ReusedMemory(self._plane_bytes + self.size * game.num_actions)
        self._kept = None if stepping.copy else self._memory.take()
        self._ended = {kind.name: EndedGames() for kind in kinds}
        self.seed(seed)
        self.restart()

    @property
    def seats(self) -> Int8Array:
        """The learner's role in each game against an opponent, (B,) int8."""
        return self._of_groups("seats")

    def set_opponents(self, name: str, opponents: Sequence[Opponent]) -> None:
        """Let these play on the groups of this name, one on each, from the next step on."""
        named = [group for group in self._groups if group.name == name]
        agents = [agent_for(self.game, opponent) for opponent in opponents]
        if len(agents) != len(named):
            raise ValueError(f"{len(agents)} opponents for {len(named)} groups named {quote(name)}")
        for group, agent in zip(named, agents, strict=True):
            group.opponent = agent

    def seed(self, seeds: int | Sequence[int] | None) -> None:
        """Seed every board, board i by seeds[i] or by seeds + i, for the next `restart`. None draws
        unpredictable seeds.

        A board's seats depend on its own seed alone; openings and the opponent's random choices are
        drawn for all boards of a group together, and depend on all its seeds.
        """
        if seeds is None:
            seeds = int(np.random.default_rng().integers(1 << 63))
        if isinstance(seeds, (int, np.integer)):
            check_seed(seeds)
            seeds = range(int(seeds), int(seeds) + self.size)
        if not isinstance(seeds, Sequence | np.ndarray):
            raise TypeError(f"seeds are {quote(seeds)}: they must be whole numbers, or one")
        for seed in seeds:
            check_seed(seed)
        if len(seeds) != self.size:
            raise ValueError(f"there are {len(seeds)} seeds for {self.size} games")
        keys = np.array([int(seed) % (1 << 64) for seed in seeds], np.uint64)
        self._rng = np.random.default_rng([int(keys[0]), self.size])  # draws symmetries
        for group in self._groups:
            group.seed(keys[group.rows])

    def restart(self, rows: IntArray | None = None) -> None:
        """Begin new games in these ascending rows, by default in all, with the opponent's move if
        it moves first.

        ValueError if openings are so near the end that the opponent keeps ending them.
        """
        rows = np.arange(self.size) if rows is None else rows
        self.waiting[rows] = False
        self._in_groups(self._groups, GroupInPlay.begin, self.state, rows)
        if self.symmetries and self._draws:
            self.symmetries.draw(rows, self._rng)
        self._look()

    def step(self, actions: IntArray) -> StepResult:
        """Play one action on every board, and replace games that are over as `autoreset` says.

        Raises TypeError or ValueError where `actions` is not (B,) of integers, IllegalActionError
        where one is illegal and `on_illegal` is "raise"; nothing is played then.
        """
        after = self._step_batch(actions)
        waiting = self.waiting
        self._in_groups(self._answering, GroupInPlay.answer, after, waiting)
        if not self.game.alternates:
            passed = (after.state.to_move != self.state.to_move) & self.self_play
            self.discounts = np.where(passed, ZERO_SUM, SAME_SIDE)
        self.state = after.state  # not before: an opponent may have raised an error
        ended = np.flatnonzero(after.terminated | after.truncated)
        final = take(self.state, ended) if ended.size else self._none
        result = StepResult(*after[1:], ended, final)
        for group in self._groups if ended.size and self.stepping.totals else ():
            part = group.mine(ended)
            self._ended[group.name].add(result.rewards[ended[part]], take(final, part))
        if self.symmetries:
            self._seen_under = self.symmetries.chosen
        self._seen_by = self.seats
        new = ended
        if self.stepping.autoreset is not AutoresetMode.SAME_STEP:
            next_step = self.stepping.autoreset is AutoresetMode.NEXT_STEP
            new = np.flatnonzero(waiting) if next_step else ended[:0]
            self.waiting[ended] = True
        if new.size:
            self.restart(new)
        else:
            self._look()
        return result

    def _step_batch(self, actions: IntArray) -> Transition:
        """Play one ply on every board; nothing has changed yet."""
        actions = check_actions(actions, self.size)
        if self.symmetries is None:
            after = step_batch(self.game, self.state, actions, self.waiting)
        else:  # which know what is meant by legal actions alone
            legal = is_legal(self.game, self.seen, actions)
            meant = self.symmetries.meant(self.state, np.where(legal, actions, self.game.noop))
            meant[~legal] = self.game.num_actions
            after = step_batch(self.game, self.state, meant, self.waiting)
        if self.stepping.on_illegal == "raise" and after.illegal.any():
            raise illegal_action(self.game, self.seen, actions, after.illegal)
        return after

    def _in_groups(
        self, groups: Sequence[GroupInPlay], play: Callable[..., None], *args: Any
    ) -> None:
        if self._workers is None:
            for group in groups:
                play(group, *args)
            return
        tasks = [self._workers.submit(play, group, *args) for group in groups]
        try:
            for task in tasks:
                task.result()
        finally:  # after an error too no thread goes on with a board
            for task in tasks:
                task.cancel()
            wait(tasks)

    def _look(self) -> None:
        self.seen = self.symmetries.seen(self.state) if self.symmetries else self.state

    def observe(self) -> tuple[Int8Array, BoolArray]:
        """Return the observation of the side to move, or of the learner: planes (B, 8, 8, C) int8
        of 0 and 1, and legal actions (B, A) bool, all False if a game is over.

        New arrays in memory that is no longer used; without `copy` always the same ones.
        """
        memory = self._memory.take() if self._kept is None else self._kept
        planes = memory[: self._plane_bytes].reshape(self.size, -1)
        mask = memory[self._plane_bytes :].reshape(self.size, -1).view(np.bool_)
        seen, waits = self.seen, self.waiting.any()
        if waits:
            seen = self._by_learners(seen, slice(None), self.seats)
        self.game.kernels.observe.batch([*seen.inputs, seen.legal_bits], [planes, mask])
        if waits:
            mask[self.waiting] = False
        return self.game.by_squares(planes).transpose(0, 2, 3, 1), mask

    def seen_at_the_end(self, result: StepResult) -> State:
        """Return the last positions of the games that the last step ended, seen as these games
        were, by the learner if there was an opponent.
        """
        final = self._by_learners(result.final, result.ended, self._seen_by)
        if self.symmetries is None:
            return final
        return self.symmetries.seen(final, self._seen_under[result.ended])

    def _by_learners(self, state: State, rows: IntArray | slice, seats: Int8Array) -> State:
        """Return the positions of these rows, those in which an opponent would be to move as the
        learner sees them, who has this seat.
        """
        theirs = (state.to_move != seats[rows]) & ~self.self_play[rows]
        if not theirs.any():
            return state
        words = swap_sides(self.game.word_names, state.words)
        return where(theirs, state._replace(words=words, to_move=seats[rows]), state)

    def pictures(self, boards: int | None = None) -> list[Array]:
        """Return the pixels of the first boards, or of all, (H, W, 3) uint8 each."""
        from boardenvs import render

        positions = self.game.positions(take(self.state, slice(boards)))
        return [render.to_rgb(self.game, x, unit=_UNIT) for x in positions]

    def take_ended(self) -> dict[str, EndedGames]:
        """Totals of the games that ended since the last call, by the names of groups."""
        ended = self._ended
        self._ended = {name: EndedGames() for name in ended}
        return ended

    def close(self) -> None:
        """Let go of the threads."""
        if self._workers is not None:
            self._workers.shutdown()

    def snapshot(self) -> dict[str, Any]:
        """Return all that the games to come depend on but the opponents, as arrays and plain
        values; see `restore`.
        """
        return deepcopy(
            {
                "state": self.game.packed(self.state),
                "stocks": [self.game.packed(group.starts.stock) for group in self._groups],
                "waiting": self.waiting,
                "discounts": self.discounts,
                **{name: self._of_groups(name) for name in _BY_GROUP},
                "symmetries": self.symmetries and self.symmetries.chosen,
                "rngs": [rng.bit_generator.state for rng in self._rngs()],
            }
        )

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot` of a batch made alike; ValueError, and nothing has changed, if it
        is none.
        """
        before = self.snapshot()
        try:
            self._restore(deepcopy(snapshot))  # games that go on write into their arrays
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            self._restore(before)
            raise ValueError(f"the snapshot is of no batch made alike: {error!r}") from error

    def _restore(self, snapshot: dict[str, Any]) -> None:
        self.waiting = _like(self.waiting, snapshot["waiting"])
        self.state = self.game.unpacked(snapshot["state"])
        if len(self.state.ply) != self.size:
            raise ValueError(f"it has {len(self.state.ply)} games: it must have {self.size}")
        self.discounts = _like(self.discounts, snapshot["discounts"])
        rows = {name: _like(self._of_groups(name), snapshot[name]) for name in _BY_GROUP}
        for group, stock in zip(self._groups, snapshot["stocks"], strict=True):
            group.starts.stock = self.game.unpacked(stock)
            for name in _BY_GROUP:
                setattr(group, name, rows[name][group.rows])
        for rng, state in zip(self._rngs(), snapshot["rngs"], strict=True):
            rng.bit_generator.state = state
        if self.symmetries:
            self.symmetries.chosen = _like(self.symmetries.chosen, snapshot["symmetries"])
        self._look()

    def _of_groups(self, name: str) -> Array:
        return np.concatenate([getattr(group, name) for group in self._groups])

    def _rngs(self) -> list[np.random.Generator]:
        return [self._rng, *(group.rng for group in self._groups)]


class GroupThreads(ThreadPoolExecutor):
    """Threads; a copy has as many of its own."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.threads = threads

    def __reduce__(self) -> tuple[type[GroupThreads], tuple[int]]:
        return GroupThreads, (self.threads,)


def _like(own: Array, value: Array) -> Array:
    """Return an array in the place of another; ValueError if its type or shape is not the same."""
    if not isinstance(value, np.ndarray) or (value.dtype, value.shape) != (own.dtype, own.shape):
        raise ValueError(f"{quote(value)} must be {own.dtype} of {own.shape}")
    return value


def _size(value: Any) -> int:
    """Return the number of boards as int; ValueError for anything else."""
    size: int = int(value) if isinstance(value, np.integer) else value
    check_whole("num_envs", size, 1)
    return size


# Kept for the next arrays: a caller that compares an array with the previous one holds two.
_KEPT = 2


class ReusedMemory:
    """Arrays of this many bytes, whose memory is used again when the last view of them is gone.

    To allocate megabytes takes longer than to compute their content: the system clears new memory
    page by page, and C's allocator returns it as soon as it is free.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._free: list[Int8Array] = []

    def take(self) -> Int8Array:
        """Return an array with arbitrary content, which nothing else refers to."""
        try:
            memory = self._free.pop()
        except IndexError:
            memory = np.empty(self._size, np.int8)
        return np.asarray(_Loan(memory, self._free))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_free": []}


class _Loan:
    """Owns the memory of an array as long as any view of it exists."""

    def __init__(self, memory: Int8Array, free: list[Int8Array]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self._memory, self._free = memory, free

    def __del__(self) -> None:
        if len(self._free) < _KEPT:
            self._free.append(self._memory)
