"""The positions that games of a training begin with: openings played by given agents.

Random play leads to some kinds of positions only. In Lines of Action it hardly ever leads near an
end, so that all games are drawn and there is nothing to learn from; openings played by an agent
that knows where to go also end shortly before a win.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boardenvs.agents import make_agent
from boardenvs.envs.batch import is_over
from boardenvs.game import Game
from boardenvs.state import State, concat, take

# Rounds of playing before the openings asked for count as not to be had.
_ROUNDS = 8


def played_openings(
    game: Game,
    shares: Mapping[str, float],
    plies: tuple[int, int],
    noise: float,
    count: int,
    rng: np.random.Generator,
) -> State:
    """About `count` positions that are not over, after a uniformly random number of plies in [low,
    high] played by agents with these specifications and shares.

    Every ply is random with the chance `noise`. Games that end too early are played anew, so long
    openings are rarer where games can be short. ValueError where practically all do.
    """
    parts = [
        _played_by(game, spec, plies, noise, max(1, round(share * count)), rng)
        for spec, share in shares.items()
    ]
    return concat(parts)


def _played_by(
    game: Game,
    spec: str,
    plies: tuple[int, int],
    noise: float,
    count: int,
    rng: np.random.Generator,
) -> State:
    agent = make_agent(spec)
    found: list[State] = []
    for _ in range(_ROUNDS):
        state, length = game.init(count), rng.integers(plies[0], plies[1], count, endpoint=True)
        for ply in range(plies[1] + 1):
            live = ~is_over(game, state)
            found.append(take(state, live & (length == ply)))
            state, length = take(state, live & (length > ply)), length[live & (length > ply)]
            if not len(length):
                break
            random = rng.random(len(length)) < noise
            actions = game.sample(state, rng)
            actions[~random] = agent.act(game, take(state, ~random), rng)
            state = game.step(state, actions)
        if sum(len(part.ply) for part in found) >= count:
            every = concat(found)
            return take(every, rng.permutation(len(every.ply))[:count])
    raise ValueError(f"no game of {spec!r} lasts {plies[0]} plies: lower self_play.opening_plies")
