"""Which side the learner plays against an opponent."""

from __future__ import annotations

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import Int8Array, IntArray, WordArray
from boardenvs.utils.checks import check_name


def check_seat(game: Game, seat: str) -> None:
    """ValueError where the seat is neither a role nor a way to draw one."""
    check_name("seat", seat, (*game.roles, "random", "alternating"))


def draw_seats(game: Game, seat: str, keys: WordArray, games: WordArray) -> Int8Array:
    """The learner's role in the next game of each row, (N,) int8, an index of `game.roles`.

    `keys` (N,) uint64 are the rows' seeds, `games` (N,) uint64 how many games each has begun.
    """
    if seat in game.roles:
        return np.full(len(keys), game.roles.index(seat), np.int8)
    first = mix(keys)
    numbers = (
        first + games
        if seat == "alternating"
        else mix(keys + games * np.uint64(0x9E3779B97F4A7C15))
    )
    return (numbers & np.uint64(1)).astype(np.int8)


def mix(x: IntArray) -> IntArray:
    """SplitMix64's finaliser, https://prng.di.unimi.it/splitmix64.c, on uint64 arrays."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    mixed: IntArray = x ^ (x >> np.uint64(31))
    return mixed
