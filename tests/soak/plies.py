"""Plies by the million. Half the games begin at the start, half with pieces anywhere.

Most are played in batches by each backend at once, and in each position must hold what always
holds: no square with two pieces, legal actions that are those of the position set up anew. The
others are played by the slow rules of `reference.py` too, one by one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import TypeVar

import numpy as np
from reference import CELLS, HOLES, REFERENCE, Board, Move
from variants import make

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State, empty_state, put, state_words, take
from boardenvs.kernel import set_backend

T = TypeVar("T")

BATCH = 4096
REFERENCE_BATCH = 32
BACKENDS = ["numpy", "numba"] if find_spec("numba") else ["numpy"]


@dataclass
class Row:
    """What was played of a game."""

    name: str
    plies: int = 0
    reference_plies: int = 0


def play(
    plies: int, reference_plies: int, minutes: float | None = None, seed: int = 0
) -> list[Row]:
    """Play so many plies, in all games the same number; AssertionError where something is wrong.

    `minutes` of the processor end it sooner, half of them for either kind.
    """
    rows = []
    for name in REFERENCE:
        share = None if minutes is None else 30 * minutes / len(REFERENCE)
        row = Row(name)
        rng = np.random.default_rng([seed, *name.encode()])
        row.plies = until(plies // len(REFERENCE), share, play_batch(name, rng))
        row.reference_plies = until(
            reference_plies // len(REFERENCE), share, play_by_reference(name, rng)
        )
        rows.append(row)
    set_backend(None)
    return rows


def until(plies: int, seconds: float | None, played: Iterator[int]) -> int:
    """How many plies were played when these were enough, or this time was over."""
    begun, total = time.process_time(), 0
    while total < plies and (seconds is None or time.process_time() - begun < seconds):
        total += next(played)
    return total


# ---- invariants ----------------------------------------------------------------------------------


def play_batch(name: str, rng: np.random.Generator) -> Iterator[int]:
    """Random plies in a batch, one of each board at a time: how many."""
    game = make(name)
    state = begin(name, game, rng, BATCH)
    while True:
        actions = game.sample(state, rng)
        found = [by(backend, partial(game.step, state, actions)) for backend in BACKENDS]
        for other in found[1:]:
            assert_same(found[0], other)
        after = found[0]
        check(game, state, after)
        yield int((~state.terminated).sum())
        state = after
        over = np.flatnonzero(game.is_over(state))
        put(state, over, begin(name, game, rng, len(over)))


def by(backend: str, call: Callable[[], T]) -> T:
    """What a call returns where this backend computes the rules."""
    set_backend(backend)
    return call()


def assert_same(one: State, other: State) -> None:
    for x, y in zip(one, other, strict=True):
        np.testing.assert_array_equal(x, y)


def check(game: Game, before: State, after: State) -> None:
    """What holds after a ply in every game."""
    live = ~before.terminated
    assert not (after.own & after.opp).any()
    assert not ((after.own | after.opp) & np.uint64(game.holes)).any()
    assert (after.ply[live] == before.ply[live] + 1).all()
    assert (after.to_move[live] == 1 - before.to_move[live]).all()
    assert_same(after, set_up(game, after))
    some = (after.legal_bits != 0).any(axis=1)
    assert (some == ~after.terminated).all()
    noop = after.legal_bits[:, -1] != 0
    assert not (noop & (after.legal_bits[:, :-1] != 0).any(axis=1)).any()


def set_up(game: Game, state: State) -> State:
    """The same squares as a new position."""
    new = empty_state(len(state.ply), game.action_planes + 1)
    for array, given in zip(new, state, strict=True):
        array[:] = given
    game.kernels.begin.batch(state_words(state), [new.legal_bits, new.terminated])
    return new


def begin(name: str, game: Game, rng: np.random.Generator, size: int) -> State:
    """Half of the boards at the start, half with pieces anywhere."""
    state = game.init(size)
    rows = size // 2
    first, second = anywhere(name, rng, rows)
    other = take(state, slice(0, rows))
    other.to_move[:] = rng.integers(2, size=rows)
    other.ply[:] = rng.integers(48, size=rows)
    other.own[:] = np.where(other.to_move == 0, first, second)
    other.opp[:] = np.where(other.to_move == 0, second, first)
    put(state, slice(0, rows), set_up(game, other))
    return state


def anywhere(name: str, rng: np.random.Generator, rows: int) -> tuple[IntArray, IntArray]:
    """Squares of either role, as many as it can have, (B,) uint64 each."""
    order = rng.permuted(np.tile(np.arange(64, dtype=np.uint64), (rows, 1)), axis=1)
    bits = np.uint64(1) << order
    if name.startswith("wolf_and_sheep"):
        pieces = np.ones(rows, np.int64), np.full(rows, 4)
    elif name.startswith("lines_of_action"):
        pieces = rng.integers(1, 13, rows), rng.integers(1, 13, rows)
    else:
        pieces = rng.integers(1, 32, rows), rng.integers(1, 32, rows)
    places = np.arange(64)[None]
    one = places < pieces[0][:, None]
    two = ~one & (places < (pieces[0] + pieces[1])[:, None])
    allowed = np.uint64(~sum(1 << (8 * (y - 1) + x - 1) for x, y in HOLES) & (1 << 64) - 1)
    mask = allowed if "holes" in name else np.uint64((1 << 64) - 1)
    first, second = (np.bitwise_or.reduce(np.where(part, bits, 0), axis=1) for part in (one, two))
    return first & mask, second & mask


# ---- the slow rules ------------------------------------------------------------------------------


def play_by_reference(name: str, rng: np.random.Generator) -> Iterator[int]:
    """The same on boards of the reference, position by position: how many plies."""
    game, rules = make(name), REFERENCE[name]
    chance = random.Random(int(rng.integers(1 << 62)))
    state = begin(name, game, rng, REFERENCE_BATCH)
    boards = as_boards(game, state)
    while True:
        one_by_one = game.positions(state)
        moves: list[dict[int, Move]] = []
        for position, board in zip(one_by_one, boards, strict=True):
            legal = {action_of(name, move): move for move in rules.legal(board)}
            assert position.legal_actions() == sorted(legal), (name, position)
            assert position.terminated == rules.over(board), (name, position)
            assert position.result() == rules.goals(board), (name, position)
            moves.append(legal)
        live = [row for row, legal in enumerate(moves) if legal]
        actions = np.full(len(moves), game.noop)
        for row in live:
            actions[row] = chance.choice(sorted(moves[row]))
        found = [by(backend, partial(game.step, state, actions)) for backend in BACKENDS]
        for other in found[1:]:
            assert_same(found[0], other)
        after = game.positions(found[0])
        for row in live:
            position, action = one_by_one[row], int(actions[row])
            boards[row] = rules.after(boards[row], moves[row][action])
            for backend in BACKENDS:
                alone = by(backend, partial(position.step, action))
                assert after[row] == alone, (name, position, action)
            squares = after[row].pieces(0), after[row].pieces(1)
            assert squares == tuple(map(word, boards[row].pieces)), (name, position, action)
        yield len(live)
        state = found[0]
        over = [row for row, legal in enumerate(moves) if not legal]
        over += [row for row in live if after[row].is_over()]
        new = begin(name, game, rng, len(over))
        put(state, np.array(over, np.intp), new)
        for row, board in zip(over, as_boards(game, new), strict=True):
            boards[row] = board


def as_boards(game: Game, state: State) -> list[Board]:
    return [
        Board((cells(p.pieces(0)), cells(p.pieces(1))), p.to_move, p.ply)
        for p in game.positions(state)
    ]


def cells(squares: int) -> frozenset[tuple[int, int]]:
    return frozenset(cell for index, cell in enumerate(CELLS) if squares >> index & 1)


def word(pieces: frozenset[tuple[int, int]]) -> int:
    return sum(1 << (8 * (y - 1) + (x - 1)) for x, y in pieces)


@lru_cache(1 << 14)
def action_of(name: str, move: Move) -> int:
    return make(name).parse_gdl(REFERENCE[name].spell(move))
