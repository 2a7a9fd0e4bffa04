"""Arrays that do not fit: every method of a game refuses them, with the same error on both
backends, and none reads or writes beyond them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from same import same

from boardenvs import games
from boardenvs.agents import make_agent
from boardenvs.agents.alphabeta import AlphaBetaAgent
from boardenvs.agents.mcts import MCTSAgent
from boardenvs.agents.shield import Shield
from boardenvs.agents.trained import trained_policy
from boardenvs.board import Symmetry
from boardenvs.envs.batch import Batch
from boardenvs.envs.symmetry import BoardSymmetries
from boardenvs.game.contract import Game
from boardenvs.game.openings import Starts
from boardenvs.game.state import State
from boardenvs.kernel import set_backend
from boardenvs.records.batch import play
from boardenvs.search.alphabeta import alphabeta_for
from boardenvs.search.gumbel import GumbelSettings, gumbel_search
from boardenvs.search.limits import Limits
from boardenvs.search.mcts import search_trees
from boardenvs.tablebase import Tablebase

ROWS = 37
Array = np.ndarray[Any, np.dtype[Any]]


def wrong_versions(array: Array) -> Iterator[Array]:
    """What may not take the place of this array: other numbers of rows, types and shapes."""
    yield np.concatenate([array, array])
    yield array.astype(np.float64)
    yield array.astype("S8")
    yield array.astype(np.int16)
    yield np.stack([array] * ROWS)


def wrong_outputs(shape: tuple[int, int], dtype: Any) -> Iterator[Any]:
    """What may not be written to in the place of a new array of this shape."""
    rows, columns = shape
    read_only = np.zeros(shape, dtype)
    read_only.flags.writeable = False
    yield from (np.zeros(s, dtype) for s in ((1, columns), (rows, columns - 1), (rows, 1), rows))
    yield from (np.zeros(shape, kind) for kind in (np.float32, np.int64))
    yield from (np.zeros((rows, 2 * columns), dtype)[:, ::2], read_only, [[0] * columns])


@dataclass
class Answering:
    """An agent that always gives this answer."""

    answer: Any

    def act(self, *given: object) -> Any:
        return self.answer


def calls(game: Game) -> Iterator[Callable[[], object]]:
    """Calls of methods that take arrays, each with one that does not fit."""
    rng = np.random.default_rng(1)
    state = game.step(game.init(ROWS), game.sample(game.init(ROWS), rng))
    actions = game.sample(state, rng)
    observed, everything = "words to_move ply", "words to_move ply legal_bits terminated"
    methods: list[tuple[Callable[[State], object], str]] = [
        (game.observe, observed),
        (game.observe_with_legal, observed),
        (game.legal, "legal_bits"),
        (game.score_margin, "words to_move"),
        *((method, "words") for method in (game.piece_counts, game.kinds_on)),
        (lambda s: game.sample(s, np.random.default_rng(1)), "legal_bits"),
        *((method, everything) for method in (game.positions, game.goal, game.packed)),
        (lambda s: game.step(s, actions), everything),
        (lambda s: game.step_batch(s, actions), everything),
    ]
    for method, names in methods:
        for name in names.split():
            for wrong in wrong_versions(state.own if name == "words" else getattr(state, name)):
                value: Any = (state.own, wrong) if name == "words" else wrong
                yield partial(method, state._replace(**{name: value}))
    spaced = np.repeat(state.legal_bits, 2, axis=1)[:, ::2]
    yield from (partial(method, state._replace(legal_bits=spaced)) for method, _ in methods)
    for name in ("legal_bits", "terminated"):
        masked: Any = np.ma.masked_array(getattr(state, name), mask=True)
        yield partial(game.step_batch, state._replace(**{name: masked}), actions)
    for agent in (MCTSAgent(4), AlphaBetaAgent(1)):
        other, nobody = games.make("connect_four").init(ROWS), state.to_move - np.int8(3)
        for value in (None, other, state._replace(ply=actions), state._replace(to_move=nobody)):
            yield partial(agent.act, game, value)
        every = np.full_like(state.legal_bits, 2**64 - 1)
        yield partial(agent.act, game, state._replace(legal_bits=every))
    zeros = np.zeros(ROWS, np.uint64)
    seeds: Any
    for seeds in (*wrong_versions(zeros), zeros[:5], [0] * ROWS, 7):
        yield partial(search_trees, game, state, seeds, simulations=2, c=1.0)
        yield partial(alphabeta_for(game).search, state, seeds, Limits(1))
    stuck = state._replace(legal_bits=np.zeros_like(state.legal_bits))
    yield partial(search_trees, game, stuck, zeros, simulations=2, c=1.0)
    count: Any
    for count, c in ((-1, 1.0), (0, 1.0), (2.5, 1.0), (2, -1.0), (2, np.nan), ("x", 1.0)):
        yield partial(search_trees, game, state, zeros, simulations=count, c=c)
    noise: Any
    no_words: Any = None
    for noise in (np.zeros((5, 65)), np.full((ROWS, 65), np.nan), None):
        yield partial(gumbel_search, game, state, noise, GumbelSettings(4), no_words)
    yield partial(game.positions, state._replace(ply=-state.ply))
    for method in (game.positions, game.is_over, game.legal, game.wiped_out):
        yield partial(method, games.make("connect_four").init(ROWS))
    for method, _ in methods:  # not a state of arrays
        for value in (None, game.start(), state._replace(words=no_words), state._replace(words=())):
            yield partial(method, value)
    for value in (None, games.make("connect_four").init(ROWS)):
        yield partial(make_agent("level:5").act, game, value)
    table, marks = Tablebase.load(games.make("tictactoe")), games.make("tictactoe").init(2)
    for words in ((marks.own + np.uint64(3), marks.own + np.uint64(1)), (~marks.own, marks.opp)):
        yield partial(table.lookup, marks._replace(words=words))
    yield from (partial(method, no_words) for method in (table.lookup, table.mistakes))
    seen, policy = BoardSymmetries(game, ROWS).seen, trained_policy(game)
    yield from (partial(seen, x) for x in (no_words, game.init(0), game.init(ROWS + 1)))
    yield from (partial(seen, state, np.full(ROWS, value)) for value in (-1, 8))
    yield from (partial(Symmetry().apply, np.zeros(3, kind)) for kind in (np.int8, np.int64))
    for value in (None, [1], state.own, np.zeros((5, 2, 8, 8), np.int8)):
        yield partial(policy.forward, value)
    for value in (actions[:5], actions * 1.5, actions[:, None], None):
        yield partial(Shield(Answering(value)).act, game, state)
    for value in ([[19.5]] * ROWS, ["12"] * ROWS, [[19]]):
        yield partial(play, game, game.init(ROWS), value)
    for value in (policy.value_head[0].tolist(), policy.value_head[0].astype(np.int64)):
        yield partial(replace, policy, value_head=(value, policy.value_head[1]))
    yield from (game.start()._replace(to_move=2).fen, game.start()._replace(ply=-1).fen)
    for value in (None, 7, np.random):
        yield partial(game.sample, state, value)
    value = np.zeros(3)
    yield from (partial(Starts, game, (0, 0), value), partial(Batch, game, [value]))
    for wrong in wrong_versions(actions):
        if wrong.dtype.kind == "i" and wrong.shape == (ROWS,):
            continue  # which may be any integers
        yield from (partial(f, state, wrong) for f in (game.step, game.step_batch, game.is_legal))
    batch, fewer = Batch(game, 5, seed=1), Batch(game, 4, seed=1).snapshot()
    rows: Any
    for rows in ([5], [-1], [1, 0], [0, 0], [0.5], "x", 7, [[0]], [True] * 5):
        yield partial(batch.restart, rows)
    snapshot: Any
    for snapshot in (None, 7, [], {}, fewer, {**batch.snapshot(), "rngs": [{}]}):
        yield partial(batch.restore, snapshot)
    for name in ("waiting", "seats", "games", "keys"):
        for value in (None, 7, *wrong_versions(batch.snapshot()[name])):
            yield partial(batch.restore, {**batch.snapshot(), name: value})
    yield partial(batch.restore, {**batch.snapshot(), "discounts": None})
    gradients: Any = torch.zeros(ROWS, requires_grad=True)
    yield from (partial(f, state, gradients) for f in (game.step, game.step_batch, game.is_legal))
    for value in (np.zeros(ROWS), [0] * ROWS, True):
        yield partial(game.step_batch, state, actions, value)
    for out in wrong_outputs((ROWS, game.kernels.num_planes * game.board.size), np.int8):
        yield partial(game.observe_with_legal, state, out)
    for out in wrong_outputs((ROWS, game.num_actions), np.bool_):
        yield partial(game.legal, state, out)
        yield partial(game.observe_with_legal, state, None, out)


def answer(call: Callable[[], object]) -> tuple[str, str]:
    try:
        call()
    except (TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return "accepted", ""


def test_arrays_that_do_not_fit() -> None:
    game = games.make("othello")
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
    assert len(refused["numpy"]) > 100


def impossible_states(state: State) -> Iterator[State]:
    """With arrays of the right types and shapes, but values that no game reaches."""
    odd = np.random.default_rng(1).integers(2**64, size=ROWS, dtype=np.uint64)
    yield state._replace(words=(odd, state.opp))
    yield state._replace(legal_bits=state.legal_bits ^ odd[:, None])
    yield from (state._replace(to_move=np.full_like(state.to_move, x)) for x in (2, -1, 127))
    yield from (state._replace(ply=np.full_like(state.ply, x)) for x in (-1, 2**31 - 1, -(2**31)))
    true = np.full(ROWS, 2, np.uint8).view(np.bool_)
    yield from (state._replace(terminated=x) for x in (true, np.arange(ROWS) % 2 == 0))


@pytest.mark.parametrize("name", ["othello", "lines_of_action"])
def test_values_that_no_game_reaches(name: str) -> None:
    """They give the same on both backends."""
    game, found = games.make(name), list[list[Any]]()
    actions = game.sample(game.init(ROWS), np.random.default_rng(1))
    state = game.step(game.init(ROWS), actions)
    try:
        for backend in ("numpy", "numba"):
            set_backend(backend)
            found.append([])
            for odd in impossible_states(state):
                found[-1] += [f(odd) for f in (game.observe, game.score_margin, game.is_over)]
                for chosen in (game.sample(odd, np.random.default_rng(1)), odd.own, 0 - odd.own):
                    found[-1] += [game.step(odd, chosen), *game.step_batch(odd, chosen)]
    finally:
        set_backend(None)
    assert same(*found)


def test_a_damaged_position_has_no_end_of_legal_actions() -> None:
    position = games.make("tictactoe").start()
    assert position._replace(legal_bits=(-1,)).legal_actions() == []


def test_a_batch_that_refuses_a_snapshot_goes_on_as_before() -> None:
    batch, other = (Batch(games.make("othello"), n, seed=n, symmetries=True) for n in (3, 4))
    before, odd = batch.snapshot(), batch.snapshot()
    odd["rngs"][0]["state"]["state"] = -1
    for wrong in (odd, other.snapshot(), {**odd, "symmetries": np.full(3, 8)}):
        with pytest.raises(ValueError, match="no batch made alike"):
            batch.restore(wrong)
        assert same(batch.snapshot(), before)


def test_a_shield_finds_moves_for_answers_in_8_bits() -> None:
    game = games.make("lines_of_action")
    agent = Shield(Answering(np.zeros(ROWS, np.int8)))
    assert game.is_legal(game.init(ROWS), agent.act(game, game.init(ROWS))).all()


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
