"""A batch's step: against single boards by hand, and the same by both backends, bit for bit."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from variants import make

import boardenvs
from boardenvs.game.contract import Game, Position, stack
from boardenvs.kernel import set_backend

WRONG = [-1, -(1 << 40), 1 << 40, 63, 64, 65, 512, 513]

needs_numba = pytest.mark.skipif(not find_spec("numba"), reason="numba is not installed")


def choose(mask: Any, rng: np.random.Generator, wrong: float = 0.0) -> Any:
    """A random legal action a row; some that may be illegal, or no actions at all."""
    noop = mask.shape[1] - 1
    actions = np.where(mask.any(1), (rng.random(mask.shape) * mask).argmax(1), noop)
    some = rng.random(len(actions)) < wrong
    return np.where(some, rng.choice([*WRONG, noop, 0, 7], len(actions)), actions)


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


def test_each_row_by_hand(name: str, backend: str) -> None:
    """Legal and illegal actions, and rows that wait, in random games to their ends."""
    game, rng = make(name), np.random.default_rng(0)
    positions = [game.start()] * 21
    ended = 0
    for _ in range(100):
        state = stack(positions)
        actions = choose(game.legal(state), rng, wrong=0.1)
        waiting = rng.random(21) < 0.1
        turn = game.transition(state, actions, waiting)
        expected = [
            by_hand(game, *row)
            for row in zip(positions, actions.tolist(), waiting.tolist(), strict=True)
        ]
        columns = list(zip(*expected, strict=True))
        for found, wanted in zip(turn.state, stack(columns[0]), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)
        for found, column in zip(turn[1:], columns[1:], strict=True):
            np.testing.assert_array_equal(found, column)
            assert found.dtype == np.array(column).dtype
        over = [(row[2] and not row[4]) or row[3] for row in expected]
        ended += sum(over)
        positions = [game.start() if o else row[0] for o, row in zip(over, expected, strict=True)]
    assert ended > 9


def assert_same(a: Any, b: Any) -> None:
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    elif isinstance(a, np.ndarray) and a.dtype == object:
        assert_same(a.tolist(), b.tolist())
    else:
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
        np.testing.assert_array_equal(a, b)


class Both:
    """An environment by each backend, called alike."""

    def __init__(self, make_env: Any) -> None:
        self.envs = {}
        for backend in ("numpy", "numba"):
            set_backend(backend)
            self.envs[backend] = make_env()

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """The result, which is the same by both."""
        results = []
        for backend, env in self.envs.items():
            set_backend(backend)
            results.append(getattr(env, method)(*args, **kwargs))
        set_backend(None)
        assert_same(*results)
        return results[0]


@needs_numba
@pytest.mark.parametrize("opponent", [None, "random"])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vector_environments_are_the_same(name: str, mode: Any, opponent: str | None) -> None:
    game = make(name)
    make_env = partial(
        boardenvs.vec_env, game, 19, opponent=opponent, autoreset_mode=mode, opening_plies=(0, 4)
    )
    both, rng = Both(partial(make_env, copy=opponent is None)), np.random.default_rng(1)
    _, infos = both.call("reset", seed=3)
    ended = 0
    for _ in range(80):
        actions = choose(infos["action_mask"], rng, wrong=0.02)
        _, _, terminated, truncated, infos = both.call("step", actions)
        over = terminated | truncated
        ended += over.sum()
        if mode is AutoresetMode.DISABLED and over.any():
            _, infos = both.call("reset", options={"reset_mask": over})
    assert ended > 19


@needs_numba
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(threads: int) -> None:
    """In batches large enough that threads share them."""
    game, results = make("lines_of_action"), []
    for number in (1, threads):
        boardenvs.kernel.set_num_threads(number)
        assert boardenvs.kernel.get_num_threads() == number
        rng = np.random.default_rng(0)
        env = boardenvs.vec_env(game, 17_001)
        env.reset(seed=0)
        results.append([env.step(game.sample(env.batch.state, rng)) for _ in range(3)])
    boardenvs.kernel.set_num_threads(None)
    assert_same(*results)


@needs_numba
def test_an_error_in_a_thread_is_raised() -> None:
    from boardenvs.kernel.threads import run_in_parts

    def fail(array: Any) -> None:
        raise RuntimeError(f"{len(array)} rows")

    boardenvs.kernel.set_num_threads(2)
    with pytest.raises(RuntimeError, match="rows"):
        run_in_parts(fail, [np.zeros(20_000)], 20_000)
    boardenvs.kernel.set_num_threads(None)


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, "2", 1025])
def test_wrong_numbers_of_threads_are_named(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="it must be a whole number from 1 to 1024"):
        boardenvs.kernel.set_num_threads(wrong)
    boardenvs.kernel.set_num_threads(None)
    monkeypatch.setenv("BOARDENVS_THREADS", f"{wrong}x")
    with pytest.raises(ValueError, match=f"BOARDENVS_THREADS is '{wrong}x'"):
        boardenvs.kernel.get_num_threads()
    monkeypatch.setenv("BOARDENVS_THREADS", "3")
    assert boardenvs.kernel.get_num_threads() == 3
    boardenvs.kernel.set_num_threads(None)
