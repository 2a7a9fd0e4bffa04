"""Self-play by Gumbel search: many games side by side, and what they leave to learn from.

The boards may be played in parts, each a task for whoever does it (`boardenvs.arena.executor`): it
is given how the games stand, and gives back how they stand some plies later, and what was played.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch as th

from boardenvs.arena.processes import WorkerError
from boardenvs.envs.batch import Batch
from boardenvs.envs.groups import EndedGames
from boardenvs.game.contract import Game
from boardenvs.game.state import Array, BoolArray, FloatArray, IntArray, State, take
from boardenvs.search import Evaluator
from boardenvs.search.gumbel import gumbel_search
from training.boards import board_groups, board_options
from training.gumbel.network import JudgedNetwork
from training.gumbel.settings import GumbelConfig


class Keeper(Protocol):
    """Who is given what was played: a `ReplayBuffer`, whose methods explain these."""

    def add(
        self,
        state: State,
        policy: Array,
        has_policy: BoolArray,
        values: Array,
        games: IntArray,
    ) -> None: ...

    def finish(self, game: int, result: float) -> None: ...


class SelfPlay:
    """The games of a part of a training, on the boards that all trainings have.

    Some plies are searched in full, with noise, and their policies are learnt. The others are
    played after a quick search or none, without noise: what they are for is the result of the game
    (playout cap randomisation, Wu 2019). Nothing is learnt of an opponent's plies.
    """

    def __init__(self, config: GumbelConfig, game: Game, part: int = 0) -> None:
        self.game = game
        self._config, self._part = config, part
        ours = config.part()
        options = {**_options(pickle.dumps(config)), "symmetries": False}  # drawn when learnt from
        seed = config.seed + part * ours.self_play.boards
        self.boards = Batch(game, board_groups(ours), **options, seed=seed)
        self._rng = np.random.default_rng([config.seed, 1, part])
        judge = config.search.judge
        self._judge = None if judge is None else (config.evaluation_of(judge), judge)
        boards = self.boards.size
        self._begun = boards  # games so far
        self._games: IntArray = np.arange(boards)
        self._capped_role: IntArray = np.full(boards, -1, np.int64)
        self._draw_capped_roles(np.arange(boards))

    def play(self, evaluator: Evaluator, plies: int, keeper: Keeper) -> None:
        """So many plies on every board."""
        if self._judge is not None:
            evaluation, judge = self._judge
            evaluator = JudgedNetwork(evaluator, evaluation, judge.depth, judge.share)
        for _ in range(plies):
            state = self.boards.state
            result = self.boards.step(self._search(state, evaluator, keeper))
            to_first = np.where(state.to_move == 0, result.rewards, -result.rewards)
            over = result.ended
            for game, its_result in zip(self._numbers()[over], to_first[over], strict=True):
                keeper.finish(int(game), float(its_result))
            self._begin(over)

    def _numbers(self) -> IntArray:
        """The games' numbers, of which those of other parts have none."""
        return self._games * self._config.parts + self._part

    def _search(self, state: State, evaluator: Evaluator, keeper: Keeper) -> IntArray:
        """The actions on all boards; what was found is given to the keeper."""
        settings, size = self._config.search, self.boards.size
        capped_search = settings.capped()
        full = self._rng.random(size) < settings.full_share
        unsearched = state.to_move == self._capped_role
        if capped_search is None:
            unsearched |= ~full
        noise = self._rng.gumbel(size=(size, self.game.num_actions))
        noise[~full] = 0
        actions: IntArray = np.zeros(size, np.int64)
        policy: FloatArray = np.zeros((size, self.game.num_actions))
        values: FloatArray = np.zeros(size)
        for rows, how in ((full, settings.full()), (~full & ~unsearched, capped_search)):
            if how is not None and rows.any():
                found = gumbel_search(self.game, take(state, rows), noise[rows], how, evaluator)
                actions[rows], policy[rows], values[rows] = found
        if unsearched.any():
            probabilities, judged = evaluator.evaluate(self.game, take(state, unsearched))
            actions[unsearched] = probabilities.argmax(axis=1)
            values[unsearched & ~full] = judged[~full[unsearched]]
        keeper.add(state, policy, full, values, self._numbers())
        return actions

    def _begin(self, over: IntArray) -> None:
        """Games have begun on these boards, where others were over."""
        self._games[over] = self._begun + np.arange(len(over))
        self._begun += len(over)
        self._draw_capped_roles(over)

    def _draw_capped_roles(self, boards: IntArray) -> None:
        """The roles that play without search in the games that begin on these boards, -1 for none;
        against an opponent the network's own.
        """
        drawn = self._rng.integers(2, size=len(boards))
        capped = self._rng.random(len(boards)) < self._config.search.playout_cap_role_share
        its_own = self.boards.state.to_move[boards]
        role = np.where(self.boards.self_play[boards], drawn, its_own)
        self._capped_role[boards] = np.where(capped, role, -1)

    def snapshot(self) -> dict[str, Any]:
        """All that the rest of the games depends on."""
        return {
            "rng": self._rng.bit_generator.state,
            "boards": self.boards.snapshot(),
            "begun": self._begun,
            "games": self._games.copy(),
            "capped_role": self._capped_role.copy(),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot`."""
        self._rng.bit_generator.state = snapshot["rng"]
        self.boards.restore(snapshot["boards"])
        self._begun = snapshot["begun"]
        self._games, self._capped_role = snapshot["games"].copy(), snapshot["capped_role"].copy()


@lru_cache(maxsize=1)
def _options(config: bytes) -> dict[str, Any]:
    """What the boards of all parts share: openings may take long to play."""
    return board_options(pickle.loads(config))


# ---- parts as tasks ------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _games_of(config: bytes, part: int) -> SelfPlay:
    """The boards of a part, made once in each process that plays it."""
    made: GumbelConfig = pickle.loads(config)
    return SelfPlay(made, made.make_game(), part)


@dataclass
class Recording:
    """A keeper that notes what it is given, in its order."""

    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def add(
        self, state: State, policy: Array, has_policy: BoolArray, values: Array, games: IntArray
    ) -> None:
        arrays = policy.astype(np.float16), has_policy, values.astype(np.float32), games
        self.calls.append((take(state, np.arange(len(games))), *arrays))

    def finish(self, game: int, result: float) -> None:
        self.calls.append((game, result))

    def give(self, keeper: Keeper) -> None:
        """Give another keeper the same."""
        for call in self.calls:
            (keeper.finish if len(call) == 2 else keeper.add)(*call)


class PlayedPart(NamedTuple):
    """What comes of a `PartToPlay`."""

    after: dict[str, Any]  # how the games stand
    record: Recording
    ended: dict[str, EndedGames]


@dataclass(frozen=True)
class PartToPlay:
    """So many plies on the boards of a part, by the network that is shared."""

    config: GumbelConfig
    part: int
    before: dict[str, Any]  # how the games stand
    plies: int
    seed: int  # of global generators

    def run(self, evaluator: Evaluator, running: object) -> PlayedPart:
        th.set_num_threads(self.config.threads)
        games = _games_of(pickle.dumps(self.config), self.part)
        games.restore(self.before)
        record = Recording()
        games.play(evaluator, self.plies, record)
        return PlayedPart(games.snapshot(), record, games.boards.take_ended())

    def lost(self, side: int) -> PlayedPart:
        raise WorkerError(f"part {self.part} of the boards cannot be played: it ends its processes")


def added_up(parts: Iterable[Mapping[str, EndedGames]]) -> dict[str, EndedGames]:
    """What became of the games of all parts, by the groups' names."""
    total: dict[str, EndedGames] = {}
    for part in parts:
        for name, ended in part.items():
            known = total.setdefault(name, EndedGames())
            for what, count in vars(ended).items():
                setattr(known, what, getattr(known, what) + count)
    return total
