"""Matches: every opening twice, scores of the right side, and intervals that hold what they say."""

from __future__ import annotations

import numpy as np
import pytest
from arena_agents import highest

from boardenvs.agents.simple import RandomAgent
from boardenvs.arena import play_match, score_interval
from boardenvs.arena.match import BLOCK, Ongoing
from boardenvs.game.openings import distinct_openings
from boardenvs.games import GAMES, make


def test_a_long_match_is_played_in_blocks() -> None:
    """So it has results before its end; a short one is its first block."""
    game, over, count = make("reversi"), list[int](), 2 * BLOCK + 5

    def see(games: Ongoing) -> None:
        over.append(games.over)
        assert np.isnan(games.result().scores).sum() == 2 * count - games.over

    result = play_match(game, highest, highest, count, seed=1, progress=see)
    assert over == sorted(over)
    assert {2 * BLOCK, 2 * count} <= set(over)
    drawn = distinct_openings(
        game, count, game.opening_plies, np.random.default_rng(1).spawn(1)[0], None
    )
    assert result.actions is not None
    played = drawn.actions >= 0
    for games in result.actions:
        assert np.array_equal(games[:, : played.shape[1]][played], drawn.actions[played])


def test_noise_is_a_share_of_the_plies() -> None:
    """Of a player whose choice is known, so many moves are drawn, some of them as it would play."""
    game, noise = make("othello"), 0.25
    result = play_match(game, highest, highest, 30, opening_plies=(3, 3), noise=noise, seed=6)
    assert result.actions is not None
    others, expected = 0, 0.0
    for row in result.actions.reshape(60, -1):
        position = game.start()
        for ply, action in enumerate(row[row >= 0].tolist()):
            legal = position.legal_actions()
            if ply >= 3 and len(legal) > 1:
                others += action != legal[-1]
                expected += noise * (1 - 1 / len(legal))
            position = position.step(action)
    assert expected > 100
    assert others == pytest.approx(expected, abs=4 * expected**0.5)


def test_a_capped_game_counts_by_its_position() -> None:
    # The described wolf can always move, so where the cap ends the game it has won.
    game = make("wolf_and_sheep", rules="described", max_plies=12)
    result = play_match(game, RandomAgent(), RandomAgent(), 25, seed=2)
    assert (result.wins, result.draws, result.losses) == (25, 0, 25)
    assert (result.pair_scores == 0.5).all()


def test_openings_are_distinct_as_far_as_there_are_so_many() -> None:
    game, rng = make("othello"), np.random.default_rng(0)
    found = distinct_openings(game, 56, (3, 3), rng)  # perft(3) is 56, with transpositions
    boards = zip(found.state.own.tolist(), found.state.opp.tolist(), strict=True)
    assert len(set(boards)) == found.distinct == 54
    assert len(distinct_openings(game, 10, (0, 0), rng).state.ply) == 10


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


@pytest.mark.parametrize(("score", "pairs"), [(0.5, 40), (0.9, 60), (0.98, 100)])
def test_intervals_hold_the_true_score_19_times_in_20(score: float, pairs: int) -> None:
    rng = np.random.default_rng(0)
    samples = (rng.random((2000, pairs, 2)) < score).mean(axis=2)
    held = [low <= score <= high for low, high in map(score_interval, samples)]
    assert 0.92 < np.mean(held) < 0.99


def test_an_interval_of_equal_scores_is_no_point_and_stays_in_range() -> None:
    low, high = score_interval(np.ones(50))
    assert high == 1.0
    assert 0.9 < low < 0.95
    assert score_interval(np.zeros(50)) == pytest.approx((0.0, 1 - low))
    for pairs in range(1, 1200):  # to the last bit: error bars must not be negative
        for score in (0.0, 1.0):
            low, high = score_interval(np.full(pairs, score))
            assert low <= score <= high
