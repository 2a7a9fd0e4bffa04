"""The positions that games of a training begin with: openings played by given agents.

Random play leads to some kinds of positions only. In Lines of Action it hardly ever leads near an
end, so that all games are drawn and there is nothing to learn from; openings played by an agent
that knows where to go also end shortly before a win.
"""

from __future__ import annotations

import numpy as np

from boardenvs.agents import make_agent
from boardenvs.arena.playing.openings import same_winner
from boardenvs.game.contract import Game
from boardenvs.game.openings import first_of_each
from boardenvs.game.state import State, concat, take
from training.settings import RunSettings, SelfPlaySettings

# Openings of agents are played before the training begins, so many of them.
_STARTS = 1 << 16

# Rounds of playing until there are as many openings as asked for.
_ROUNDS = 8


def played_starts(config: RunSettings) -> State | None:
    """The openings of a run; None where they are random plies, which are played as games begin."""
    settings = config.self_play
    if settings.openings.keys() == {"random"} and not settings.undecided:
        return None
    rng = np.random.default_rng([config.seed, _STARTS])
    return played_openings(config.make_game(), settings, _STARTS, rng)


def played_openings(
    game: Game, settings: SelfPlaySettings, count: int, rng: np.random.Generator
) -> State:
    """About `count` positions that are not over, played as the settings say.

    Games that end too early are played anew, so long openings are rarer where games can be short.
    Undecided openings are distinct before they are repeated: else the few short ones of Wolf and
    Sheep would crowd out the rest. ValueError where there are none.
    """
    parts = [
        _played_by(game, spec, settings, kept, max(1, round(share * part * count)), rng)
        for spec, share in settings.openings.items()
        for kept, part in ((False, 1 - settings.undecided), (True, settings.undecided))
        if part
    ]
    return concat(parts)


def _played_by(
    game: Game,
    spec: str,
    settings: SelfPlaySettings,
    kept: bool,
    count: int,
    rng: np.random.Generator,
) -> State:
    """`count` openings by one agent; undecided ones where `kept`."""
    found = take(game.init(1), [False])
    for _ in range(_ROUNDS):
        played = concat(_round(game, spec, settings, count, rng))
        found = concat([found, take(played, same_winner(game, played)) if kept else played])
        if kept:
            found = take(found, first_of_each(found))
        if len(found.ply) >= count:
            break
    if not len(found.ply):
        low, _ = settings.opening_plies
        raise ValueError(f"no game of {spec!r} lasts {low} plies: lower self_play.opening_plies")
    return take(found, np.resize(rng.permutation(len(found.ply)), count))


def _round(
    game: Game, spec: str, settings: SelfPlaySettings, count: int, rng: np.random.Generator
) -> list[State]:
    """The positions, at most `count`, that so many games reach after the plies drawn for each."""
    agent, (low, high) = make_agent(spec), settings.opening_plies
    found = []
    state, length = game.init(count), rng.integers(low, high, count, endpoint=True)
    for ply in range(high + 1):
        live = ~game.is_over(state)
        found.append(take(state, live & (length == ply)))
        state, length = take(state, live & (length > ply)), length[live & (length > ply)]
        if not len(length):
            break
        random = rng.random(len(length)) < settings.opening_noise
        actions = game.sample(state, rng)
        actions[~random] = agent.act(game, take(state, ~random), rng)
        state = game.step(state, actions)
    return found
