"""A batch's step by each backend, against single boards by hand; and threads, which share it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from author_games import Lift, Stripes
from variants import make, random_line

import boardenvs
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.games import LinesOfAction
from boardenvs.kernel.backend import no_compiling
from boardenvs.kernel.threads import run_in_parts

pytestmark = pytest.mark.usefixtures("as_written")

WRONG = [-1, -(1 << 40), 1 << 40, 63, 64, 65, 512, 513, 0, 7]


def by_hand(game: Game, position: Position, action: int, waits: bool) -> tuple[Any, ...]:
    """The position after a row's turn, the reward, and whether it is terminated, truncated and
    illegal.
    """
    if waits:
        return position, 0.0, False, False, False
    if action < 0 or not position.is_legal(action):
        return position, -1.0, True, False, True
    after = position.step(action)
    truncated = after.is_truncated()
    over = after.terminated or truncated
    reward = (after.result()[position.to_move] - 50) / 50 if over else 0.0
    return after, reward, after.terminated, truncated, False


class Capped(LinesOfAction):
    """Remembers positions, and has a cap."""

    max_plies = 60


CAPPED = Capped(rules="tournament")


@pytest.mark.parametrize(
    "name",
    ["othello_holes", "wolf_and_sheep", pytest.param(CAPPED, id="capped")],
)
def test_each_row_by_hand(name: str | Game, backend: str) -> None:
    """Legal and illegal actions, and rows that wait, in random games to their ends."""
    compare(boardenvs.games.make(name), 100)


class Short(Stripes):
    """Some of its games are cut off while a side is to move again."""

    max_plies = 9


@pytest.mark.parametrize("game", [Stripes(), Short(), Lift()], ids=type)
def test_each_row_where_a_side_may_move_again(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the program that is machine code elsewhere."""
    monkeypatch.setattr(Game, "backend", "numba")
    compare(game, 30)


def compare(game: Game, plies: int) -> None:
    rng = np.random.default_rng(0)
    positions, ended = [game.start()] * 21, 0
    for _ in range(plies):
        state = stack(positions)
        wrong, waiting = rng.random((2, 21)) < 0.1
        actions = np.where(wrong, rng.choice([*WRONG, game.noop], 21), game.sample(state, rng))
        state_after, *said = game.step_batch(state, actions, waiting)
        rows = zip(positions, actions.tolist(), waiting.tolist(), strict=True)
        after, *columns = zip(*(by_hand(game, *row) for row in rows), strict=True)
        expected = [*stack(after).arrays, *map(np.array, columns)]
        for found, wanted in zip([*state_after.arrays, *said], expected, strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)
        positions = [game.start() if p.is_over() else p for p in after]
        ended += sum(p.is_over() for p in after)
    assert ended


def test_a_game_that_ends_by_its_rules_in_the_last_ply_of_its_cap_is_not_truncated() -> None:
    positions, actions = random_line(make("wolf_and_sheep"), 3, 200)
    capped = boardenvs.games.make("wolf_and_sheep", max_plies=len(actions))
    before, last = (position._replace(game=capped) for position in positions[-2:])
    assert (last.terminated, last.is_truncated()) == (True, False)
    assert before._replace(ply=last.ply).is_truncated()


def test_an_end_by_repetition_in_the_last_ply_of_the_cap_is_not_truncated(backend: str) -> None:
    state = CAPPED.init(1)._replace(ply=np.array([56], np.int32))
    for move in ("b1-b3", "a2-c2", "b3-b1", "c2-a2"):
        after = CAPPED.step_batch(state, np.array([CAPPED.parse_action(move)]))
        state = after.state
    assert (state.ply[0], after.terminated[0], after.truncated[0]) == (60, True, False)


def test_threads_change_nothing(in_machine_code: None) -> None:
    """In batches large enough that threads share them."""
    game = make("othello_holes")
    state = game.init(17_001)
    state = game.step(state, game.sample(state, np.random.default_rng(0)))
    found, before = [], threading.active_count()
    for number in (1, 3):
        boardenvs.kernel.set_num_threads(number)
        assert boardenvs.kernel.get_num_threads() == number
        actions = game.sample(state, np.random.default_rng(1))
        after, *said = game.step_batch(state, actions)
        found.append([actions, *after, *said, game.observe(after), game.legal(after)])
        assert threading.active_count() < before + number  # this one is one of them
    for one, shared in zip(*found, strict=True):
        np.testing.assert_array_equal(one, shared)


def test_threads_are_those_of_the_environment_unless_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel, found = boardenvs.kernel, list[int]()
    for chosen, asked in ((2, "3"), (None, "3"), (None, "")):
        monkeypatch.setenv("BOARDENVS_THREADS", asked)
        kernel.set_num_threads(chosen)
        found.append(kernel.get_num_threads())
    assert found == [2, 3, 1]
    monkeypatch.setenv("BOARDENVS_THREADS", "many")
    kernel.set_num_threads(None)
    with pytest.raises(ValueError, match="BOARDENVS_THREADS is 'many'"):
        kernel.get_num_threads()
    monkeypatch.undo()


def test_an_error_in_another_thread_is_raised() -> None:
    boardenvs.kernel.set_num_threads(2)
    begun = threading.Event()

    def run(part: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            begun.wait(10)
            return
        begun.set()
        raise KeyError("in a thread")

    with pytest.raises(KeyError, match="in a thread"):
        run_in_parts(run, [np.zeros(1000)], 1000)
    with pytest.raises(ValueError, match="number of threads is 1025: it must be 1 to 1024"):
        boardenvs.kernel.set_num_threads(1025)


def test_work_that_is_over_soon_is_not_compiled(
    in_machine_code: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the environment says how; and afterwards all is as before."""
    for variable, within in (("", "numpy"), ("numba", "numba")):
        monkeypatch.setenv("BOARDENVS_BACKEND", variable)
        with pytest.raises(KeyError, match=within), no_compiling():
            raise KeyError(boardenvs.kernel.get_backend())
        assert boardenvs.kernel.get_backend() == "numba"


@pytest.fixture(autouse=True)
def default_number_of_threads() -> Iterator[None]:
    boardenvs.kernel.set_num_threads(None)
    yield
    boardenvs.kernel.set_num_threads(None)
