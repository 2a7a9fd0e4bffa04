"""Positions of games that alpha-beta search plays against itself, with their targets: the values
that weights are fitted to.

In games won by points a target is the points that the side to move is ahead in the end, where
squares that stay empty are the winner's, as in tournaments: else to be left without a disc after
few moves, which is the worst that can happen, would seem a small loss. In other games it is
hundredths of a win.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import Int8Array, IntArray, State, WordArray, take, where
from boardenvs.search import Engine, Evaluation, Limits, engine_for
from boardenvs.search.compiled.values import DECIDED
from boardenvs.search.compiled.values import WIN as SEARCHED_WIN
from boardenvs.search.evaluation import POINT, WON
from boardenvs.utils.files import write_atomically
from boardenvs.utils.npz import ArchiveKind
from training.ntuple.settings import GenerationSettings, TargetSettings

Float32Array: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

WIN = WON // POINT  # what a won game counts where points do not


class PositionsFileError(ValueError):
    """A file that holds no positions; the message names it and says why."""


_KIND = ArchiveKind("positions", "training.ntuple", PositionsFileError)


class Positions(NamedTuple):
    """N positions, as their side to move sees them."""

    own: WordArray  # (N,)
    opp: WordArray  # (N,)
    result: Float32Array  # (N,): its target
    game: IntArray  # (N,) int32: which game it is of
    to_move: Int8Array  # (N,): its role
    ply: IntArray  # (N,) int32

    @classmethod
    def joined(cls, parts: list[Positions]) -> Positions:
        """All of them, one after the other."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def as_state(self, game: Game) -> State:
        """As rows without their legal actions."""
        count = len(self.own)
        return State(
            own=self.own,
            opp=self.opp,
            legal_bits=np.zeros((count, game.action_planes + 1), np.uint64),
            to_move=self.to_move,
            ply=self.ply,
            terminated=np.zeros(count, np.bool_),
        )


def play(
    game: Game,
    evaluation: Evaluation | None,
    settings: GenerationSettings,
    games: int,
    rng: np.random.Generator,
) -> Positions:
    """The positions of so many games, their random openings left out."""
    engine = engine_for(game, evaluation)
    state = random_openings(game, games, settings.opening_plies, rng)
    rows: IntArray = np.arange(games)
    parts: list[Positions] = []
    ends = np.zeros(games, np.float32)  # to the first role
    other = _Other(game, settings, games, rng)
    while len(rows):
        kept = other.not_to_answer(state, rows) if settings.after_own_moves else slice(None)
        parts.append(_positions(engine, take(state, kept), rows[kept], settings, rng))
        seeds = rng.integers(1 << 64, size=len(rows), dtype=np.uint64)
        actions = engine.search(state, seeds, settings.limits).action
        other.play(state, rows, seeds, actions)
        if settings.noise:
            random = rng.random(len(rows)) < settings.noise
            actions[random] = game.sample(take(state, np.flatnonzero(random)), rng)
        state = game.step(state, actions)
        over = game.is_over(state)
        ended = take(state, np.flatnonzero(over))
        ends[rows[over]] = of_ended(game, ended) * _to_first(ended)
        going_on = np.flatnonzero(~over)
        state, rows = take(state, going_on), rows[going_on]
    found = Positions.joined(parts)
    if settings.targets is None:
        found = found._replace(result=found.result * ends[found.game])
    return found


class _Other:
    """Plays one side of a share of the games, by the game's heuristic one ply deep."""

    def __init__(
        self, game: Game, settings: GenerationSettings, games: int, rng: np.random.Generator
    ) -> None:
        self._game = game
        self._role = np.full(games, -1)  # in each game; -1: none
        if settings.against_heuristic:
            its = rng.random(games) < settings.against_heuristic
            self._role[its] = rng.integers(2, size=games)[its]

    def not_to_answer(self, state: State, rows: IntArray) -> IntArray:
        """Which of the games `rows` are not where a move of the other side is to be answered."""
        role = self._role[rows]
        return np.flatnonzero((role == -1) | (role == state.to_move))

    def play(self, state: State, rows: IntArray, seeds: WordArray, actions: IntArray) -> None:
        """Replace the actions of its turns in the games `rows`."""
        its = np.flatnonzero(state.to_move == self._role[rows])
        if len(its):
            engine = engine_for(self._game)
            actions[its] = engine.search(take(state, its), seeds[its], Limits(1)).action


def _positions(
    engine: Engine,
    state: State,
    rows: IntArray,
    settings: GenerationSettings,
    rng: np.random.Generator,
) -> Positions:
    """One of each game in `rows`. Without targets its result is 1 for the first role, else -1."""
    state = moved_on(engine.game, state, settings.random_move_share, rng)
    if settings.targets is None:
        target = _to_first(state)
    else:
        target = of_search(engine, state, settings.targets, rng)
    return Positions(state.own, state.opp, target, rows.astype(np.int32), state.to_move, state.ply)


def _to_first(state: State) -> Float32Array:
    """1 where the first role is to move, else -1."""
    return np.where(state.to_move == 0, np.float32(1), np.float32(-1))


def of_ended(game: Game, ended: State) -> Float32Array:
    """Of games that are over, (B,)."""
    margin: Float32Array = game.score_margin(ended).astype(np.float32)
    if game.margin_counts:
        margin += np.sign(margin) * _empty_squares(game, ended)
    else:
        margin = np.sign(margin) * np.float32(WIN)
    return margin


def of_search(
    engine: Engine, state: State, settings: TargetSettings, rng: np.random.Generator
) -> Float32Array:
    """By a search of each position, none of them over, (B,)."""
    game = engine.game
    seeds = rng.integers(1 << 64, size=len(state.ply), dtype=np.uint64)
    found = engine.search(state, seeds, settings.limits, forced=True)
    value = found.value
    sign = np.sign(value)
    decided = abs(value) > DECIDED
    target = (value / POINT).astype(np.float32)
    if not game.margin_counts:
        target[decided] = WIN * sign[decided]
        return target
    # A search by depth sees an end in the middle of the game; at least so many squares are empty.
    ended_early = _empty_squares(game, state) - found.depth
    margin = value - SEARCHED_WIN * sign + sign * ended_early
    target[decided] = margin[decided]
    return target


def moved_on(game: Game, state: State, share: float, rng: np.random.Generator) -> State:
    """The state with a share of its positions a random move later, where that does not end them."""
    if not share:
        return state
    moved = rng.random(len(state.ply)) < share
    after = game.step(state, game.sample(state, rng))
    return where(moved & ~game.is_over(after), after, state)


def _empty_squares(game: Game, state: State) -> IntArray:
    taken = state.own | state.opp | np.uint64(game.holes)
    empty: IntArray = 64 - np.bitwise_count(taken).astype(np.int64)
    return empty


def save_positions(path: Path, positions: Positions) -> None:
    """Write them to a file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **positions._asdict())
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, buffer.getvalue())


def load_positions(path: Path) -> Positions:
    """What `save_positions` wrote; PositionsFileError, which says why, if it is not that."""
    with _KIND.open(path), np.load(path) as arrays:
        return Positions(*(arrays[name] for name in Positions._fields))
