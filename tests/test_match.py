"""Matches: every opening twice, scores of the right side, and intervals that hold what they say."""

from __future__ import annotations

import os
import signal
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from three_in_a_row import ThreeInARow
from variants import GAMES

from boardenvs.agents.simple import RandomAgent
from boardenvs.arena import score_interval
from boardenvs.arena.executor import Executor
from boardenvs.arena.match import SMALLEST, play_match
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.openings import (
    PlayedBy,
    Starts,
    distinct_openings,
    first_of_each,
    random_openings,
)
from boardenvs.game.position import stack
from boardenvs.game.state import IntArray, State
from boardenvs.games import make
from boardenvs.kernel import get_backend
from boardenvs.kernel.backend import VARIABLE


class Asking:
    """Asks a process for its backend, its threads, and whether the end of all leaves it alone."""

    def run(self) -> tuple[Any, ...]:
        ignored = signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        return get_backend(), os.environ.get("MKL_NUM_THREADS"), ignored

    def lost(self, side: int) -> tuple[Any, ...]:
        return ()


def test_a_match_is_the_same_in_one_process_and_in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of players that draw random numbers, with many games side by side or each for itself."""
    pairs, over = 2 * SMALLEST + 5, list[int]()
    backend = get_backend()
    monkeypatch.setenv(VARIABLE, "numba" if backend == "numpy" else "numpy")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with Executor(2) as executor:
        asked = [*executor.run([Asking()])]
        assert asked == [(0, (backend, "1", True))], "whatever the environment says"
        given_up = executor.run([Asking(), Asking()])
        next(given_up)
        given_up.close()  # type: ignore[attr-defined]  # what is at work ends
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


class Least:
    """Plays the lowest legal action, and counts how often it is asked."""

    asked = 0

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        self.asked += len(state.ply)
        return game.legal(state).argmax(axis=1)


@pytest.mark.parametrize("game_id", GAMES)
@pytest.mark.parametrize("by", [None, PlayedBy(Least(), 0.5)])
def test_openings_come_with_the_plies_that_lead_to_them(game_id: str, by: PlayedBy | None) -> None:
    game = make(game_id)
    state, actions = distinct_openings(game, 60, (3, 9), np.random.default_rng(4), by=by)
    assert not state.terminated.any()
    assert set(state.ply.tolist()) == set(range(3, 10))
    for position, line in zip(game.positions(state), actions.tolist(), strict=True):
        played = game.start()
        for action in line[: position.ply]:
            assert played.is_legal(action)
            played = played.step(action)
        assert played == position
        assert set(line[position.ply :]) <= {-1}


def test_openings_have_any_number_of_plies_in_any_order() -> None:
    state = random_openings(make("othello"), 1200, (2, 5), np.random.default_rng(1))
    counts = np.bincount(state.ply)
    assert counts[:2].sum() == 0
    assert counts[2:] == pytest.approx([300] * 4, abs=75)  # five deviations
    assert state.ply[:300].mean() == pytest.approx(3.5, abs=0.3)


def test_openings_are_distinct_while_there_are_others() -> None:
    """After two plies of tic-tac-toe there are 72."""
    for count, distinct in ((60, 60), (99, 72)):
        found = distinct_openings(make("tictactoe"), count, (2, 2), np.random.default_rng(0))
        assert (len(found.actions), found.distinct) == (count, distinct)


def test_of_an_opening_a_player_plays_all_plies_but_the_noise() -> None:
    game, player, rng = make("lines_of_action"), Least(), np.random.default_rng(2)
    state = random_openings(game, 400, (4, 4), rng, by=PlayedBy(player, 0.25))
    assert player.asked == pytest.approx(0.75 * 1600, abs=90)  # five deviations
    assert len(first_of_each(state)) > 50
    (only,) = {*game.positions(random_openings(game, 9, (4, 4), rng, by=PlayedBy(player)))}
    position = game.start()
    for _ in range(4):
        position = position.step(position.legal_actions()[0])
    assert only == position


def test_of_openings_that_hardly_any_game_reaches_some_come_again() -> None:
    game = make("connect_four:rows=4,columns=5,connect=3")
    state = random_openings(game, 40, (14, 14), np.random.default_rng(0))
    assert set(state.ply.tolist()) == {14}
    assert (len(state.ply), int(game.is_over(state).sum())) == (40, 0)
    assert 1 < len(first_of_each(state)) < 40


def test_openings_differ_by_board_turn_ply_and_what_has_been_before() -> None:
    """Of each the first one is kept."""
    game = make("lines_of_action:rules=tournament")
    line = [game.start()]
    for move in ("b1-b3", "a2-c2", "b3-b1", "c2-a2"):
        line.append(line[-1].step(game.parse_action(move)))
    words = game.start().by_role()
    once = [game.position(words, 0, ply) for ply in (0, 1, 4)]
    positions = [line[0], line[1], line[0], line[4], once[2], game.position(words, 1, 4)]
    for moves in ("b1-b3 h7-f7 d1-d3", "d1-d3 h7-f7 b1-b3"):  # lead to the same board
        reached = game.start()
        for move in moves.split():
            reached = reached.step(game.parse_action(move))
        positions.append(reached)
    assert positions[-1].words == positions[-2].words
    state = stack([*positions, *once, *line])
    assert first_of_each(state).tolist() == [0, 1, 3, 4, 5, 6, 7, 9, 13, 14]


def test_new_games_begin_with_the_positions_that_are_given() -> None:
    game, rng = make("othello"), np.random.default_rng(3)
    given = random_openings(game, 4, (5, 5), rng)
    drawn = Starts(game, (0, 0), given).draw(400, rng)
    places = (drawn.own[:, None] == given.own).argmax(axis=1)
    assert np.bincount(places, minlength=4) == pytest.approx([100] * 4, abs=45)
    assert (places[1:] != places[:-1]).mean() == pytest.approx(0.75, abs=0.12)
    assert len(Starts(game, (1, 2), None).draw(5000, rng).ply) == 5000  # more than in stock
    for wrong in (game.init(0), stack([parse_position(game, "8/8/8/8/8/8/8/bb6 black")])):
        with pytest.raises(ValueError, match="starts must hold one or more positions in which"):
            Starts(game, (0, 0), wrong)


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
