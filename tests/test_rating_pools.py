"""The published rating pools: their anchors, estimates by games with them, and the levels."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from arena_agents import Otherwise, highest
from boardenvs_connect_four import ConnectFour
from command_line import run

from boardenvs.agents import as_agent, make_agent
from boardenvs.agents.analyse import analyse
from boardenvs.agents.levels import LEVELS, Mixture, read_levels
from boardenvs.arena import (
    Estimate,
    MatchResult,
    RatingPool,
    estimate_rating,
    pools,
    rating_pool,
)
from boardenvs.arena import estimate as estimate_module
from boardenvs.arena.player import Faults
from boardenvs.arena.pools import Anchor
from boardenvs.arena.pools import __main__ as make_module
from boardenvs.arena.pools import levels as levels_module
from boardenvs.arena.pools.__main__ import fit_near, measure
from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import FloatArray, take
from boardenvs.games import make

pytestmark = pytest.mark.usefixtures("in_python")

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
    points: those named, mixtures of two of them, the farther along the stronger, and all others.
    """

    def set_strengths(
        strengths: dict[str, float], others: float = 0, rng: np.random.Generator | None = None
    ) -> Strength:
        """With an `rng` by chance, both games of an opening alike; without, scores are those to be
        expected.
        """
        of_agents: dict[object, float] = {make_agent(text): x for text, x in strengths.items()}

        def of(agent: Any) -> float:
            if isinstance(agent, Mixture):
                return of(agent.weaker) * (1 - agent.share) + of(agent.stronger) * agent.share
            return of_agents.get(agent, others)

        def play_match(game: Game, a: Any, b: Any, pairs: int, **_: object) -> MatchResult:
            expected = 1 / (1 + 10 ** ((of(b) - of(a)) / 400))
            scores = np.full((2, pairs), expected)
            if rng is not None:
                scores[:] = rng.random(pairs) < expected
            none = np.zeros((2, pairs), np.int8)
            return MatchResult(scores, none, 60.0, pairs, (Faults.none(), Faults.none()))

        for room in (levels_module, estimate_module):
            monkeypatch.setattr(room, "play_match", play_match)
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
    for level in levels[1:]:
        assert level["beats_level_below"]["games"] >= 400
        assert level["beats_level_below"]["low"] >= 0.6


def test_reversi_has_othello_s() -> None:
    for read in (rating_pool, read_levels):
        assert read(make("reversi")) == read(OTHELLO)


def test_near_pairings_count_more_than_far_ones() -> None:
    """Where all is as the model says the ratings are the model's; else the near games decide."""
    true = np.array([0.0, 150.0, 300.0, 700.0])
    games = 1e5 * (1 - np.eye(4))
    expected = 1 / (1 + 10 ** ((true - true[:, None]) / 400))
    rating, error = fit_near(games * expected, games)
    assert rating - rating[0] == pytest.approx(true, abs=2)  # less the prior
    assert (error > 0).all()
    expected[0, 3] += 0.1  # the weakest beats the strongest, now and then
    expected[3, 0] -= 0.1
    rating, _ = fit_near(games * expected, games)
    assert rating[1:3] - rating[0] == pytest.approx(true[1:3], abs=20)


def test_an_interval_is_wider_where_no_rating_fits(known: Callable[..., Strength]) -> None:
    """A player that beats whom the pool has as strong and loses to whom it has as weak."""
    known({"random": 0.0, "positional": 255.0}, others=80.0)
    fitting = estimate({"random": 0.0, "positional": 255.0}, games=200)
    contradicted = estimate({"random": 255.0, "positional": 0.0}, games=200)
    assert half_width(fitting) < 80
    assert half_width(contradicted) > 2 * half_width(fitting)


def test_anchors_far_away_make_an_interval_little_wider(known: Callable[..., Strength]) -> None:
    """As in Wolf and Sheep, where the wolf may lose to anybody: no rating fits one game in ten lost
    to the weak, but those against equals decide it.
    """
    known({"random": 1118.0, "perfect": 1500.0}, others=1500.0)
    found = estimate({"random": 900.0, "perfect": 1500.0})
    equal, weak = found.against
    assert min(equal.games, weak.games) > 20
    assert weak.score < 0.95 < weak.expected
    assert found.rating == pytest.approx(1500, abs=60)
    assert half_width(found) < 60


