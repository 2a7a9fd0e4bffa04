"""The published rating pools: their anchors, estimates by games with them, and the levels."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run

from boardenvs.agents import Agent, analyse, make_agent
from boardenvs.agents.levels import LEVELS, LevelAgent, Mixture, read_levels
from boardenvs.arena import (
    Estimate,
    MatchResult,
    RatingPool,
    estimate_rating,
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
from boardenvs.game.state import FloatArray, IntArray, State
from boardenvs.games import make


def ends(found: Estimate) -> tuple[float, float]:
    """Of an interval that has both."""
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def half_width(found: Estimate) -> float:
    low, high = ends(found)
    return (high - low) / 2


GAMES = ["othello", "othello_holes", "lines_of_action", "wolf_and_sheep"]


@pytest.mark.parametrize("game_id", GAMES)
def test_each_game_has_a_pool_from_random_play_on_and_levels_in_order(game_id: str) -> None:
    pool = rating_pool(make(game_id))
    ratings = [anchor.rating for anchor in pool.anchors]
    assert {r.agent: r.rating for r in pool.anchors}["random"] == 0
    assert min(ratings) > -50
    assert ratings == sorted(ratings)
    assert all(0 < anchor.error < 40 for anchor in pool.anchors)
    for anchor in pool.anchors:
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
    assert rating_pool(make("reversi")) == rating_pool(make("othello"))
    assert read_levels(make("reversi")) == read_levels(make("othello"))


def test_near_pairings_count_more_than_far_ones() -> None:
    """Where all is as the model says the ratings are the model's; else the near games decide."""
    true = np.array([0.0, 150.0, 300.0, 700.0])
    games = 1e5 * (1 - np.eye(4))
    expected = 1 / (1 + 10 ** ((true - true[:, None]) / 400))
    rating, error = fit_near(games * expected, games)
    assert rating - rating[0] == pytest.approx(true, abs=2)  # less the prior
    assert (error > 0).all()
    odd = expected.copy()
    odd[0, 3] += 0.1  # the weakest beats the strongest, now and then
    odd[3, 0] -= 0.1
    rating, _ = fit_near(games * odd, games)
    assert rating[1:3] - rating[0] == pytest.approx(true[1:3], abs=20)


def test_an_interval_is_wider_where_no_rating_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A player that beats whom the pool has as strong and loses to whom it has as weak."""
    weak, strong = Anchor("random", 0.0, 1.0), Anchor("positional", 255.0, 1.0)
    model = Model(published((weak, strong), 80), None)
    monkeypatch.setattr(estimate_module, "play_match", model.play_match)
    found = []
    for ratings in ((0.0, 255.0), (255.0, 0.0)):
        anchors = replace(weak, rating=ratings[0]), replace(strong, rating=ratings[1])
        pool = RatingPool("othello", "", "", 0, 1, {}, anchors)
        found.append(estimate_rating(make("othello"), Losing(), pool, games=200, seconds=None))
    fitting, contradicted = found
    assert half_width(fitting) < 80
    assert half_width(contradicted) > 2 * half_width(fitting)


def test_anchors_far_away_make_an_interval_little_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Wolf and Sheep, where the wolf may lose to anybody: no rating fits one game in ten lost
    to the weak, but those against equals decide it.
    """
    equal, weak = Anchor("perfect", 1500.0, 1.0), Anchor("random", 900.0, 1.0)
    pool = RatingPool("wolf_and_sheep", "", "", 0, 1, {}, (weak, equal))

    def play_match(game: Game, a: Any, b: Any, pairs: int, **_: object) -> MatchResult:
        scores = np.full((2, pairs), 0.5)
        if b == make_agent("random"):
            scores[:] = np.arange(pairs) % 10 != 5
        return match_of(scores)

    monkeypatch.setattr(estimate_module, "play_match", play_match)
    found = estimate_rating(make("wolf_and_sheep"), Losing(), pool, games=400, seconds=None)
    assert [against.games > 20 for against in found.against] == [True, True]
    assert found.against[1].score < 0.95 < found.against[1].expected
    assert found.rating == pytest.approx(1500, abs=60)
    assert half_width(found) < 60


def match_of(scores: FloatArray) -> MatchResult:
    """A match that went so, without a fault."""
    none = np.zeros(scores.shape, np.int8)
    return MatchResult(scores, none, 60.0, scores.shape[1], (Faults.none(), Faults.none()))


class Losing:
    """Passes where it must not, and so forfeits."""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return np.full(len(state.ply), game.noop)


class Model:
    """Matches of players whose strength is known, in Elo points, as the ratings' model has them."""

    def __init__(
        self, strength: Callable[[object], float], rng: np.random.Generator | None
    ) -> None:
        self._strength, self._rng = strength, rng

    def play_match(self, game: Game, a: Any, b: Any, pairs: int, **_: object) -> MatchResult:
        """By chance, both games of an opening alike; without, scores are those to be expected."""
        expected = 1 / (1 + 10 ** ((self._strength(b) - self._strength(a)) / 400))
        scores = np.full((2, pairs), expected)
        if self._rng is not None:
            scores[:] = self._rng.random(pairs) < expected
        return match_of(scores)


