"""Plies by the million. Half the games begin at the start, half with pieces anywhere.

They are played in batches by each backend at once, and in each position must hold what always
holds: no square with two pieces, legal actions that are those of the position set up anew.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from reference import HOLES, REFERENCE
from variants import make

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State, empty_state, put, state_words, take
from boardenvs.kernel import set_backend
from soak.works import Row

BATCH = 4096
BACKENDS = ["numpy", "numba"] if find_spec("numba") else ["numpy"]


def play(plies: int, minutes: float | None) -> Row:
    """Play so many plies, in all games the same number; AssertionError where something is wrong.

    `minutes` of the processor end it sooner.
    """
    row = Row("plies", seen="the same by each backend, and of positions set up anew")
    for name in REFERENCE:
        played = play_batch(name, np.random.default_rng([*name.encode()]))
        begun, wanted = time.process_time(), row.tried + plies // len(REFERENCE)
        while row.tried < wanted:
            row.tried += next(played)
            if minutes and time.process_time() - begun > 60 * minutes / len(REFERENCE):
                break
    set_backend(None)
    return row


# ---- invariants ----------------------------------------------------------------------------------


def play_batch(name: str, rng: np.random.Generator) -> Iterator[int]:
    """Random plies in a batch, one of each board at a time: how many."""
    game = make(name)
    state = begin(name, game, rng, BATCH)
    while True:
        actions = game.sample(state, rng)
        found = []
        for backend in BACKENDS:
            set_backend(backend)
            found.append(game.step(state, actions))
            assert_same(found[0], found[-1])
        after = found[0]
        check(game, state, after)
        yield int((~state.terminated).sum())
        state = after
        over = np.flatnonzero(game.is_over(state))
        put(state, over, begin(name, game, rng, len(over)))


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
