"""Recorded games of every variant, ply by ply, as a batch and on one board.

Each file in `playouts/` was played by another implementation: by the rule sheets, or for the
`_described` ones by a slow set-based one. A game without a file fails here.
"""

import functools
from typing import Any

import numpy as np
import pytest
from variants import BUILT_IN, load_playouts, make, of_built_in

from boardenvs.game.contract import Position
from boardenvs.game.state import take

pytestmark = pytest.mark.usefixtures("backend")


def square(text: str) -> int:
    """The square of a cell, 19 for "4 3", "d 3" and "c4 c3"."""
    x, y = text.split()
    file = int(x[-1]) if x[-1].isdigit() else "abcdefgh".index(x) + 1
    return 8 * (int(y[-1]) - 1) + file - 1


def words(game, cells: dict[str, list[str]]) -> tuple[int, ...]:
    """The squares by role. A role is written in full or by its first letter."""
    return tuple(
        sum(1 << square(text) for text in cells.get(role, cells.get(role[0], [])))
        for role in game.roles
    )


def goals(game, record: dict[str, Any]) -> tuple[float, ...]:
    return tuple(record["goals"][role] for role in game.roles)


@functools.cache
def records(name: str) -> list[dict[str, Any]]:
    """The file's games; each ply with its squares as words and its actions as numbers."""
    game = make(name)
    parse = functools.cache(game.parse_gdl)
    played = load_playouts(name)
    for record in played:
        for ply in record["plies"]:
            ply["squares"] = words(game, ply["cells"])
            ply["actions"] = sorted(parse(text) for text in ply["legal"])
            ply["action"] = parse(ply["move"])
    return played


def by_role(position: Position) -> tuple[int, int]:
    return position.pieces(0), position.pieces(1)


@of_built_in
def test_batch(name, game):
    """The whole file as one batch: role, squares, legal actions, end and goals at each ply."""
    played = records(name)
    assert len(played) >= 30
    lengths = np.array([len(record["plies"]) for record in played])
    state = game.init(len(played))
    for t in range(lengths.max() + 1):
        ended = np.flatnonzero(lengths == t)
        for row, position in zip(ended, game.positions(take(state, ended)), strict=True):
            record = played[row]
            assert by_role(position) == words(game, record["final"]), f"game {row}, end"
            assert position.terminated == (record["goals"] is not None), f"game {row}, end"
            if position.terminated:
                assert position.legal_actions() == []
                assert tuple(game.goal(state)[row]) == goals(game, record), f"game {row}"
        live = np.flatnonzero(lengths > t)
        if not live.size:
            break
        plies = [played[row]["plies"][t] for row in live]
        part = take(state, live)
        assert not part.terminated.any(), f"over before ply {t}"
        assert (game.goal(part) == 0).all()
        assert (part.ply == t).all()
        for row, position, ply in zip(live, game.positions(part), plies, strict=True):
            where = f"game {row}, ply {t}"
            assert game.roles[position.to_move] == ply["player"], where
            assert by_role(position) == ply["squares"], where
            assert position.legal_actions() == ply["actions"], where
        expected = np.zeros((len(live), game.num_actions), np.bool_)
        for i, ply in enumerate(plies):
            expected[i, ply["actions"]] = True
        np.testing.assert_array_equal(game.legal(part), expected)
        actions = np.full(len(played), game.noop)
        actions[live] = [ply["action"] for ply in plies]
        after = game.step(state, actions)
        for before, now in zip(state, after, strict=True):  # finished games stay as they are
            np.testing.assert_array_equal(now[state.terminated], before[state.terminated])
        state = after


def test_every_variant_and_ending_is_there():
    """Each variant has games that are won by either side or drawn, where its rules allow that."""
    seen = {name: {goals(make(name), r) for r in records(name) if r["goals"]} for name in BUILT_IN}
    win, loss, draw = (100, 0), (0, 100), (50, 50)
    for name in ("othello", "othello_holes", "reversi", "lines_of_action"):
        assert seen[name] == {win, loss, draw}
    assert seen["wolf_and_sheep"] == {win, loss}
    assert seen["wolf_and_sheep_described"] == {win}  # see test_described.py
