"""Which side the learner plays against an opponent."""

from __future__ import annotations

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import Int8Array, IntArray, WordArray
from boardenvs.utils.checks import check_name
from boardenvs.utils.splitmix import GOLDEN, mix


def check_seat(game: Game, seat: str) -> None:
    """ValueError where the seat is neither a role nor a way to draw one."""
    check_name("seat", seat, (*game.roles, "random", "alternating"))


def draw_seats(game: Game, seat: str, keys: WordArray, games: WordArray) -> Int8Array:
    """The learner's role in the next game of each row, (N,) int8, an index of `game.roles`.

    `keys` (N,) uint64 are the rows' seeds, `games` (N,) uint64 how many games each has begun.
    """
    if seat in game.roles:
        return np.full(len(keys), game.roles.index(seat), np.int8)
    numbers: IntArray = (
        mix(keys) + games if seat == "alternating" else mix(keys + games * np.uint64(GOLDEN))
    )
    return (numbers & np.uint64(1)).astype(np.int8)
