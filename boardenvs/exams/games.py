"""Positions for exams, out of games between players of several strengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from boardenvs.arena.match import play_match
from boardenvs.game.contract import Game, Position

# Who plays against itself.
PLAYERS = ("random", "positional", "alphabeta:depth=2", "alphabeta:depth=4")


def play_games(game: Game, player: str, pairs: int, noise: float, seed: int) -> list[list[int]]:
    """The actions of 2 * `pairs` games of a player against itself, that share of them random."""
    match = play_match(game, player, player, pairs, keep=None, noise=noise, seed=seed)
    assert match.actions is not None
    lines = match.actions.reshape(match.games, -1)
    return [line[line >= 0].tolist() for line in lines]


def positions_of(game: Game, line: Sequence[int]) -> list[Position]:
    """The positions of a game, from the start to the last before its end."""
    positions = [game.start()]
    for action in line[:-1]:
        positions.append(positions[-1].step(action))
    return positions


class Distinct:
    """Tells positions that are new under the game's symmetries."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._seen: set[tuple[int, int, int]] = set()

    def is_new(self, position: Position) -> bool:
        """Whether neither this position nor an image of it was asked for before."""
        images = set(self._images(position))
        if images & self._seen:
            return False
        self._seen |= images
        return True

    def _images(self, position: Position) -> Iterator[tuple[int, int, int]]:
        for symmetry in self._game.symmetries:
            yield symmetry.apply(position.own), symmetry.apply(position.opp), position.to_move


def shuffled(items: Sequence[list[int]], seed: int) -> list[list[int]]:
    """The same in an order by chance."""
    return [items[i] for i in np.random.default_rng(seed).permutation(len(items))]
