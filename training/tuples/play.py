"""Positions of games that alpha-beta search plays against itself, with how they ended."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import Int8Array, IntArray, State, WordArray, take
from boardenvs.search import Evaluation, engine_for
from boardenvs.search.evaluation import POINT, WON, Int16Array
from boardenvs.utils.files import write_atomically
from training.tuples.settings import GenerationSettings

WIN = WON // POINT  # what a won game counts where points do not


class Positions(NamedTuple):
    """N positions, as their side to move sees them."""

    own: WordArray  # (N,)
    opp: WordArray  # (N,)
    result: Int16Array  # (N,): the points that it was ahead in the end; or WIN, 0 or -WIN
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
    seen: list[tuple[State, IntArray]] = []
    results = np.zeros(games, np.int16)  # to the first role
    while len(rows):
        seen.append((state, rows))
        seeds = rng.integers(1 << 64, size=len(rows), dtype=np.uint64)
        actions = engine.search(state, seeds, settings.limits).action
        if settings.noise:
            random = rng.random(len(rows)) < settings.noise
            actions[random] = game.sample(take(state, np.flatnonzero(random)), rng)
        state = game.step(state, actions)
        over = game.is_over(state)
        ended = take(state, np.flatnonzero(over))
        results[rows[over]] = _results(game, ended) * np.where(ended.to_move == 0, 1, -1)
        going_on = np.flatnonzero(~over)
        state, rows = take(state, going_on), rows[going_on]
    return Positions.joined(
        [
            Positions(
                s.own,
                s.opp,
                results[r] * np.where(s.to_move == 0, 1, -1).astype(np.int16),
                r.astype(np.int32),
                s.to_move,
                s.ply,
            )
            for s, r in seen
        ]
    )


def _results(game: Game, ended: State) -> Int16Array:
    lead = game.lead(ended).astype(np.int16)
    return lead if game.margin_counts else WIN * np.sign(lead)


def save_positions(path: Path, positions: Positions) -> None:
    """Write them to a file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **positions._asdict())
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, buffer.getvalue())


def load_positions(path: Path) -> Positions:
    """What `save_positions` wrote."""
    with np.load(path) as arrays:
        return Positions(*(arrays[name] for name in Positions._fields))
