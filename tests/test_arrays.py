"""Arrays that do not fit: every method of a game refuses them, and none reads or writes beyond
them; with the same errors in machine code: `make compiled`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from boardenvs import games
from boardenvs.agents.alphabeta import AlphaBetaAgent
from boardenvs.agents.mcts import MCTSAgent
from boardenvs.agents.shield import Shield
from boardenvs.agents.trained import trained_policy
from boardenvs.envs.batch import Batch
from boardenvs.game.game import Game
from boardenvs.game.state import State
from boardenvs.search.alphabeta import alphabeta_for
from boardenvs.search.gumbel import gumbel_search
from boardenvs.search.halving import GumbelSettings
from boardenvs.search.limits import Limits
from boardenvs.search.mcts import Trees, TreeSettings
from boardenvs.tablebase import Tablebase

pytestmark = pytest.mark.usefixtures("as_written")

ROWS = 37
Array = np.ndarray[Any, np.dtype[Any]]


def wrong_versions(array: Array) -> Iterator[Array]:
    """What may not take the place of this array: other numbers of rows, types and shapes."""
    yield np.concatenate([array, array])
    yield array.astype(np.float64)
    yield array.astype(np.int16)
    yield np.stack([array] * ROWS)


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
        (game.legal, "legal_bits"),
        (game.score_margin, "words to_move"),
        *((method, "words") for method in (game.piece_counts, game.kinds_on)),
        (lambda s: game.sample(s, np.random.default_rng(1)), "legal_bits"),
        *((method, everything) for method in (game.positions, game.packed)),
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
    other, zeros = games.make("connect_four").init(ROWS), np.zeros(ROWS, np.uint64)
    for method in (game.positions, game.is_over, game.legal):
        yield partial(method, other)
    every = state._replace(legal_bits=np.full_like(state.legal_bits, 2**64 - 1))
    for agent in (MCTSAgent(4), AlphaBetaAgent(1)):
        yield from (partial(agent.act, game, wrong) for wrong in (other, every))
    for seeds in wrong_versions(zeros):
        yield partial(Trees, game, state, seeds, TreeSettings(2, 1.0))
        yield partial(alphabeta_for(game).search, state, seeds, Limits(1))
    stuck = state._replace(legal_bits=np.zeros_like(state.legal_bits))
    yield partial(Trees, game, stuck, zeros, TreeSettings(2, 1.0))
    for noise in (np.zeros((5, 65)), np.full((ROWS, 65), np.nan)):
        yield partial(gumbel_search, game, state, noise, GumbelSettings(4))
    table, marks = Tablebase.load(games.make("tictactoe")), games.make("tictactoe").init(2)
    yield partial(table.lookup, marks._replace(words=(~marks.own, marks.opp)))
    yield partial(trained_policy(game).forward, np.zeros((5, 2, 8, 8), np.int8))
    yield partial(Shield(Answering(actions[:5])).act, game, state)
    for wrong in wrong_versions(actions):
        if wrong.dtype.kind == "i" and wrong.shape == (ROWS,):
            continue  # which may be any integers
        yield from (partial(f, state, wrong) for f in (game.step, game.step_batch, game.is_legal))
    batch, fewer = Batch(game, 5, seed=1), Batch(game, 4, seed=1).snapshot()
    yield partial(batch.restore, fewer)
    for name in ("waiting", "seats", "games", "keys"):
        for wrong in wrong_versions(batch.snapshot()[name]):
            yield partial(batch.restore, {**batch.snapshot(), name: wrong})


def answer(call: Callable[[], object]) -> tuple[str, str]:
    try:
        call()
    except (TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return "accepted", ""


def refused() -> list[tuple[str, str]]:
    """The errors of all calls."""
    return [answer(call) for call in calls(games.make("othello"))]


def test_arrays_that_do_not_fit() -> None:
    errors = refused()
    assert [place for place, (error, _) in enumerate(errors) if error == "accepted"] == []
    assert len(errors) > 100


def test_a_shield_finds_moves_for_answers_in_8_bits() -> None:
    game = games.make("lines_of_action")
    agent = Shield(Answering(np.zeros(ROWS, np.int8)))
    assert game.is_legal(game.init(ROWS), agent.act(game, game.init(ROWS))).all()


@pytest.mark.usefixtures("backend")
def test_arrays_that_fit_although_they_are_not_contiguous() -> None:
    game = games.make("othello")
    state = game.init(ROWS)
    every = State.of_arrays([np.repeat(x, 2, axis=0)[::2] for x in state.arrays])
    for shown in (game.observe, game.legal):
        np.testing.assert_array_equal(shown(every), shown(state))
