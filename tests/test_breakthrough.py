"""Breakthrough, a game that is no part of boardenvs: its ends; its games are OpenSpiel's in
test_openspiel.py.
"""

from __future__ import annotations

import pytest
from boardenvs_breakthrough import Breakthrough

from boardenvs.game.errors import PositionError
from boardenvs.game.fen import parse_position

GAME = Breakthrough()


@pytest.mark.parametrize(
    ("text", "winner"),
    [
        ("8/8/8/3w4/8/8/8/2b5 white 9", 0),  # has come down to rank 1
        ("2w5/3b4/8/8/8/8/8/8 black 9", 1),
        ("8/8/8/3b4/8/8/8/8 white 9", 0),  # has captured all
        ("8/8/8/8/3w4/8/8/8 black 9", 1),
    ],
)
def test_ends(text: str, winner: int) -> None:
    position = parse_position(GAME, text)
    assert position.terminated
    assert position.result() == [(100, 0), (0, 100)][winner]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("w7/8/8/8/8/8/8/b7 white 9", "both sides have won"),
        ("8/8/8/8/8/8/8/8 white 9", "both sides have won"),
        ("8/bbbbbbbb/bbbbbbbb/b7/8/8/8/w7 black 9", "black has 17 pieces: a side has at most 16"),
    ],
)
def test_positions_that_are_none(text: str, message: str) -> None:
    with pytest.raises(PositionError, match=message):
        parse_position(GAME, text)
