"""The published rating pools: their anchors, estimates by games with them, and the levels."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from arena_agents import Otherwise, highest
from command_line import rows, run
from test_ratings import binomial

from boardenvs.agents import as_agent, make_agent
from boardenvs.agents.levels import LEVELS, Mixture, read_levels
from boardenvs.arena import (
    Estimate,
    MatchResult,
    RatingPool,
    estimate as estimate_module,
    estimate_rating,
    rating_pool,
)
from boardenvs.arena.executor import HERE, Executor
from boardenvs.arena.player import PlayerStats
from boardenvs.arena.pools import Anchor
from boardenvs.game.game import Game
from boardenvs.games import make

Strength = Callable[[Any], float]


def ends(found: Estimate) -> tuple[float, float]:
    """Of an interval that has both."""
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def half_width(found: Estimate) -> float:
    low, high = ends(found)
    return (high - low) / 2


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Strength]:
    """Has matches go as the ratings' model has them, by what these players' strengths are, in Elo
    points: those named, and all others.
    """

    def set_strengths(
        strengths: dict[str, float], others: float = 0, rng: np.random.Generator | None = None
    ) -> Strength:
        """With an `rng` by chance, both games of an opening alike; without, scores are those to be
        expected.
        """
        of_agents: dict[object, float] = dict(strengths.items())
        of_agents |= {make_agent(text): x for text, x in strengths.items()}

        def of(agent: Any) -> float:
            return of_agents.get(agent, others)

        def play_match(game: Game, a: Any, b: Any, pairs: int, **_: object) -> MatchResult:
            expected = 1 / (1 + 10 ** ((of(b) - of(a)) / 400))
            scores = np.full((2, pairs), expected)
            if rng is not None:
                scores[:] = rng.random(pairs) < expected
            none = np.zeros((2, pairs), np.int8)
            stats = PlayerStats(), PlayerStats()
            return MatchResult(scores, none, 60.0, pairs, stats, np.empty((2, pairs, 0), np.int32))

        monkeypatch.setattr(estimate_module, "play_match", play_match)
        return of

    return set_strengths


def published(ratings: dict[str, float], error: float = 1.0) -> RatingPool:
    """A pool of these anchors."""
    anchors = tuple(Anchor(agent, rating, error) for agent, rating in ratings.items())
    return RatingPool("othello", "", "", 0, 1, {}, anchors)


def estimate(
    ratings: dict[str, float], error: float = 1.0, games: int = 400, seed: int = 0
) -> Estimate:
    """Of somebody else, by a pool of these anchors."""
    pool = published(ratings, error)
    return estimate_rating(OTHELLO, Otherwise(), pool, games=games, seconds=None, seed=seed)


OTHELLO = make("othello")
PUBLISHED = {anchor.agent: anchor.rating for anchor in rating_pool(OTHELLO).anchors}
GAMES = ["othello", "othello_holes", "lines_of_action", "wolf_and_sheep"]


@pytest.mark.parametrize("game_id", GAMES)
def test_each_game_has_a_pool_from_random_play_on_and_levels_in_order(game_id: str) -> None:
    anchors = rating_pool(make(game_id)).anchors
    ratings = [anchor.rating for anchor in anchors]
    assert {anchor.agent: anchor.rating for anchor in anchors}["random"] == 0
    assert min(ratings) > -50
    assert ratings == sorted(ratings)
    for anchor in anchors:
        assert 0 < anchor.error < 40
        make_agent(anchor.agent)
    # The levels too, by the games that were played when they were made.
    levels = read_levels(make(game_id))
    assert len(levels) == LEVELS
    ratings = [level["rating"] for level in levels]
    assert ratings == sorted(ratings)
    # A player has one rating: a level that is an anchor has the anchor's.
    published = {anchor.agent: anchor.rating for anchor in anchors}
    assert levels[0]["rating"] == published[levels[0]["weaker"]]
    assert levels[-1]["rating"] == published[levels[-1]["stronger"]]
    for level in levels[1:]:
        assert level["beats_level_below"]["games"] >= 400
        assert level["beats_level_below"]["low"] >= 0.6


@pytest.mark.parametrize("games", [200, 10])
def test_an_interval_is_wider_where_no_rating_fits(
    known: Callable[..., Strength], games: int
) -> None:
    """A player that beats whom the pool has as strong and loses to whom it has as weak; with one of
    them in a single pair of games.
    """
    known({"random": 0.0, "positional": 255.0}, others=80.0)
    fitting = estimate({"random": 0.0, "positional": 255.0}, games=games)
    contradicted = estimate({"random": 255.0, "positional": 0.0}, games=games)
    assert half_width(fitting) < 80
    assert half_width(contradicted) > 2 * half_width(fitting)


def test_an_interval_is_that_of_the_binomial_distribution(known: Callable[..., Strength]) -> None:
    """Against one anchor, whose rating is sure: of 400 pairs that both games decide alike."""
    known({"random": 0.0}, 200.0, np.random.default_rng(0))
    found = estimate({"random": 0.0}, error=1e-6, games=800)
    (met,) = found.against
    at_most = binomial(400, met.score)
    won = np.array([*np.searchsorted(at_most, [0.025, 0.975]), 400 * met.score])
    expected = 400 * np.log10((2 * won + 0.5) / (800 - 2 * won + 0.5))  # with the prior's game
    assert (*ends(found), found.rating) == pytest.approx(expected, abs=4)
    assert expected[1] - expected[0] > 70


def test_errors_of_the_references_widen_the_interval(known: Callable[..., Strength]) -> None:
    """By as much as the rating would change if all of them were wrong the same way."""
    known(PUBLISHED, 500, np.random.default_rng(0))
    found = estimate(PUBLISHED, error=60.0, games=1000)
    low, high = ends(found)
    assert low < found.rating - 1.96 * 60 < found.rating + 1.96 * 60 < high
    assert half_width(found) < 1.3 * 1.96 * 60


@pytest.mark.parametrize("sign", [1, -1])
def test_who_wins_or_loses_all_games_is_outside_the_pool(
    known: Callable[..., Strength], sign: int
) -> None:
    known(PUBLISHED, 9000 * sign, np.random.default_rng(0))
    found = estimate(PUBLISHED, games=200)
    assert found.where == ("above" if sign == 1 else "below")
    end, open_end = (found.low, found.high)[::sign]
    assert open_end is None
    assert end is not None
    # So many such games in a row have a chance of 2.5 % at the interval's end.
    chance = math.prod(
        (1 / (1 + 10 ** (sign * (a.rating - end) / 400))) ** a.games for a in found.against
    )
    assert chance == pytest.approx(0.025, rel=1e-6)


@pytest.mark.parametrize(
    ("games", "beyond", "places"), [(40, 60, ("on", "on")), (1000, 120, ("above", "below"))]
)
def test_who_is_outside_the_pool_is_so_beyond_chance(
    known: Callable[..., Strength], games: int, beyond: int, places: tuple[str, str]
) -> None:
    """And anchors are listed from the strongest, without the player itself."""
    ratings = {"random": 0.0, "greedy": 150.0, "positional": 300.0}
    for strength, where in zip((300 + beyond, -beyond), places, strict=True):
        known(ratings | {"greedy": strength}, rng=np.random.default_rng(1))
        found = estimate_rating(OTHELLO, "greedy", published(ratings), games=games, seconds=None)
        assert (found.where, found.rating > 300, found.rating < 0) == (
            where,
            strength > 300,
            strength < 0,
        )
        assert [anchor.agent for anchor in found.against] == ["positional", "random"]
    for wrong in ({"games": 1}, {"seconds": 0.0}):
        with pytest.raises(ValueError, match="it must be"):
            estimate_rating(OTHELLO, "greedy", published(ratings), **wrong)


def test_the_same_seed_gives_the_same_rating_and_time_ends_it() -> None:
    game, agent = make("wolf_and_sheep"), make_agent("greedy")
    pool = replace(rating_pool(game), anchors=rating_pool(game).anchors[:2])
    first, second = (
        estimate_rating(game, agent, pool, games=8, seconds=seconds, seed=5)
        for seconds in (None, math.inf)
    )
    assert (first.rating, first.low, first.against) == (second.rating, second.low, second.against)
    drawing = "mcts:simulations=3"  # plays the same in processes, from the same random numbers
    with Executor(1) as executor:
        here, there = (
            estimate_rating(game, drawing, pool, games=8, seconds=None, executor=processes)
            for processes in (HERE, executor)
        )
    assert here.against == there.against
    assert estimate_rating(game, agent, pool, games=100_000, seconds=0.1).games < 10_000


def test_the_command_rates_anybody() -> None:
    words = ["--game", "wolf_and_sheep", "--games", "8"]
    found = json.loads(run("rate", "python:arena_agents:lowest", *words, "--json"))
    assert (found["games"], found["where"], found["forfeits"]) == (8, "on", 0)
    assert rows(run("rate", "python:arena_agents:lowest", *words)) == [
        [a["agent"], f"{a['rating']:.0f}", str(a["games"]), f"{a['score']:.3f}",
         f"{a['expected']:.3f}"]
        for a in found["against"]
    ]  # fmt: skip
    output = run("rate", "python:arena_agents:Otherwise", *words, code=1)
    assert "lost all games" in output
    assert "forfeited 8 of 8 games" in output


@pytest.mark.parametrize(("forfeits", "code"), [(9, 0), (10, 1)])
def test_who_forfeits_all_games_ends_a_rating_with_1(
    monkeypatch: pytest.MonkeyPatch, forfeits: int, code: int
) -> None:
    stats = PlayerStats(forfeits=forfeits, message="it is ill")
    found = Estimate(100.0, 50.0, 150.0, "on", 10, 1.0, (), stats)
    monkeypatch.setattr(estimate_module, "estimate_rating", lambda *arguments, **named: found)
    assert f"forfeited {forfeits} of 10 games" in run("rate", "greedy", code=code)


def test_a_mixture_has_its_share() -> None:
    first = as_agent(lambda game, state, rng: game.legal(state).argmax(axis=1))
    mixed = Mixture(first, as_agent(highest), 0.25)
    actions = mixed.act(OTHELLO, OTHELLO.init(4000), np.random.default_rng(0))
    assert 0.22 < (actions == actions.max()).mean() < 0.28
    assert len(set(actions.tolist())) == 2
    for players in ((first, make_agent("perfect")), (make_agent("perfect"), first)):
        with pytest.raises(ValueError, match="'perfect' cannot play othello"):
            Mixture(*players, 0.25).check_game(OTHELLO)


class Always:
    """Plays an action everywhere, and has it for an analysis."""

    def __init__(self, action: int) -> None:
        self.action = action

    def act(self, game: Any, state: Any, rng: Any = None) -> Any:
        return np.full(len(state.ply), self.action)

    def analyse(self, position: Any, rng: Any) -> Any:
        return self.action


def test_a_mixture_analyses_as_the_one_that_moves() -> None:
    mixed = Mixture(Always(20), Always(29), 0.25)
    for seed in range(9):
        rng, again = (np.random.default_rng(seed) for _ in range(2))
        assert mixed.analyse(OTHELLO.start(), rng) == mixed.act(OTHELLO, OTHELLO.init(1), again)[0]