def test_intervals_hold_in_nineteen_cases_of_twenty(known: Callable[..., Strength]) -> None:
    rng, held, widths = np.random.default_rng(0), [], []
    for true in np.linspace(100, 1100, 30).tolist():
        known(PUBLISHED, true, rng)
        found = estimate(PUBLISHED, error=1e-3, seed=int(true))
        low, high = ends(found)
        held.append(low < true < high)
        told = sum(a.games * a.expected * (1 - a.expected) for a in found.against)
        widths.append(half_width(found) / (1.96 * 400 / math.log(10) * math.sqrt(2 / told)))
    assert 0.85 < np.mean(held) < 1
    # As wide as what the games tell leaves, and a little wider where they disagree.
    assert 1 < np.mean(widths) < 1.25


def test_errors_of_the_references_widen_the_interval(known: Callable[..., Strength]) -> None:
    """By as much as the rating would change if all of them were wrong the same way."""
    known(PUBLISHED, 500, np.random.default_rng(0))
    found = estimate(PUBLISHED, error=60.0, games=1000)
    low, high = ends(found)
    assert low < found.rating - 1.96 * 60 < found.rating + 1.96 * 60 < high
    assert half_width(found) < 1.3 * 1.96 * 60


def test_who_loses_all_games_is_below_the_pool() -> None:
    game = make("wolf_and_sheep")
    found = estimate_rating(game, Otherwise(), rating_pool(game), games=200, seconds=None)
    assert (found.where, found.low) == ("below", None)
    assert found.high is not None
    assert found.high < 0
    # So many lost games in a row have a chance of 2.5 % at the interval's end.
    chance = math.prod(
        (1 / (1 + 10 ** ((found.high - a.rating) / 400))) ** a.games for a in found.against
    )
    assert chance == pytest.approx(0.025, rel=1e-6)


def test_who_beats_all_anchors_is_above_the_pool() -> None:
    game = make("wolf_and_sheep")
    pool = replace(rating_pool(game), anchors=rating_pool(game).anchors[:2])
    found = estimate_rating(game, make_agent("perfect"), pool, games=60, seconds=None)
    assert found.where == "above"
    assert found.low is not None
    assert found.low > pool.anchors[-1].rating


def test_the_same_seed_gives_the_same_rating_and_time_ends_it() -> None:
    game, agent = make("wolf_and_sheep"), make_agent("greedy")
    pool = replace(rating_pool(game), anchors=rating_pool(game).anchors[:2])
    first, second = (
        estimate_rating(game, agent, pool, games=24, seconds=seconds, seed=5)
        for seconds in (None, math.inf)
    )
    assert (first.rating, first.low, first.against) == (second.rating, second.low, second.against)
    assert estimate_rating(game, agent, pool, games=100_000, seconds=0.1).games < 10_000
    for wrong in ({"games": 1}, {"seconds": 0.0}):
        with pytest.raises(ValueError, match="it must be"):
            estimate_rating(game, agent, pool, **wrong)


def test_the_command_rates_anybody() -> None:
    words = ["--game", "wolf_and_sheep", "--games", "20"]
    found = json.loads(run("rate", "python:arena_agents:lowest", *words, "--json"))
    assert found.keys() == {
        "agent", "game", "rating", "low", "high", "where", "games", "seconds", "seed", "pool",
        "against", "forfeits", "message", "note", "cpu_ms_per_move",
    }  # fmt: skip
    assert found["cpu_ms_per_move"] > 0
    assert (found["games"], found["where"], found["forfeits"]) == (20, "on", 0)
    output = run("rate", "level:2", *words)
    assert "level:2 is rated" in output
    assert "20 games in" in output
    output = run("rate", "python:arena_agents:Otherwise", *words[:-1], "40", code=1)
    assert "lost all games" in output
    assert "It is below the pool's weakest, random (0)." in " ".join(output.split())
    assert "forfeited 40 of 40 games" in output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["greedy", "--game", "othello:holes=1"], "there is no rating pool for othello:holes=1"),
        (["greedy", "--seconds", "nan"], "error: --seconds is nan: it must be more than 0"),
        (["level:11"], "level is 11: it must be 1 to 10"),
        (["level"], "write level:LEVEL"),
        (["level:2", "--game", "lines_of_action:rules=described"], "there is no rating pool for"),
    ],
)
def test_what_cannot_be_is_said(words: list[str], message: str) -> None:
    assert message in run("rate", *words, code=2)


def test_a_pool_is_made_from_random_play_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_module, "PLAYERS", ("positional", "random", "greedy"))
    pool = measure("othello", tmp_path, pairs=20, seed=1, resume=False, workers=0)
    assert [anchor.agent for anchor in pool.anchors] == ["random", "greedy", "positional"]
    ratings = [anchor.rating for anchor in pool.anchors]
    assert ratings[0] == 0
    assert ratings == sorted(ratings)
    assert (pool.game, pool.pairs, pool.seed) == ("othello", 20, 1)


