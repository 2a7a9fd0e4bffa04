"""Openings: positions after some plies, random ones or a player's, none of them over; and what new
games begin with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.state import BoolArray, IntArray, State, concat, put, take
from boardenvs.utils.checks import is_whole, quote

# Attempts before the game is taken to have no more distinct openings.
_ROUNDS = 8
MAX_PLIES = 1000  # of an opening: its plies are kept for all openings at once

# Random openings of new games are played this many at a time: a batch large enough to be cheap.
_STOCK = 4096

Keep = Callable[[Game, State], BoolArray]


class OpeningPlayer(Protocol):
    """Chooses the moves of an opening: any agent of `boardenvs.agents`."""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray: ...


@dataclass(frozen=True)
class PlayedBy:
    """Plies of a player instead of random ones; a share `noise` of them stays random."""

    player: OpeningPlayer
    noise: float = 0.0


class Openings(NamedTuple):
    """B positions and how they came about."""

    state: State
    actions: IntArray  # (B, high) int32: the plies from the start, -1 after the last

    @property
    def distinct(self) -> int:
        """How many of the positions are distinct."""
        return len(first_of_each(self.state))


def random_openings(
    game: Game,
    count: int,
    plies: tuple[int, int],
    rng: np.random.Generator,
    by: PlayedBy | None = None,
) -> State:
    """`count` positions, each after a uniformly random number of plies in [low, high].

    The plies are random, or played by `by`. A game that ends before its number of plies is replaced
    by another, so long openings are rarer in games that can be that short. ValueError if `plies` is
    not a range, or if games are practically always over by then.
    """
    return _random_lines(game, count, plies, rng, None, by).state


def distinct_openings(
    game: Game,
    count: int,
    plies: tuple[int, int],
    rng: np.random.Generator,
    keep: Keep | None = None,
    by: PlayedBy | None = None,
) -> Openings:
    """`random_openings` without repeated positions, or with as few repeats as the game allows.

    With `keep`, only positions that it marks.
    """
    draw = partial(_random_lines, game, count, plies, rng, keep, by)
    lines = draw()
    for _ in range(_ROUNDS):
        lines = _select(lines, first_of_each(lines.state))
        if len(lines.actions) >= count:
            break
        lines = _join([lines, draw()])
    return _select(lines, np.resize(first_of_each(lines.state), count))


def _random_lines(
    game: Game,
    count: int,
    plies: tuple[int, int],
    rng: np.random.Generator,
    keep: Keep | None,
    by: PlayedBy | None,
) -> Openings:
    """See `random_openings`; also returns the plies played."""
    check_plies(plies)
    parts: list[Openings] = []
    for _ in range(_ROUNDS):
        part = _draw(game, count, plies, rng, by)
        parts.append(_select(part, keep(game, part.state)) if keep else part)
        drawn = sum(len(part.actions) for part in parts)
        if drawn >= count:
            return _select(_join(parts), slice(count))
    if drawn == 0:
        raise ValueError(
            f"no game of {game.id} lasts {plies[0]} random plies"
            f"{' to a position that is wanted' if keep else ''}: lower the plies of openings"
        )
    return _select(_join(parts), rng.integers(drawn, size=count))


def _draw(
    game: Game,
    count: int,
    plies: tuple[int, int],
    rng: np.random.Generator,
    by: PlayedBy | None,
) -> Openings:
    """Return the openings that `count` games reach, at most `count`."""
    low, high = plies
    length = rng.integers(low, high, size=count, endpoint=True)
    line = Openings(game.init(count), np.full((count, high), -1, np.int32))
    parts = []
    for ply in range(high + 1):
        live = ~game.is_over(line.state)
        parts.append(_select(line, live & (length == ply)))
        going = live & (length > ply)
        (state, actions), length = _select(line, going), length[going]
        if not len(length):
            break
        actions[:, ply] = game.sample(state, rng)
        if by is not None:
            played = rng.random(len(length)) >= by.noise
            actions[played, ply] = by.player.act(game, take(state, played), rng)
        line = Openings(game.step(state, actions[:, ply]), actions)
    lines = _join(parts)
    # Short openings come first: what is cut off or dealt out in order must not depend on length.
    return _select(lines, rng.permutation(len(lines.actions)))


def _select(openings: Openings, rows: Any) -> Openings:
    """Return the rows selected as by `boardenvs.game.state.take`."""
    return Openings(take(openings.state, rows), openings.actions[rows])


def _join(parts: Sequence[Openings]) -> Openings:
    return Openings(concat([p.state for p in parts]), np.concatenate([p.actions for p in parts]))


def first_of_each(state: State) -> IntArray:
    """Return the row of each distinct position's first appearance, ascending, (N,) int64."""
    if state.words[0].dtype == object:  # boards in plain Python
        rows = zip(state.words[0], state.ply.tolist(), strict=True)
        first = {row: place for place, row in reversed(list(enumerate(rows)))}
        return np.sort(np.array(list(first.values()), np.int64))
    past = [] if state.history is None else [*state.history.T]
    turn = (x.astype(np.uint64) for x in (state.to_move, state.ply))
    key = np.stack([*state.words, *past, *turn], axis=1)
    return np.sort(np.unique(key, axis=0, return_index=True)[1])


def check_plies(plies: object, name: str = "plies of openings") -> None:
    """ValueError, which says what they are called, where these are no range (low, high) of plies.

    Who keeps a range for later work calls this at once.
    """
    ends = list(plies) if isinstance(plies, tuple | list) else []
    ends = [int(x) if isinstance(x, np.integer) else x for x in ends]
    right = len(ends) == 2 and all(is_whole(x, 0, MAX_PLIES) for x in ends)
    if not right or ends[0] > ends[1]:
        raise ValueError(
            f"{name} are {quote(plies)}: they must be a range (low, high) from 0 to {MAX_PLIES}"
        )


# ---- what new games begin with -------------------------------------------------------------------


class Starts:
    """The game's start, or positions after a number of random plies drawn from `opening_plies`
    (low, high), or rows of `starts`, if there are any, drawn uniformly.

    ValueError where `opening_plies` is no range, or `starts` is empty or holds a game that is over.
    """

    def __init__(self, game: Game, opening_plies: tuple[int, int], starts: State | None) -> None:
        if starts is not None and (not game.check_values(starts) or game.is_over(starts).any()):
            raise ValueError("starts must hold one or more positions in which the game is not over")
        check_plies(opening_plies, "opening_plies")
        self._game, self._opening_plies, self._starts = game, opening_plies, starts
        self.clear()

    def clear(self) -> None:
        """Forget the openings in stock, which another generator may have played."""
        self.stock = self._game.init(0)

    def put(self, state: State, rows: IntArray, rng: np.random.Generator) -> None:
        """Begin new games in these rows of a state."""
        if self._starts is None and self._opening_plies[1] == 0:
            self._game.put_start(state, rows)
        else:
            put(state, rows, self.draw(len(rows), rng))

    def draw(self, count: int, rng: np.random.Generator) -> State:
        """`count` positions; those after random plies come from the stock."""
        if self._starts is not None:
            return take(self._starts, rng.integers(len(self._starts.ply), size=count))
        if self._opening_plies[1] == 0:
            return self._game.init(count)
        if len(self.stock.ply) < count:
            size = max(_STOCK, count)
            self.stock = random_openings(self._game, size, self._opening_plies, rng)
        drawn = take(self.stock, np.arange(count))
        self.stock = take(self.stock, slice(count, None))
        return drawn