def published(anchors: Sequence[Anchor], other: float) -> Callable[[object], float]:
    """The strength of the anchors as published, and of one other player."""
    strength: dict[object, float] = {make_agent(r.agent): r.rating for r in anchors}
    return lambda agent: strength.get(agent, other)


def test_intervals_hold_in_nineteen_cases_of_twenty(monkeypatch: pytest.MonkeyPatch) -> None:
    game, rng = make("othello"), np.random.default_rng(0)
    anchors = tuple(replace(r, error=1e-3) for r in rating_pool(game).anchors)
    pool = replace(rating_pool(game), anchors=anchors)
    held, widths = [], []
    for true in np.linspace(100, 1100, 30).tolist():
        model = Model(published(anchors, true), rng)
        monkeypatch.setattr(estimate_module, "play_match", model.play_match)
        found = estimate_rating(game, Losing(), pool, games=400, seconds=None, seed=int(true))
        low, high = ends(found)
        held.append(low < true < high)
        told = sum(a.games * a.expected * (1 - a.expected) for a in found.against)
        widths.append(half_width(found) / (1.96 * 400 / math.log(10) * math.sqrt(2 / told)))
    assert 0.85 < np.mean(held) < 1
    # As wide as what the games tell leaves, and a little wider where they disagree.
    assert 1 < np.mean(widths) < 1.25


def test_errors_of_the_references_widen_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """By as much as the rating would change if all of them were wrong the same way."""
    game = make("othello")
    pool = rating_pool(game)
    model = Model(published(pool.anchors, 500), np.random.default_rng(0))
    monkeypatch.setattr(estimate_module, "play_match", model.play_match)
    error = 60.0
    unsure = replace(pool, anchors=tuple(replace(r, error=error) for r in pool.anchors))
    found = estimate_rating(game, Losing(), unsure, games=1000, seconds=None)
    low, high = ends(found)
    assert low < found.rating - 1.96 * error < found.rating + 1.96 * error < high
    assert half_width(found) < 1.3 * 1.96 * error


@pytest.mark.usefixtures("in_python")
def test_who_loses_all_games_is_below_the_pool() -> None:
    game = make("wolf_and_sheep")
    found = estimate_rating(game, Losing(), rating_pool(game), games=200, seconds=None)
    assert (found.where, found.low) == ("below", None)
    assert found.high is not None
    assert found.high < 0
    # So many lost games in a row have a chance of 2.5 % at the interval's end.
    chance = math.prod(
        (1 / (1 + 10 ** ((found.high - a.rating) / 400))) ** a.games for a in found.against
    )
    assert chance == pytest.approx(0.025, rel=1e-6)


@pytest.mark.usefixtures("in_python")
def test_who_beats_all_anchors_is_above_the_pool() -> None:
    game = make("wolf_and_sheep")
    weak = rating_pool(game).anchors[:2]
    pool = RatingPool("wolf_and_sheep", "", "", 0, 1, {}, weak)
    found = estimate_rating(game, make_agent("perfect"), pool, games=60, seconds=None)
    assert found.where == "above"
    assert found.low is not None
    assert found.low > weak[-1].rating


@pytest.mark.usefixtures("in_python")
def test_the_same_seed_gives_the_same_rating_and_time_ends_it() -> None:
    game = make("wolf_and_sheep")
    agent, whole = make_agent("greedy"), rating_pool(make("wolf_and_sheep"))
    pool = replace(whole, anchors=whole.anchors[:2])
    first, second = (
        estimate_rating(game, agent, pool, games=24, seconds=seconds, seed=5)
        for seconds in (None, math.inf)
    )
    assert (first.rating, first.low, first.against) == (second.rating, second.low, second.against)
    assert estimate_rating(game, agent, pool, games=100_000, seconds=0.1).games < 10_000
    for wrong in ({"games": 1}, {"seconds": 0.0}):
        with pytest.raises(ValueError, match="it must be"):
            estimate_rating(game, agent, pool, **wrong)


@pytest.mark.usefixtures("in_python")
def test_the_command_rates_anybody() -> None:
    words = ["--game", "wolf_and_sheep", "--games", "20"]
    found = json.loads(run("rate", "python:arena_agents:lowest", *words, "--json"))
    assert found.keys() == {
        "agent", "game", "rating", "low", "high", "where", "games", "seconds", "seed", "pool",
        "against", "forfeits", "message", "note",
    }  # fmt: skip
    assert (found["games"], found["where"], found["forfeits"]) == (20, "on", 0)
    output = run("rate", "level:2", *words)
    assert "level:2 is rated" in output
    assert "20 games in" in output
    output = run("rate", "python:arena_agents:Otherwise", *words[:-1], "40")
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


