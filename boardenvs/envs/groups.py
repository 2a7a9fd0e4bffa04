"""Boards of several kinds as one batch: self-play, and games against one opponent or another.

On a board without an opponent the next state is the other side's to move, and what is good for it
is bad for the mover: its value counts with the factor -1 (negamax). Against an opponent, whose
plies are played inside the step, the next state is the learner's own again: the factor is +1.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from boardenvs.envs.batch import Batch, StepResult
from boardenvs.envs.opponent import Opponent, check_actions, legal_actions
from boardenvs.envs.symmetry import BoardSymmetries
from boardenvs.game.contract import Game
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.state import FloatArray, IntArray, State, Transition, concat
from boardenvs.utils.checks import is_whole, quote

ZERO_SUM, SAME_SIDE = -1.0, 1.0  # the factor of the next state's value


@dataclass(frozen=True)
class BoardGroup:
    """So many boards of one kind: without an opponent one policy plays both sides, else the `seat`.

    `opponent` and `seat` are those of `Batch`. Groups of one `name` share their figures.
    """

    boards: int
    opponent: Opponent | None = None
    seat: str = "alternating"
    name: str = "boards"


@dataclass
class EndedGames:
    """What became of games that ended, added up."""

    games: int = 0
    plies: int = 0
    points: float = 0.0  # the learner's: 1 a win, 1/2 a draw; without an opponent the last mover's
    wiped_out: int = 0  # games after which a side had no piece left

    def add(self, result: StepResult) -> None:
        """Count the games that this step ended."""
        final, games = result.final, len(result.ended)
        self.games += games
        self.plies += int(np.add.reduce(final.ply))  # half the time of its `sum`
        self.points += float(np.add.reduce(result.rewards) + games) / 2  # others have reward 0
        self.wiped_out += int(np.count_nonzero((final.own == 0) | (final.opp == 0)))

    def merge(self, other: EndedGames) -> None:
        """Count the games of another one too."""
        self.games += other.games
        self.plies += other.plies
        self.points += other.points
        self.wiped_out += other.wiped_out


class GroupedBoards:
    """The boards of all `groups`, one group after the other, as if they were one `Batch`.

    `opening_plies` and `starts` are those of `Batch`. With `symmetries` each game is seen under one
    of the game's symmetries, drawn when it begins: `seen` holds the positions so transformed, and
    actions are those chosen on them. `state` holds the positions themselves; modify neither.
    `discounts` (B,) float64 is the factor of the next state's value on each board.

    `threads` groups are played at a time; what happens in them does not depend on that, as long as
    opponents share nothing, such as NumPy's global generator. It pays where opponents search, in
    compiled code that leaves Python to the others.

    Raises ValueError or TypeError for values that make no sense.
    """

    def __init__(
        self,
        game: Game,
        groups: Sequence[BoardGroup],
        *,
        opening_plies: tuple[int, int] = (0, 0),
        starts: State | None = None,
        symmetries: bool = False,
        threads: int = 1,
        seed: int | None = None,
    ) -> None:
        if not groups:
            raise ValueError("there are no groups of boards: give one or more")
        if not is_whole(threads, 1):
            raise ValueError(f"threads is {quote(threads)}: it must be a whole number, 1 or more")
        self.game = game
        self.groups = list(groups)
        how: dict[str, Any] = {"opening_plies": opening_plies, "starts": starts}
        self.batches = [
            Batch(game, g.boards, opponent=g.opponent, seat=g.seat, **how) for g in groups
        ]
        ends = np.cumsum([g.boards for g in groups]).tolist()
        self.rows = [slice(end - g.boards, end) for g, end in zip(groups, ends, strict=True)]
        self.size: int = ends[-1]
        self.discounts: FloatArray = np.repeat(
            [ZERO_SUM if g.opponent is None else SAME_SIDE for g in groups],
            [g.boards for g in groups],
        )
        self.symmetries = BoardSymmetries(game, self.size) if symmetries else None
        self._rng = np.random.default_rng()  # draws symmetries
        self._ended = [EndedGames() for _ in groups]
        self._workers = ThreadPoolExecutor(threads) if threads > 1 else None
        if seed is not None:
            self.seed(seed)
        self.restart()

    def seed(self, seeds: int | Sequence[int]) -> None:
        """Seed every board: board i by seeds[i], or by seeds + i; `restart` then begins anew."""
        if isinstance(seeds, (int, np.integer)):
            seeds = [int(seeds) + board for board in range(self.size)]
        self._rng = np.random.default_rng([seeds[0] % (1 << 64), self.size])
        for batch, rows in zip(self.batches, self.rows, strict=True):
            batch.seed(seeds[rows])

    def restart(self) -> None:
        """New games everywhere."""
        for batch in self.batches:
            batch.restart()
        if self.symmetries:
            self.symmetries.draw(np.arange(self.size), self._rng)
        self._look()

    def step(self, actions: IntArray) -> StepResult:
        """One action on every board, and new games where it ended one.

        Raises IllegalActionError, and nothing is played, where an action is illegal.
        """
        turns = self._turns(check_actions(actions, self.size))
        results = self._go_on(turns)
        result = results[0] if len(results) == 1 else _join(results, self.rows)
        if result.ended.size:
            for ended, part in zip(self._ended, results, strict=True):
                ended.add(part)
        if self.symmetries:
            self._chosen = self.symmetries.chosen
            self.symmetries.draw(result.ended, self._rng)
        self._look()
        return result

    def seen_at_the_end(self, result: StepResult) -> State:
        """The last positions of the games that the last step ended, seen as these games were."""
        if self.symmetries is None:
            return result.final
        return self.symmetries.seen(result.final, self._chosen[result.ended])

    def _turns(self, actions: IntArray) -> list[Transition]:
        """The turn of every group; IllegalActionError where an action is not legal."""
        meant = actions
        if self.symmetries:  # which know what is meant by legal actions alone
            legal = self.game.is_legal(self.seen, actions)
            if not legal.all():
                self._refuse(actions, int(np.argmin(legal)))
            meant = self.symmetries.meant(actions)
        turns = [
            batch.turn(meant[rows], checked=self.symmetries is not None)
            for batch, rows in zip(self.batches, self.rows, strict=True)
        ]
        for turn, rows in zip(turns, self.rows, strict=True):
            if turn.illegal.any():
                self._refuse(actions, rows.start + int(np.argmax(turn.illegal)))
        return turns

    def _go_on(self, turns: Sequence[Transition]) -> list[StepResult]:
        """What follows the turn in every group."""
        todo = [partial(batch.go_on, turn) for batch, turn in zip(self.batches, turns, strict=True)]
        if self._workers is None or len(todo) == 1:
            return [go_on() for go_on in todo]
        steps = [self._workers.submit(go_on) for go_on in todo]
        try:
            return [step.result() for step in steps]
        finally:  # after an error too no thread goes on with a board
            for step in steps:
                step.cancel()
            wait(steps)

    def _look(self) -> None:
        states = [batch.state for batch in self.batches]
        self.state = states[0] if len(states) == 1 else concat(states)
        self.seen = self.symmetries.seen(self.state) if self.symmetries else self.state

    def _refuse(self, actions: IntArray, board: int) -> None:
        raise IllegalActionError(
            f"action {actions[board]} is not legal on board {board}; legal: "
            f"{legal_actions(self.game, self.seen, board)}. The policy needs the masks"
        )

    def take_ended(self) -> dict[str, EndedGames]:
        """What became of the games that ended since the last call, by the groups' names."""
        total = {g.name: EndedGames() for g in self.groups}
        for group, part in zip(self.groups, self._ended, strict=True):
            total[group.name].merge(part)
        self._ended = [EndedGames() for _ in self.groups]
        return total

    def close(self) -> None:
        """Let go of the threads."""
        if self._workers is not None:
            self._workers.shutdown()

    def snapshot(self) -> dict[str, Any]:
        """All that the games to come depend on but the opponents, as arrays and plain values; see
        `restore`.
        """
        return {
            "batches": [batch.snapshot() for batch in self.batches],
            "symmetries": self.symmetries and self.symmetries.chosen.copy(),
            "rng": deepcopy(self._rng.bit_generator.state),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot` of boards made alike."""
        for batch, state in zip(self.batches, snapshot["batches"], strict=True):
            batch.restore(state)
        if self.symmetries:
            self.symmetries.chosen = snapshot["symmetries"].copy()
        self._rng.bit_generator.state = snapshot["rng"]
        self._look()


def _join(results: Sequence[StepResult], rows: Sequence[slice]) -> StepResult:
    """The groups' results as one result; `rows` says which boards each group has."""
    ended = [part.ended + own.start for part, own in zip(results, rows, strict=True)]
    return StepResult(
        np.concatenate([part.rewards for part in results]),
        np.concatenate([part.terminated for part in results]),
        np.concatenate([part.truncated for part in results]),
        np.concatenate([part.illegal for part in results]),
        np.concatenate(ended),
        concat([part.final for part in results]),
    )
