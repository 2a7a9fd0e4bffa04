"""Breakthrough, a game that is no part of boardenvs: its rules, against OpenSpiel's, and search."""

from __future__ import annotations

import random
from typing import Any

import pytest
from boardenvs_breakthrough import Breakthrough

from boardenvs import perft
from boardenvs.board.bitboard import from_squares
from boardenvs.game.contract import Position
from boardenvs.game.errors import PositionError
from boardenvs.game.fen import parse_position

GAME = Breakthrough()


def names(state: Any) -> dict[str, int]:
    """OpenSpiel's legal actions by our names; it writes a capture with a star, "a7b6*"."""
    texts = {state.action_to_string(a).rstrip("*"): a for a in state.legal_actions()}
    return {f"{text[:2]}-{text[2:]}": action for text, action in texts.items()}


def assert_same(position: Position, state: Any) -> None:
    """Player, board, legal actions, end and result."""
    rows = [line[1:] for line in str(state).split("\n")[:8]]
    for role, piece in enumerate("bw"):
        found = [
            "abcdefgh"[x] + str(8 - y) for y in range(8) for x in range(8) if rows[y][x] == piece
        ]
        assert from_squares(found) == position.pieces(role)
    assert position.terminated == state.is_terminal()
    if position.terminated:
        assert [50 + 50 * value for value in state.returns()] == list(position.result())
    else:
        assert state.current_player() == position.to_move
        ours = [GAME.action_name(a, position) for a in position.legal_actions()]
        assert sorted(ours) == sorted(names(state))


def new_state() -> Any:
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    return pyspiel.load_game("breakthrough").new_initial_state()


@pytest.mark.usefixtures("backend")
def test_random_games_are_those_of_openspiel() -> None:
    rng, won = random.Random(0), set()
    for _ in range(100):
        position, state = GAME.start(), new_state()
        assert_same(position, state)
        while not position.terminated:
            name = rng.choice(sorted(names(state)))
            state.apply_action(names(state)[name])
            position = position.step(GAME.parse_action(name))
            assert_same(position, state)
        won.add(position.result())
    assert won == {(100, 0), (0, 100)}


def lines_of_play(state: Any, depth: int) -> int:
    if depth == 1:
        return len(state.legal_actions())
    return sum(lines_of_play(state.child(a), depth - 1) for a in state.legal_actions())


def test_perft_is_that_of_openspiel() -> None:
    """From the start, and from positions with captures and ends near by."""
    rng, position, state = random.Random(3), GAME.start(), new_state()
    while not position.terminated:
        if position.ply % 8 == 0:
            assert perft(GAME, 3, position) == lines_of_play(state, 3)
        name = rng.choice(sorted(names(state)))
        state.apply_action(names(state)[name])
        position = position.step(GAME.parse_action(name))
    assert position.ply > 40


# ---- what else the class says --------------------------------------------------------------------


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


# ---- search --------------------------------------------------------------------------------------
