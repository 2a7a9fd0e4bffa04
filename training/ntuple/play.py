"""Positions of games that alpha-beta search plays against itself, with the targets of the fit.

In games won by points a target is the final lead of the side to move; squares that stay empty are
the winner's, as in tournaments, or else a wipe-out after few moves would count as a small loss. In
other games it is hundredths of a win.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from boardenvs.arena.executor import WorkerError
from boardenvs.game.game import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import Int8Array, IntArray, State, WordArray, for_movers, take, where
from boardenvs.search import AlphaBeta, Evaluation, Limits, alphabeta_for
from boardenvs.search.compiled.nodes import DECIDED, WIN as SEARCHED_WIN
from boardenvs.search.evaluation import POINT, WON
from boardenvs.utils.npz import ArchiveKind, write_archive
from training.ntuple.ntuple_settings import GenerationSettings, TargetSettings

Float32Array: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

WIN = WON // POINT  # a won game, in games that are not won by points


class PositionsFileError(ValueError):
    """A file that does not hold positions; the message names it and says why."""


_KIND = ArchiveKind("positions", "training.ntuple", PositionsFileError)


class Positions(NamedTuple):
    """N positions, seen by the side to move."""

    words: WordArray  # (N, words): the words of each position, without its history
    result: Float32Array  # (N,): the target
    game: IntArray  # (N,) int32: the number of the game
    to_move: Int8Array  # (N,): the role
    ply: IntArray  # (N,) int32

    @classmethod
    def joined(cls, parts: list[Positions]) -> Positions:
        """Return all positions of the parts."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def take(self, rows: IntArray | slice) -> Positions:
        """Return the rows."""
        return Positions._make(column[rows] for column in self)

    def as_state(self, game: Game) -> State:
        """Return them as a state without legal actions."""
        state = game.empty(len(self.result))
        state.legal_bits[:], state.terminated[:] = 0, False
        for word, values in zip(state.words, self.words.T, strict=False):
            word[:] = values
        for word in state.words[game.known_words :]:
            word[:] = 0
        if state.history is not None:
            state.history[:] = 0
        return state._replace(to_move=self.to_move, ply=self.ply)


def play(
    game: Game,
    evaluation: Evaluation | None,
    settings: GenerationSettings,
    games: int,
    rng: np.random.Generator,
) -> Positions:
    """Play games; return their positions after the random openings."""
    engine = alphabeta_for(game, evaluation)
    state = random_openings(game, games, settings.opening_plies, rng)
    heuristic_role = np.full(games, -1)  # the role of the game's heuristic; -1: none
    if settings.against_heuristic:
        chosen = rng.random(games) < settings.against_heuristic
        heuristic_role[chosen] = rng.integers(2, size=games)[chosen]
    rows: IntArray = np.arange(games)
    parts: list[Positions] = []
    ends = np.zeros(games, np.float32)  # to the first role
    while len(rows):
        by_heuristic = heuristic_role[rows] == state.to_move
        shown = moved_on(game, state, settings.random_move_share, rng)
        if settings.targets is None:
            # For the first role; times the result of the game.
            target = for_movers(0, shown, np.ones(len(rows), np.float32))
        else:
            target = of_search(engine, shown, settings.targets, rng)
        words = np.stack(shown.words[: game.known_words], axis=1)
        parts.append(Positions(words, target, rows.astype(np.int32), shown.to_move, shown.ply))
        seeds = rng.integers(1 << 64, size=len(rows), dtype=np.uint64)
        actions = engine.search(state, seeds, settings.limits).action
        if by_heuristic.any():
            heuristic, its = alphabeta_for(game), take(state, by_heuristic)
            actions[by_heuristic] = heuristic.search(its, seeds[by_heuristic], Limits(1)).action
        if settings.noise:
            random = rng.random(len(rows)) < settings.noise
            actions[random] = game.sample(take(state, random), rng)
        state = game.step(state, actions)
        over = game.is_over(state)
        ended = take(state, over)
        ends[rows[over]] = for_movers(0, ended, of_ended(game, ended))
        state, rows = take(state, ~over), rows[~over]
    positions = Positions.joined(parts)
    if settings.targets is None:
        positions = positions._replace(result=positions.result * ends[positions.game])
    return positions


@dataclass(frozen=True)
class GamesToPlay:
    """A task that plays games."""

    game: Game
    settings: GenerationSettings
    games: int
    seeds: tuple[int, ...]  # of the generator
    evaluation: Evaluation | None

    def run(self) -> Positions:
        rng = np.random.default_rng(self.seeds)
        return play(self.game, self.evaluation, self.settings, self.games, rng)

    def lost(self, side: int) -> Positions:
        raise WorkerError("games cannot be played: their processes die")


def of_ended(game: Game, ended: State) -> Float32Array:
    """Return the targets of games that are over, (B,)."""
    margin: Float32Array = game.score_margin(ended).astype(np.float32)
    if game.margin_counts:
        margin += np.sign(margin) * game.empty_squares(ended)
    else:
        margin = np.sign(margin) * np.float32(WIN)
    return margin


def of_search(
    engine: AlphaBeta, state: State, settings: TargetSettings, rng: np.random.Generator
) -> Float32Array:
    """Return the targets of positions that are not over by searching them, (B,)."""
    game = engine.game
    seeds = rng.integers(1 << 64, size=len(state.ply), dtype=np.uint64)
    result = engine.search(state, seeds, settings.limits, forced=True)
    value, sign = result.value, np.sign(result.value)
    if game.margin_counts:
        # A search may see an end in the middle of the game, with at least this many squares empty.
        ended_early = game.empty_squares(state) - result.depth
        margin = value - SEARCHED_WIN * sign + sign * ended_early
    else:
        margin = WIN * sign
    return np.where(abs(value) > DECIDED, margin, value / POINT).astype(np.float32)


def moved_on(game: Game, state: State, share: float, rng: np.random.Generator) -> State:
    """Make a random move in a share of the positions, unless it ends the game."""
    if not share:
        return state
    moved = rng.random(len(state.ply)) < share
    after = game.step(state, game.sample(state, rng))
    return where(moved & ~game.is_over(after), after, state)


def save_positions(path: Path, positions: Positions) -> None:
    """Write positions to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_archive(path, positions._asdict())


def load_positions(path: Path) -> Positions:
    """Return what `save_positions` wrote; PositionsFileError if the file is damaged."""
    with _KIND.open(path) as arrays:
        return Positions(*(arrays[name] for name in Positions._fields))
