"""Ratings: the likelihood's maximum, finite where games are one-sided, and honest intervals."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boardenvs.arena import rate_pairings, ratings
from boardenvs.arena.ratings import PRIOR, fit, rate
from boardenvs.game.state import FloatArray
from boardenvs.games import make
from boardenvs.records import Record


def log_likelihood(elo: FloatArray, points: FloatArray) -> float:
    """Said once more, a loop over all games' halves, with the prior's drawn games."""
    k, total = len(elo), 0.0
    for i, j in itertools.permutations(range(k), 2):
        chance = 1 / (1 + 10 ** ((elo[j] - elo[i]) / 400))
        total += (points[i, j] + PRIOR / 2 / (k - 1)) * math.log(chance)
    return total


def binomial(tosses: int, chance: float) -> FloatArray:
    """Return how likely at most k of these tosses are won, for each k from 0."""
    ways = ((math.comb(tosses, won), won) for won in range(tosses + 1))
    return np.cumsum([n * chance**won * (1 - chance) ** (tosses - won) for n, won in ways])


def random_points(seed: int, k: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 40, (k, k)) / 2
    points[rng.random((k, k)) < 0.2] = 0
    np.fill_diagonal(points, 0)
    return points


@given(st.integers(0, 10**6), st.integers(2, 8))
def test_nothing_near_the_fit_is_likelier(seed: int, k: int) -> None:
    points = random_points(seed, k)
    elo = fit(points)
    best = log_likelihood(elo, points)
    rng = np.random.default_rng(seed)
    for size in (0.1, 3.0, 100.0):
        assert log_likelihood(elo + rng.normal(0, size, k), points) < best + 1e-9


# ---- tournaments -------------------------------------------------------------------------------


def play(
    strengths: dict[str, float], pairs: int, rng: np.random.Generator
) -> dict[tuple[str, str], list[FloatArray]]:
    """The points of all pairs of a round robin."""
    found = {}
    for a, b in itertools.combinations(strengths, 2):
        chance = 1 / (1 + 10 ** ((strengths[b] - strengths[a]) / 400))
        games = rng.random((2, pairs)) < chance
        found[a, b] = [of_pairs(games.mean(axis=0))]
    return found


def of_pairs(scores: Any) -> FloatArray:
    """The points of both sides in pairs of games with these mean scores."""
    scores = np.asarray(scores)
    return np.stack([2 * scores, 2 - 2 * scores], axis=1)


def test_the_strongest_is_first_and_the_anchor_or_the_weakest_zero() -> None:
    strengths = {"random": 0.0, "weak": -200.0, "good": 250.0, "best": 500.0}
    names, scores = list(strengths), play(strengths, 200, np.random.default_rng(0))
    first, second, other = (rate(names, scores, {"random": 0}, seed) for seed in (5, 5, 6))
    assert first.entrants == ("best", "good", "random", "weak")
    assert first.rating[2] == first.low[2] == first.high[2] == 0
    assert (first.low <= first.rating).all()
    assert (first.rating <= first.high).all()
    assert np.array_equal(first.low, second.low)
    assert not np.array_equal(first.low, other.low)
    found = rate(names, scores, {})
    assert (found.anchors, found.rating[-1]) == (("weak",), 0)
    given = {"random": 0.0, "best": 500.0}
    found = rate(names, scores, given)
    assert (found.rating[2], found.rating[0]) == (0, 500)
    assert (found.low[0], found.high[0]) == (500, 500)
    assert found.low[1] < 250 < found.high[1]
    with pytest.raises(ValueError, match=r"anchors \['d'\] are none of"):
        rate(names, {}, {"d": 0})


def test_intervals_are_those_of_the_binomial_distribution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both games of a pair end alike, so it is pairs that are drawn again: 400 tosses of a coin."""
    monkeypatch.setattr(ratings, "REPLICATES", 10_000)
    found = rate(["a", "b"], {("a", "b"): [of_pairs([1.0, 0.0, 1.0, 1.0] * 100)]}, {"b": 0})

    def rating(pairs: float) -> float:
        """That of the one who wins so many, and half of the prior's game."""
        return 400 * math.log10((2 * pairs + PRIOR / 2) / (2 * (400 - pairs) + PRIOR / 2))

    low, high = np.searchsorted(binomial(400, 0.75), [0.025, 0.975])
    ends = found.low[0], found.rating[0], found.high[0]
    assert ends == pytest.approx((rating(low), rating(300), rating(high)), abs=2.4)
    assert rating(low + 1) - rating(low) > 2  # so at most one pair off


def test_a_shut_out_has_one_end_where_its_chance_is_a_fortieth() -> None:
    found = rate(["a", "b"], {("a", "b"): [of_pairs(np.ones(50))]}, {"b": 0})
    assert found.entrants == ("a", "b")
    assert np.isinf(found.high[0])
    chance = 0.025 ** (1 / 100)  # of a win, so that a hundred of them have 2.5 %
    assert found.low[0] == pytest.approx(400 * math.log10(chance / (1 - chance)), abs=0.01)
    turned = rate(["a", "b"], {("a", "b"): [of_pairs(np.zeros(50))]}, {"b": 0})
    assert turned.entrants == ("b", "a")
    assert (turned.low[1], turned.high[1]) == (-np.inf, -found.low[0])


def test_a_chain_of_scores_bounds_whom_the_anchor_never_beat() -> None:
    half, most, all_ = (of_pairs([1.0] * n + [0.5] * (40 - n)) for n in (0, 30, 40))
    scores = {("a", "b"): [most], ("b", "c"): [most], ("a", "c"): [all_]}
    found = rate(["a", "b", "c"], scores, {"c": 0})
    assert np.isfinite(found.high).all()
    longer = {**scores, ("c", "d"): [most]}  # whom only one of them has met
    assert np.isfinite(rate(["a", "b", "c", "d"], longer, {"d": 0}).high).all()
    scores["b", "c"] = [all_]  # now a and b are above c by any amount
    found = rate(["a", "b", "c"], scores, {"c": 0})
    assert np.isinf(found.high).tolist() == [True, True, False]
    assert np.isfinite(found.low).all()
    scores = {("a", "b"): [half], ("b", "c"): [half]}  # a and c never met
    assert rate(["a", "b", "c"], scores, {"c": 0}).rating == pytest.approx(np.zeros(3), abs=1e-6)


def test_games_of_files_count_once_whether_they_have_openings_or_not() -> None:
    """30 games won and 10 lost: by the model, with half a point of the prior for each side."""
    game, widths = make("tictactoe"), []
    each_second: Any = lambda number: {} if number % 2 else {"opening": number + 1}  # noqa: E731
    for info in (lambda _: {}, lambda number: {"opening": number // 2}, each_second):
        records = [
            Record(game, (), None, goal, players, info(number))
            for number in range(40)
            for won in [number % 4 > 0]
            for players in [("a", "b") if number % 2 else ("b", "a")]
            for goal in [(100.0, 0.0) if won == (players[0] == "a") else (0.0, 100.0)]
        ]
        unfinished = [Record(game, (), None, None, ("a", "b"), {}), Record(game, ())]
        found = rate_pairings(["a", "b"], records + unfinished, {"b": 0})
        assert found.rating[0] == pytest.approx(400 * math.log10(30.5 / 10.5))
        widths.append(found.high[0] - found.low[0])
    assert widths[1] < widths[0] == widths[2], "a win and a loss of each second opening vary less"
