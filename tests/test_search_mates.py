"""Wins and losses in so many plies, against the tablebase and against plain search."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from negamax import is_over, loses_within, wins_within
from placings import CLASSIC, DESCRIBED, game_of, random_placings
from variants import make, searched

from boardenvs.game.contract import Position, stack
from boardenvs.game.fen import parse_position
from boardenvs.game.rules import MAX_VALUE
from boardenvs.game.state import take
from boardenvs.kernel import set_backend
from boardenvs.search import Analysis, Limits, engine_for
from boardenvs.tablebase import Tablebase


@pytest.fixture
def in_machine_code():
    if not find_spec("numba"):
        pytest.skip("numba is not installed: this takes minutes without")
    set_backend("numba")
    yield
    set_backend(None)


# ---- Wolf and Sheep -----------------------------------------------------------------------------


@pytest.mark.usefixtures("in_machine_code")
def test_the_classic_start_is_lost_for_the_wolf_in_44_plies() -> None:
    game = make(CLASSIC)
    found = searched(game.start())
    assert (found.outcome, found.plies, found.depth) == ("loss", 44, 44)
    assert (found.margin, found.value) == (None, -MAX_VALUE)
    position = game.start()
    table = Tablebase.load(game)
    for ply, action in enumerate(found.line):
        assert (
            table.lookup(stack([position]))[1] == 44 - ply
        )  # no move of the line hurries or dawdles
        position = position.step(action)
    assert position.terminated
    assert position.result() == (0, 100)


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize(("name", "plies"), [(CLASSIC, 6), (DESCRIBED, 5)])
def test_short_wins_and_losses_are_those_of_the_tablebase(name: str, plies: int) -> None:
    game = game_of(name, max_plies=200)
    state = random_placings(game, 400, seed=3)
    table = Tablebase.load(game)
    value, distance = table.lookup(state)
    near = take(state, (distance > 0) & (distance <= plies))
    found = engine_for(game).search(
        near, np.zeros(len(near.ply), np.uint64), Limits(plies), forced=True
    )
    value, distance = table.lookup(near)
    assert len(value) > 30
    assert found.exact.all()
    assert (found.value == value * (1_000_000 - distance.astype(np.int64))).all()
    after, moves_left = table.lookup(game.step(near, found.action))
    assert (after == -value).all()
    assert (moves_left == distance - 1).all()
    far = take(state, np.flatnonzero(table.lookup(state)[1] > plies)[:60])
    found = engine_for(game).search(far, np.zeros(len(far.ply), np.uint64), Limits(plies - 2))
    assert not found.exact.any()


@pytest.mark.usefixtures("in_machine_code")
def test_any_classic_position_is_solved_as_in_the_tablebase() -> None:
    game = game_of(CLASSIC, max_plies=200)
    state = random_placings(game, 60, seed=4)
    state = take(state, ~state.terminated)
    value, distance = Tablebase.load(game).lookup(state)
    assert distance.max() > 20
    for row, position in enumerate(game.positions(state)):
        found = searched(position)
        assert found.outcome == ("win" if value[row] == 1 else "loss")
        assert found.plies == len(found.line) == distance[row]


# ---- Lines of Action ----------------------------------------------------------------------------

WINS = {  # found by search of random games
    1: [
        "2w5/3w2ww/5w2/8/1w2wbwb/7b/1w2bb2/1w1b2w1 black 42",
        "4bbbw/6ww/5w1b/bb1b1w2/w1w1w3/2b5/7b/4bb2 white 31",
    ],
    3: [
        "8/4w3/2bb2b1/wwb1b1bw/w1b1b1b1/8/w4w2/w2bw3 black 36",
        "3b1wb1/w1w2w2/3w2b1/2wbw3/b7/2w1wb2/8/b2bb3 white 39",
    ],
    5: [
        "6w1/w6b/3w3w/3bwb2/1wbb4/8/w3bw2/8 black 42",
        "6w1/w6b/wb3b2/bbwb2w1/3b3w/1bbw4/2w5/8 black 42",
    ],
}
LOSSES = {
    2: ["4b1b1/1b1w4/5bb1/4w2b/4bw2/4w1w1/3wwb2/6b1 black 38"],
    4: ["1ww2b2/3b3w/1w2bbbb/w7/6b1/8/w2w4/2w3w1 white 41"],
}


def cases(by_plies: dict[int, list[str]]) -> list[tuple[int, str]]:
    return [(plies, text) for plies, texts in by_plies.items() for text in texts]


def proven(position: Position, found: Analysis) -> None:
    """By plain search: a win or loss in so many plies, and in no fewer."""
    game, plies = make("lines_of_action"), found.plies
    assert plies is not None
    decided = wins_within if found.outcome == "win" else loses_within
    assert decided(game, position, plies)
    assert not decided(game, position, plies - 1)


@pytest.mark.parametrize(("plies", "text"), cases(WINS) + cases(LOSSES))
def test_wins_of_lines_of_action(plies: int, text: str) -> None:
    """Each position, and those of its line: all are won or lost in the plies that are left."""
    game = make("lines_of_action")
    position = parse_position(game, text)
    found = searched(position)
    assert (found.outcome, found.plies) == ("win" if plies % 2 else "loss", plies)
    assert len(found.line) == plies
    winner = position.to_move if plies % 2 else 1 - position.to_move
    for left, action in zip(range(plies, 0, -1), found.line, strict=True):
        here = searched(position)
        assert (here.outcome, here.plies) == ("win" if left % 2 else "loss", left)
        proven(position, here)
        assert position.is_legal(action)
        position = position.step(action)
    assert is_over(game, position)
    assert position.result()[winner] == 100


@pytest.mark.parametrize("text", WINS[3])
def test_a_win_is_not_seen_from_one_ply_too_few(text: str) -> None:
    game = make("lines_of_action")
    position = parse_position(game, text)
    for backend in ("numpy", None):
        set_backend(backend)
        for depth in (1, 2):
            found = searched(position, depth=depth)
            assert (found.outcome, found.plies) == (None, None)
            assert found.value is not None
            assert (found.depth, len(found.line)) == (depth, depth)
        assert searched(position, depth=3).plies == 3


def test_a_draw_by_the_last_step() -> None:
    """One step is left, and no move connects a side: then the outcome is known, and a draw."""
    game = make("lines_of_action")
    position = parse_position(game, WINS[5][0].replace("42", "49"))
    for action in position.legal_actions():
        assert position.step(action).result() == (50, 50)
    found = searched(position)
    assert (found.outcome, found.plies, found.margin, found.value) == ("draw", None, None, 0)
    assert len(found.line) == 1
