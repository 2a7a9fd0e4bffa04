"""Matches between two agents: every opening twice, with roles swapped, all games in one batch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from boardenvs.agents import Agent
from boardenvs.game import DRAW, LOSS, WIN, Game
from boardenvs.openings import distinct_openings
from boardenvs.state import FloatArray, IntArray, State, concat, take

_Z95 = 1.959963984540054  # the normal distribution's 97.5 % quantile


@dataclass(frozen=True)
class MatchResult:
    """How a match went for the first agent; a win scores 1, a draw 1/2, a loss 0."""

    pair_scores: FloatArray  # (pairs,) float64: the mean score of each opening's two games
    wins: int
    draws: int
    losses: int
    mean_plies: float  # the length of a game, its opening included

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The mean score."""
        return float(self.pair_scores.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the score, over openings; see `score_interval`."""
        return score_interval(self.pair_scores)

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.score:.3f} [{low:.3f}, {high:.3f}] (+{self.wins} ={self.draws} -{self.losses})"
        )


def play_match(
    game: Game,
    a: Agent,
    b: Agent,
    pairs: int,
    *,
    opening_plies: tuple[int, int] = (6, 10),
    seed: int = 0,
) -> MatchResult:
    """Play 2 * `pairs` games between `a` and `b`: each opening twice, with roles swapped.

    Openings are random plies, as many as `opening_plies` (low, high) says, distinct as far as the
    game has that many. A game that its cap on plies ends counts by its position. The same seed
    gives the same match if the agents draw their chance from the generator they are given.
    ValueError for fewer than one pair, or for openings that no game is long enough for.
    """
    if pairs < 1:
        raise ValueError(f"pairs is {pairs}: it must be 1 or more")
    openings_rng, a_rng, b_rng = np.random.default_rng(seed).spawn(3)
    openings = distinct_openings(game, pairs, opening_plies, openings_rng)
    role_of_a = np.repeat([0, 1], pairs)
    players = ((a, a_rng), (b, b_rng))
    final = _play_out(game, concat([openings, openings]), role_of_a, players)
    goals = game.results(final)[np.arange(2 * pairs), role_of_a]
    return MatchResult(
        pair_scores=((goals - LOSS) / (WIN - LOSS)).reshape(2, pairs).mean(axis=0),
        wins=int((goals == WIN).sum()),
        draws=int((goals == DRAW).sum()),
        losses=int((goals == LOSS).sum()),
        mean_plies=float(final.ply.mean()),
    )


def score_interval(pair_scores: FloatArray) -> tuple[float, float]:
    """A 95 % confidence interval of the mean of scores from 0 to 1, one a pair of games.

    The two games of a pair share an opening and so are not independent: the pairs are what is
    counted. It is Wilson's interval, which stays within 0 and 1 and does not shrink to a point
    when all scores agree, for as many coin tosses as have the variance of the pairs' mean.
    """
    pairs, mean = len(pair_scores), float(pair_scores.mean())
    variance = float(pair_scores.var(ddof=1)) if pairs > 1 else 0.0
    tosses = pairs * mean * (1 - mean) / variance if variance > 0 else float(pairs)
    squared = _Z95**2 / tosses
    centre = (mean + squared / 2) / (1 + squared)
    radius = math.sqrt(squared * mean * (1 - mean) + squared**2 / 4) / (1 + squared)
    return max(0.0, centre - radius), min(1.0, centre + radius)


def _play_out(
    game: Game,
    state: State,
    role_of_a: IntArray,
    players: tuple[tuple[Agent, np.random.Generator], tuple[Agent, np.random.Generator]],
) -> State:
    """The final positions; `players` are a and b, each with its own chance."""
    final = take(
        state, np.arange(len(state.ply))
    )  # a copy; each row is replaced when its game ends
    rows = np.arange(len(state.ply))
    while len(rows):
        actions = np.empty(len(rows), np.int64)
        turn_of_a = state.to_move == role_of_a[rows]
        for turn, (agent, rng) in ((turn_of_a, players[0]), (~turn_of_a, players[1])):
            if turn.any():
                actions[turn] = agent.act(game, take(state, turn), rng)
        state = game.step(state, actions)
        over = state.terminated | game.truncated(state)
        for field, values in zip(final, state, strict=True):
            field[rows[over]] = values[over]
        rows, state = rows[~over], take(state, ~over)
    return final
