"""Wolf and Sheep with the pieces anywhere: positions that few games come to."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from hypothesis import strategies as st
from variants import make

from boardenvs.board import MIRROR, from_squares
from boardenvs.game.position import stack
from boardenvs.game.state import State
from boardenvs.games import WolfAndSheep
from boardenvs.tablebase.numbering import DARK_SQUARES

CLASSIC, DESCRIBED = "wolf_and_sheep", "wolf_and_sheep_described"
WOLF, SHEEP = 0, 1


def game_of(name: str, max_plies: int | None = None) -> WolfAndSheep:
    """The variant, without a cap where none is given."""
    game = make(name)
    assert isinstance(game, WolfAndSheep)
    return dataclasses.replace(game, max_plies=max_plies)


def random_placings(game: WolfAndSheep, count: int, seed: int) -> State:
    """Positions with the pieces anywhere, the sheep on one colour, at ply 0."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        flock = from_squares(rng.choice(DARK_SQUARES, 4, replace=False).tolist())
        wolf = 1 << int(rng.choice([s for s in range(64) if not flock >> s & 1]))
        if rng.random() < 0.5:
            wolf, flock = map(MIRROR.apply, (wolf, flock))
        found.append(game.position((wolf, flock), int(rng.integers(2))))
    return stack(found)


@st.composite
def placings(draw: Any) -> tuple[int, int]:
    """The squares of the wolf and of the sheep, on dark squares."""
    flock = draw(st.sets(st.sampled_from(DARK_SQUARES), min_size=4, max_size=4))
    wolf = draw(st.sampled_from([s for s in range(64) if s not in flock]))
    return 1 << wolf, from_squares(flock)
