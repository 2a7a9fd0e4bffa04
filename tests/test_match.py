"""Matches: every opening twice, scores of the right side, and intervals that hold what they say."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from three_in_a_row import ThreeInARow
from variants import GAMES

from boardenvs.agents.simple import RandomAgent
from boardenvs.arena import score_interval
from boardenvs.arena.executor import Executor
from boardenvs.arena.match import SMALLEST, play_match
from boardenvs.game.openings import distinct_openings
from boardenvs.games import make
from boardenvs.kernel import get_backend
from boardenvs.kernel.backend import VARIABLE


class Asking:
    """Asks a process for its backend."""

    seed = 0

    def run(self) -> str:
        return get_backend()

    def lost(self, side: int) -> str:
        return ""


def test_a_match_is_the_same_in_one_process_and_in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of players that draw random numbers, with many games side by side or each for itself."""
    pairs, over = 2 * SMALLEST + 5, list[int]()
    backend = get_backend()
    monkeypatch.setenv(VARIABLE, "numba" if backend == "numpy" else "numpy")
    with Executor(2) as executor:
        assert [*executor.run([Asking()])] == [(0, backend)], "whatever the environment says"
        for player in ("random", "python:arena_agents:Apart"):
            expected = play_match("tictactoe", player, "greedy", pairs, seed=3)
            match = play_match(
                *("tictactoe", player, "greedy", pairs),
                seed=3,
                executor=executor,
                progress=lambda match: over.append(match.over),
            )
            assert sorted(over) == over
            assert over[-1] == 2 * pairs
            over.clear()
            assert np.array_equal(match.scores, expected.scores)
            assert np.array_equal(match.actions, expected.actions)
            assert match.mean_plies == expected.mean_plies


def test_a_player_that_cannot_play_the_game_is_refused() -> None:
    for player in ("alphabeta:depth=2", "perfect"):
        with pytest.raises(ValueError, match=r"cannot play|no evaluation|plays"):
            play_match(ThreeInARow(), player, "random", 1)


def test_openings_do_not_change_who_wins() -> None:
    """The sheep win from the start, so by perfect play they win from every opening."""
    result = play_match("wolf_and_sheep", "perfect", "perfect", 40, seed=1)
    assert result.by_role == ((0, 0, 40), (40, 0, 0))


def test_a_capped_game_counts_by_its_position() -> None:
    # The described wolf can always move, so where the cap ends the game it has won.
    game = make("wolf_and_sheep", rules="described", max_plies=12)
    result = play_match(game, RandomAgent(), RandomAgent(), 25, seed=2)
    assert (result.wins, result.draws, result.losses) == (25, 0, 25)
    assert (result.pair_scores == 0.5).all()
    low, high = result.interval  # over openings: both games of one say less than two games
    assert result.rows(game.sides)[0]["score"] == f"0.500 [{low:.3f}, {high:.3f}]"


@pytest.mark.parametrize("game_id", GAMES)
def test_openings_come_with_the_plies_that_lead_to_them(game_id: str) -> None:
    game = make(game_id)
    state, actions = distinct_openings(game, 60, (3, 9), np.random.default_rng(4))
    assert not state.terminated.any()
    assert set(state.ply.tolist()) == set(range(3, 10))
    for position, line in zip(game.positions(state), actions.tolist(), strict=True):
        played = game.start()
        for action in line[: position.ply]:
            assert played.is_legal(action)
            played = played.step(action)
        assert played == position
        assert set(line[position.ply :]) <= {-1}


@pytest.mark.parametrize(
    ("scores", "tosses"),
    [
        ([1, 0.5, 0.5, 0], 6),  # whose mean varies as that of six tosses
        ([1, *[0.5] * 7, 0], 36),
        ([1] * 8 + [0.5] * 2 + [0] * 2, 99 / 7),
        ([1] * 20, 20),
    ],
)
def test_an_interval_ends_where_the_score_is_1_96_deviations_away(
    scores: list[float], tosses: float
) -> None:
    """Wilson's (1927), for the number of coin tosses whose mean varies as that of the pairs."""
    mean = float(np.mean(scores))
    for end in score_interval(np.array(scores, float)):
        deviations = (mean - end) ** 2 / max(end * (1 - end) / tosses, 1e-9)
        assert deviations == pytest.approx(NormalDist().inv_cdf(0.975) ** 2 if end < 1 else 0)


def test_an_interval_of_equal_scores_is_no_point_and_stays_in_range() -> None:
    low, high = score_interval(np.ones(50))
    assert high == 1.0
    assert 0.9 < low < 0.95
    assert score_interval(np.zeros(50)) == pytest.approx((0.0, 1 - low))
    for pairs in range(1, 1200):  # to the last bit: error bars must not be negative
        for score in (0.0, 1.0):
            low, high = score_interval(np.full(pairs, score))
            assert low <= score <= high
