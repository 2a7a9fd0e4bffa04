"""Random openings: positions after uniformly random plies from the start, none of them over."""

from __future__ import annotations

import numpy as np

from boardenvs.game import Game
from boardenvs.state import BoolArray, IntArray, State, concat, take

# Rounds of drawing before the openings asked for count as not to be had.
_ROUNDS = 8


def random_openings(
    game: Game, count: int, plies: tuple[int, int], rng: np.random.Generator
) -> State:
    """`count` positions, each after a uniformly random number of random plies in [low, high].

    Games that end before their number of plies are dropped and drawn anew, so where games can be
    that short, long openings are rarer. ValueError where `plies` is no range, or where games are
    practically always over by then.
    """
    _check_plies(plies)
    drawn = 0
    parts: list[State] = []
    for _ in range(_ROUNDS):
        part = _draw(game, count, plies, rng)
        parts.append(part)
        drawn += len(part.ply)
        if drawn >= count:
            return take(concat(parts), slice(count))
        if drawn == 0:
            raise ValueError(
                f"no game of {game.id} lasts {plies[0]} random plies: lower the plies of openings"
            )
    found = concat(parts)
    return take(found, rng.integers(drawn, size=count))


def distinct_openings(
    game: Game, count: int, plies: tuple[int, int], rng: np.random.Generator
) -> State:
    """`random_openings` without repeats, or with as few as the number of openings allows."""
    found = random_openings(game, count, plies, rng)
    for _ in range(_ROUNDS):
        first = _first_of_each(found)
        if len(first) >= count:
            break
        found = concat([take(found, first), random_openings(game, count, plies, rng)])
    first = _first_of_each(found)
    return take(found, np.resize(first, count))


def _draw(game: Game, count: int, plies: tuple[int, int], rng: np.random.Generator) -> State:
    """The openings that `count` random games reach, at most `count`."""
    low, high = plies
    length = rng.integers(low, high, size=count, endpoint=True)
    state = game.init(count)
    parts = []
    for ply in range(high + 1):
        live: BoolArray = ~(state.terminated | game.truncated(state))
        parts.append(take(state, live & (length == ply)))
        going = live & (length > ply)
        state, length = take(state, going), length[going]
        if not len(length):
            break
        state = game.step(state, game.sample(state, rng))
    found = concat(parts)
    # Short openings come first: what is cut off or dealt out in order must not depend on length.
    return take(found, rng.permutation(len(found.ply)))


def _first_of_each(state: State) -> IntArray:
    """The row of each distinct position's first appearance, ascending."""
    key = np.stack(
        [state.own, state.opp, state.to_move.astype(np.uint64), state.ply.astype(np.uint64)], axis=1
    )
    return np.sort(np.unique(key, axis=0, return_index=True)[1])


def _check_plies(plies: tuple[int, int]) -> None:
    low, high = plies
    if not 0 <= low <= high:
        raise ValueError(f"plies of openings are {plies}: they must be a range (low, high) from 0")
