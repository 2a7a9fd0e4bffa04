"""The numbers of lines of play from the start; `perft.json` holds them from depth 1 on."""

import json

import numpy as np
import pytest
from variants import HERE, make, of_built_in, random_position

from boardenvs import divide, perft
from boardenvs.game.perft import parts

pytestmark = pytest.mark.usefixtures("as_written")

PERFT: dict[str, list[int]] = json.loads((HERE / "perft.json").read_text())


@of_built_in
@pytest.mark.usefixtures("backend")
def test_perft(name, game):
    assert perft(game, 0) == 1
    for depth, expected in enumerate(PERFT[name], start=1):
        count = perft(game, depth)
        assert count == expected, f"depth {depth}; by first move: {divide(game, depth)}"


def test_many_rows_are_expanded_in_parts():
    state = make("othello").init(40_000)
    state.ply[:] = np.arange(40_000)
    plies = [part.ply for part in parts(state)]
    assert np.concatenate(plies).tolist() == [*range(40_000)]
    assert 2 < len(plies) < 9
    assert [len(part.ply) for part in parts(make("othello").init(0))] == [0]


def test_divide_adds_up(game):
    """From a position in the middle, too, and by the names of the legal actions."""
    position = random_position(game, seed=5, plies=9)
    shares = divide(game, 3, position)
    assert sum(shares.values()) == perft(game, 3, position)
    assert list(shares) == [game.action_name(a, position) for a in position.legal_actions()]
    assert set(divide(game, 1, position).values()) == {1}
    with pytest.raises(ValueError, match="depth is 0"):
        divide(game, 0, position)
