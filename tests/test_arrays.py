"""Arrays that do not fit: every method of a game refuses them, with the same error on both
backends, and none reads or writes beyond them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from boardenvs import games
from boardenvs.game.contract import Game
from boardenvs.game.state import State
from boardenvs.kernel import set_backend

ROWS = 37
Array = np.ndarray[Any, np.dtype[Any]]


def wrong_versions(array: Array) -> Iterator[Array]:
    """What may not take the place of this array: other numbers of rows, types and shapes."""
    yield array[:1]
    yield np.concatenate([array, array])
    yield array.astype(np.float64)
    yield array.astype(np.float32)
    yield array.astype("S8")
    yield np.stack([array] * ROWS)
    yield array.astype(array.dtype.newbyteorder(">") if array.itemsize > 1 else np.int64)


def wrong_outputs(shape: tuple[int, int], dtype: Any) -> Iterator[Any]:
    """What may not be written to in the place of a new array of this shape."""
    rows, columns = shape
    read_only = np.zeros(shape, dtype)
    read_only.flags.writeable = False
    yield from (np.zeros((n, m), dtype) for n, m in ((3 * rows, columns), (1, columns)))
    yield from (np.zeros((rows, n), dtype) for n in (1, columns - 1, columns + 64))
    yield from (np.zeros(shape, kind) for kind in (np.float32, np.int64, "S1"))
    yield np.zeros(shape, dtype, order="F")
    yield np.zeros((rows, 2 * columns), dtype)[:, ::2]
    yield from (read_only, np.zeros(rows, dtype), np.zeros((*shape, 1), dtype), [[0] * columns])


def calls(game: Game) -> Iterator[Callable[[], object]]:
    """Calls of all methods that take arrays, each with one that does not fit."""
    rng = np.random.default_rng(1)
    state = game.init(ROWS)
    for _ in range(4):
        state = game.step(state, game.sample(state, rng))
    actions = game.sample(state, rng)
    methods: dict[Callable[..., Any], str] = {
        game.observe: "words to_move ply",
        game.observe_with_legal: "words to_move ply legal_bits",
        game.legal: "legal_bits",
        game.score_margin: "words to_move",
        game.piece_counts: "words",
        game.kinds_on: "words",
        lambda s: game.sample(s, np.random.default_rng(1)): "legal_bits",
        lambda s: game.is_legal(s, actions): "legal_bits",
    }
    everything = "words to_move ply legal_bits terminated"
    methods |= dict.fromkeys((game.positions, game.goal, game.is_over, game.wiped_out), everything)
    methods |= {lambda s: game.step(s, actions): everything}
    methods |= {lambda s: game.step_batch(s, actions): everything}
    if game.has_heuristic:
        methods[game.values] = "words to_move ply"
    for method, names in methods.items():
        for wrong in wrong_states(state, names.split()):
            # One row of legal actions or words alone is a state of one row.
            yield lambda method=method, wrong=wrong: method(wrong)  # type: ignore[misc]
    for method in (game.step, game.step_batch, game.is_legal):
        far = np.zeros(2_000_000, np.int64)
        for actions_ in (*wrong_versions(actions), actions > 0, far, actions.astype(str)):
            if actions_.dtype.kind != "i" or actions_.shape != actions.shape:
                yield lambda method=method, x=actions_: method(state, x)  # type: ignore[misc]
    for waiting in (np.zeros(1, bool), np.zeros(ROWS), np.zeros(2 * ROWS, bool)):
        yield lambda waiting=waiting: game.step_batch(state, actions, waiting)  # type: ignore[misc]
    planes = (ROWS, game.kernels.num_planes * game.board.size)
    for out in wrong_outputs(planes, np.int8):
        yield lambda out=out: game.observe(state, out)  # type: ignore[misc]
        yield lambda out=out: game.observe_with_legal(state, planes=out)  # type: ignore[misc]
    for out in wrong_outputs((ROWS, game.num_actions), np.bool_):
        yield lambda out=out: game.legal(state, out)  # type: ignore[misc]
        yield lambda out=out: game.observe_with_legal(state, mask=out)  # type: ignore[misc]


def wrong_states(state: State, names: list[str]) -> Iterator[State]:
    """States with one array that does not fit the others, among those of these names."""
    for name in names:
        if name == "words":
            for word in wrong_versions(state.own):
                if word.dtype != ">u8":
                    yield state._replace(words=(state.words[0], word, *state.words[2:]))
            continue
        for array in wrong_versions(getattr(state, name)):
            if name != "legal_bits" or (len(array) != 1 and array.dtype != ">u8"):
                yield state._replace(**{name: array})  # type: ignore[arg-type]


def answer(call: Callable[[], object]) -> tuple[str, str]:
    try:
        call()
    except (TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return "accepted", ""


@pytest.mark.parametrize("name", ["othello", "wolf_and_sheep", "lines_of_action"])
def test_arrays_that_do_not_fit(name: str) -> None:
    game = games.make(name)
    refused = {}
    try:
        for backend in ("numpy", "numba"):
            set_backend(backend)
            refused[backend] = [answer(call) for call in calls(game)]
    finally:
        set_backend(None)
    accepted = [place for place, (error, _) in enumerate(refused["numpy"]) if error == "accepted"]
    assert not accepted
    assert refused["numba"] == refused["numpy"]
    assert len(refused["numpy"]) > 200


@pytest.mark.usefixtures("backend")
def test_arrays_that_fit_although_they_are_not_contiguous() -> None:
    game = games.make("othello")
    state = game.init(ROWS)
    expected, legal = game.observe_with_legal(state)
    planes = np.full((2 * ROWS, 128), 7, np.uint8)
    mask = np.zeros((2 * ROWS, 65), np.int8)
    seen = game.observe_with_legal(state, planes[::2], mask[::2])  # type: ignore[arg-type]
    np.testing.assert_array_equal(seen[0], expected)
    np.testing.assert_array_equal(seen[1], legal)
    assert (planes[1::2] == 7).all()
    every = State.of_arrays([np.repeat(x, 2, axis=0)[::2] for x in state.arrays])
    np.testing.assert_array_equal(game.observe_with_legal(every)[0], expected)