@pytest.mark.usefixtures("in_python")
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


STRENGTH = {"random": 0.0, "greedy": 80.0, "positional": 400.0, "alphabeta:depth=4": 1000.0}


def known_strength(
    strength: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> Callable[[Any], float]:
    """The strength of these players and of mixtures of two: the farther along, the stronger. They
    play as strong as they are.
    """
    known = {make_agent(agent): rating for agent, rating in strength.items()}

    def of(agent: Any) -> float:
        if not isinstance(agent, Mixture):
            return known[agent]
        return known[agent.weaker] * (1 - agent.share) + known[agent.stronger] * agent.share

    model = Model(of, None)
    for room in (levels_module, estimate_module):
        monkeypatch.setattr(room, "play_match", model.play_match)
    return of


def found_levels(strength: dict[str, float], seed: int = 0) -> tuple[list[dict[str, Any]], str]:
    """The levels on a pool of these players, and what was said."""
    anchors = tuple(Anchor(agent, rating, 1.0) for agent, rating in strength.items())
    pool, said = RatingPool("othello", "", "", 0, 1, {}, anchors), list[str]()
    return levels_module.find_levels(make("othello"), pool, seed, said.append), "\n".join(said)


def test_levels_are_at_even_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    of = known_strength(STRENGTH, monkeypatch)
    levels, said = found_levels(STRENGTH)
    found = [of(levels_module._mixture(level)) for level in levels]
    assert found == pytest.approx(np.linspace(0, 1000, LEVELS), abs=12)
    assert [level["rating"] for level in levels] == pytest.approx(found, abs=12)
    expected = 1 / (1 + 10 ** (-1000 / (LEVELS - 1) / 400))
    for level in levels[1:]:
        assert level["beats_level_below"]["score"] == pytest.approx(expected, abs=0.03)
    assert "less than" not in said


def test_levels_move_until_each_beats_the_one_below(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the ladder has players as stronger than they are: their games with each other say."""
    of = known_strength(STRENGTH, monkeypatch)

    def wrong(game: Game, ladder: list[dict[str, Any]], *_: object) -> FloatArray:
        true = np.array([of(levels_module._mixture(level)) for level in ladder])
        return np.where(true < 500, true / 3, true - 500 * 2 / 3)

    monkeypatch.setattr(levels_module, "_strengths", wrong)
    levels, said = found_levels(STRENGTH)
    rounds = [line for line in said.splitlines() if ", round " in line]
    assert rounds[0].rpartition(" ")[2] < "0.600"  # the lowest end of the first levels' intervals
    assert len(rounds) > 1
    assert all(level["beats_level_below"]["low"] > 0.6 for level in levels[1:])
    found = [of(levels_module._mixture(level)) for level in levels]
    assert found == pytest.approx(np.linspace(0, 1000, LEVELS), abs=25)
    assert "less than" not in said


def test_a_pool_too_weak_for_ten_levels_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    short = {agent: strength / 2 for agent, strength in STRENGTH.items()}
    known_strength(short, monkeypatch)
    levels, said = found_levels(short)
    assert len(levels) == LEVELS
    assert "othello: a level's score against the one below may be as low as 0.5" in said
    assert "less than 0.6" in said


@pytest.mark.usefixtures("in_python")
def test_a_level_explains_what_it_plays() -> None:
    game, level = make("othello"), make_agent("level:4")
    state = random_openings(game, 4, (4, 12), np.random.default_rng(1))
    for row, position in enumerate(game.positions(state)):
        one = State(*(x[row : row + 1] for x in state))
        for seed in range(3):
            chosen = level.act(game, one, np.random.default_rng(seed))
            found = analyse(position, level, rng=np.random.default_rng(seed))
            assert found.choice == chosen[0]


class Fixed:
    """Plays the first or the last legal action."""

    def __init__(self, last: bool) -> None:
        self.last = last

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        legal = game.legal(state)
        actions: IntArray = legal.argmax(axis=1)
        return legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1) if self.last else actions


def test_a_mixture_has_its_share() -> None:
    game = make("othello")
    mixture = Mixture(Fixed(False), Fixed(True), 0.25)
    actions = mixture.act(game, game.init(4000), np.random.default_rng(0))
    last = Fixed(True).act(game, game.init(1), np.random.default_rng(0))[0]
    assert 0.22 < (actions == last).mean() < 0.28


def test_a_level_plays_on_with_the_same_players() -> None:
    game, rng, made = make("othello"), np.random.default_rng(0), list[str]()

    def make_and_tell(text: str) -> Agent:
        made.append(text)
        return make_agent(text)

    level = LevelAgent(2, make_and_tell)
    for _ in range(3):
        level.act(game, game.init(2), rng)
    analyse(game, level)
    assert made == [read_levels(game)[1][side] for side in ("weaker", "stronger")]
