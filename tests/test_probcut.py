"""ProbCut: what it leaves out, and that nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from negamax import lead_with_best_play
from variants import make, random_line

from boardenvs.agents import agent_for, make_agent
from boardenvs.game.contract import stack
from boardenvs.game.state import State
from boardenvs.kernel import get_backend, set_backend
from boardenvs.search import Limits, SearchResults, engine_for
from boardenvs.search.compiled.alphabeta import DEVIATION
from boardenvs.search.compiled.values import margin_of
from boardenvs.search.trained import trained_evaluation


def sample() -> State:
    """From the middle of random games."""
    return stack([random_line(make("othello"), seed, 16 + 3 * seed)[0][-1] for seed in range(6)])


def found(limits: Limits, *, learnt: bool = True) -> SearchResults:
    game, state = make("othello"), sample()
    evaluation = trained_evaluation(game) if learnt else None
    seeds = np.arange(len(state.ply), dtype=np.uint64)
    return engine_for(game, evaluation).search(state, seeds, limits)


@pytest.mark.usefixtures("in_python")
def test_so_far_out_of_reach_nothing_is() -> None:
    """A hundred deviations are more than a board: searched so, values are those without ProbCut."""
    plain, wide = found(Limits(4)), found(Limits(4, probcut=100))
    np.testing.assert_array_equal(wide.value, plain.value)
    np.testing.assert_array_equal(wide.action, plain.action)
    assert (wide.nodes >= plain.nodes).all()  # the shallow searches come on top


@pytest.mark.usefixtures("in_python")
def test_it_saves_positions_and_little_changes() -> None:
    plain, cut = found(Limits(5)), found(Limits(5, probcut=1))
    assert cut.nodes.sum() < 0.8 * plain.nodes.sum()
    assert abs(cut.value - plain.value).mean() < 300  # three points


@pytest.mark.usefixtures("in_python")
def test_what_reaches_the_end_is_proven() -> None:
    """Wins, losses and draws, however little is searched on the way there."""
    game = make("othello")
    lines = [random_line(game, seed, 55)[0][-1] for seed in range(300)]
    positions = [p for p in lines if not p.terminated and lead_with_best_play(game, p) == 0]
    positions += [p for p in lines if not p.terminated][:4]
    seeds = np.zeros(len(positions), np.uint64)
    limits = Limits(12, endgame=0, probcut=0.01)
    engine = engine_for(game, trained_evaluation(game))
    found = engine.search(stack(positions), seeds, limits, forced=True)
    leads = [lead_with_best_play(game, position) for position in positions]
    assert len(set(leads)) > 2
    assert found.exact.all()
    assert [margin_of(int(value)) for value in found.value] == leads


@pytest.mark.usefixtures("in_python")
def test_its_unit_is_how_far_deeper_values_are() -> None:
    """On other positions and at other depths than it was measured on, so about."""
    game = make("othello")
    state = stack([random_line(game, seed, 16 + seed)[0][-1] for seed in range(20)])
    engine, seeds = engine_for(game, trained_evaluation(game)), np.arange(20, dtype=np.uint64)
    shallow, deep = (engine.search(state, seeds, Limits(depth)).value for depth in (2, 4))
    assert np.std(deep - shallow) / 1.5 < DEVIATION < 1.5 * np.std(deep - shallow)


@pytest.mark.usefixtures("in_python")
def test_the_heuristic_is_not_in_points() -> None:
    plain, same = (found(limits, learnt=False) for limits in (Limits(4), Limits(4, probcut=1)))
    for one, other in zip(plain, same, strict=True):
        np.testing.assert_array_equal(one, other)


def test_both_backends_cut_the_same() -> None:
    if get_backend() == "numpy":
        pytest.skip("Numba is not installed")
    results = []
    for backend in ("numpy", None):
        set_backend(backend)
        results.append(found(Limits(4, probcut=1)))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("game", "text", "message"),
    [
        ("othello", "alphabeta:evaluation=trained,probcut=-1", "probcut is -1.0: it must be 0 to"),
        ("othello", "alphabeta:probcut=1", "probcut needs a learnt evaluation"),
        ("lines_of_action", "alphabeta:probcut=1", "probcut needs a learnt evaluation"),
    ],
)
def test_wrong_texts_are_named(game: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agent_for(make(game), text)


def test_players_by_text() -> None:
    agent_for(make("othello"), "alphabeta:depth=4,evaluation=trained,probcut=1.5")
    assert make_agent("alphabeta:probcut=0") == make_agent("alphabeta:probcut=0.0")