@dataclass(frozen=True)
class Own(ConnectFour):
    files: ClassVar = Path()


def test_a_game_of_another_package_has_a_pool_and_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: Callable[..., Strength]
) -> None:
    """In a folder that is made; players that search judge by playouts where it has no heuristic."""
    playouts = "mcts:simulations=10"
    known({"random": 0.0, "greedy": 80.0, playouts: 400.0})
    monkeypatch.setattr(Own, "files", tmp_path / "files")
    monkeypatch.setattr(pools, "PLAYOUTS", (playouts,))
    make_module.main(["test_rating_pools:Own"], pairs=3, work=tmp_path, workers=0)
    assert {anchor.agent for anchor in rating_pool(Own()).anchors} == {"random", "greedy", playouts}
    levels = read_levels(Own())
    assert len(levels) == LEVELS
    assert levels[-1]["stronger"] == playouts


STRENGTH = {"random": 0.0, "greedy": 80.0, "positional": 400.0, "alphabeta:depth=4": 1000.0}


def found_levels(strengths: dict[str, float], of: Strength) -> tuple[list[Any], list[float], str]:
    """The levels on a pool of these players, their strengths, and what was said."""
    said: list[str] = []
    levels = levels_module.find_levels(OTHELLO, published(strengths), 0, said.append)
    true = [of(mixture(level)) for level in levels]
    return levels, true, "\n".join(said)


def mixture(level: Mapping[str, Any]) -> Mixture:
    return Mixture(make_agent(level["weaker"]), make_agent(level["stronger"]), level["share"])


def test_levels_are_at_even_steps(known: Callable[..., Strength]) -> None:
    levels, true, said = found_levels(STRENGTH, known(STRENGTH))
    assert true == pytest.approx(np.linspace(0, 1000, LEVELS), abs=12)
    assert [level["rating"] for level in levels] == pytest.approx(true, abs=12)
    expected = 1 / (1 + 10 ** (-1000 / (LEVELS - 1) / 400))
    for level in levels[1:]:
        assert level["beats_level_below"]["score"] == pytest.approx(expected, abs=0.03)
    assert "less than" not in said


def test_levels_move_until_each_beats_the_one_below(
    known: Callable[..., Strength], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the ladder has players as stronger than they are: their games with each other say."""
    of = known(STRENGTH)

    def wrong(game: Game, ladder: list[dict[str, Any]], *_: object) -> FloatArray:
        true = np.array([of(mixture(level)) for level in ladder])
        return np.where(true < 500, true / 3, true - 500 * 2 / 3)

    monkeypatch.setattr(levels_module, "_strengths", wrong)
    levels, true, said = found_levels(STRENGTH, of)
    rounds = [line for line in said.splitlines() if ", round " in line]
    assert rounds[0].rpartition(" ")[2] < "0.600"  # the lowest end of the first levels' intervals
    assert len(rounds) > 1
    assert all(level["beats_level_below"]["low"] > 0.6 for level in levels[1:])
    assert true == pytest.approx(np.linspace(0, 1000, LEVELS), abs=25)
    assert "less than" not in said


def test_a_pool_too_weak_for_ten_levels_is_said(known: Callable[..., Strength]) -> None:
    short = {agent: strength / 2 for agent, strength in STRENGTH.items()}
    levels, _, said = found_levels(short, known(short))
    assert len(levels) == LEVELS
    assert "othello: a level's score against the one below may be as low as 0.5" in said
    assert "less than 0.6" in said


def test_a_level_explains_what_it_plays() -> None:
    level, rng = make_agent("level:4"), np.random.default_rng
    state = random_openings(OTHELLO, 4, (4, 12), rng(1))
    for row, position in enumerate(OTHELLO.positions(state)):
        for seed in range(3):
            (played,) = level.act(OTHELLO, take(state, [row]), rng(seed))
            assert analyse(position, level, rng=rng(seed)).choice == played


def test_a_mixture_has_its_share() -> None:
    first = as_agent(lambda game, state, rng: game.legal(state).argmax(axis=1))
    mixed = Mixture(first, as_agent(highest), 0.25)
    actions = mixed.act(OTHELLO, OTHELLO.init(4000), np.random.default_rng(0))
    assert 0.22 < (actions == actions.max()).mean() < 0.28
    assert len(set(actions.tolist())) == 2
