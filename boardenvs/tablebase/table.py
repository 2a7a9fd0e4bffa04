"""The solution of a game as a table to look positions up in."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.perft import parts, successors
from boardenvs.game.state import (
    BoolArray,
    FloatArray,
    Int8Array,
    IntArray,
    State,
    concat,
    take,
)
from boardenvs.tablebase.build import NUMBERINGS, read_or_solve

# Loaded tables, by class and rules: the cap on plies does not change them.
_loaded: dict[tuple[type[Game], str], IntArray] = {}

# More than any distance.
_FAR = 1 << 14


class SolvedMoves(NamedTuple):
    """Every legal action of every row, and its result with perfect play of both sides."""

    rows: IntArray  # (N,) ascending: the row of the state
    actions: IntArray  # (N,) ascending within a row
    after: State  # N rows: the position after the action
    value: Int8Array  # (N,): to the side that makes the move, as in `Tablebase.lookup`
    distance: IntArray  # (N,) int16: plies to the end, this one included

    @property
    def score(self) -> IntArray:
        """Order of moves, (N,) int64: more is better; sooner wins, and later losses."""
        return self.value.astype(np.int64) * (_FAR - self.distance)


class Tablebase:
    """The winner of each position with perfect play, and the plies to the end; made by `load`.

    Winners hurry and losers delay. Under both rules of Wolf and Sheep every position is decided:
    without a cap one side can force its win, at most 44 plies later in the classic game and 14 in
    the described one. So with `max_plies` (200 by default) games from the start are decided long
    before the cap. Near it, a side wins by force if the table's distance is no more than the plies
    left. Otherwise neither side can force an end before the cap, and the wolf, since it can move,
    gets the reward.
    """

    def __init__(self, game: Game, codes: IntArray) -> None:
        self.game = game
        self._codes = codes  # as in `build.solve`, by `numbering.numbers`

    @staticmethod
    def covers(game: Game) -> bool:
        """Return whether there is a tablebase of the game; a subclass may have other rules."""
        return type(game) in NUMBERINGS

    @classmethod
    def load(cls, game: Game) -> Tablebase:
        """Return the table of the game, from memory or the cache folder, else solved in seconds.

        ValueError for a game without a tablebase.
        """
        if not cls.covers(game):
            raise ValueError(
                f"there is no tablebase of {game.id}: 'wolf_and_sheep' and 'tictactoe' are solved "
                "exactly"
            )
        key = type(game), getattr(game, "rules", "")
        if key not in _loaded:
            _loaded[key] = read_or_solve(game)
        return cls(game, _loaded[key])

    def lookup(self, state: State) -> tuple[Int8Array, IntArray]:
        """Return the value of each row to the side to move, (B,) int8, and the plies to the end,
        (B,) int16, with perfect play.

        1 is a win and -1 a loss by force; 0 is a draw, or a position that neither side can end
        within the plies that `max_plies` leaves: the wolf then wins at the cap. PositionError for
        positions that no game reaches, see `numbering`.
        """
        codes = self._codes[numbers(self.game, state)]
        value, distance = np.sign(codes).astype(np.int8), np.abs(codes) - np.int16(1)
        if self.game.fills_up:  # a draw has a full board
            marks = np.bitwise_count(state.own | state.opp).astype(np.int16)
            distance[value == 0] = self.game.board.size - marks[value == 0]
        if self.game.max_plies is not None:
            cap = min(self.game.max_plies, np.iinfo(np.int32).max)
            left = np.maximum(cap - state.ply, 0)
            late = distance > left
            value[late], distance[late] = 0, left[late]
        return value, distance

    def moves(self, state: State) -> SolvedMoves:
        """Return all legal actions and their values."""
        rows, actions, after = successors(self.game, state)
        value, distance = self.lookup(after)
        return SolvedMoves(rows, actions, after, -value, distance + np.int16(1))

    def preserving(self, state: State) -> BoolArray:
        """Return the legal actions that keep the value of their position, (B, A) bool.

        In a lost position these are all actions, however soon they lose.
        """
        moves = self.moves(state)
        best = np.full(len(state.ply), -1, np.int8)
        np.maximum.at(best, moves.rows, moves.value)
        mask = np.zeros((len(best), self.game.num_actions), np.bool_)
        mask[moves.rows, moves.actions] = moves.value == best[moves.rows]
        return mask

    def mistakes(self, state: State) -> FloatArray:
        """Return the share of each row's legal actions that give its value away, (B,) float; 0 if
        nothing is legal.
        """
        self.game.check_state(state)
        legal = np.bitwise_count(state.legal_bits).sum(axis=1)
        kept = np.concatenate([self.preserving(part).sum(axis=1) for part in parts(state)])
        return np.where(legal > 0, 1 - kept / np.maximum(legal, 1), 0.0)


def numbers(game: Game, state: State) -> IntArray:
    """Return the number of each row's position in its game's numbering, (B,) int64."""
    return NUMBERINGS[type(game)].numbers(game, state)


def won_positions(game: Game, role: int) -> State:
    """Return the positions, reachable from the start, that the role, which is to move, wins."""
    return _won(game)[role]


@lru_cache(maxsize=2)
def _won(game: Game) -> list[State]:
    """Return the `won_positions` of each role."""
    table = Tablebase.load(game)
    marks: BoolArray = np.zeros(NUMBERINGS[type(game)].COUNT, np.bool_)
    wins: list[list[State]] = [[] for _ in game.roles]
    level = _new_positions(game, game.init(1), marks)
    while len(level.ply):
        won = table.lookup(level)[0] > 0
        for role, states in enumerate(wins):
            states.append(take(level, (level.to_move == role) & won))
        new = [_new_positions(game, successors(game, part)[2], marks) for part in parts(level)]
        level = concat(new)
        # Sorted by number, so that the order does not depend on the parts.
        level = take(level, np.argsort(numbers(game, level)))
    return [concat(states) for states in wins]


def _new_positions(game: Game, state: State, marks: BoolArray) -> State:
    """Return one row of each position that is neither over nor marked in `marks` (COUNT,), and mark
    them.
    """
    state = take(state, ~game.is_over(state))
    keys, first = np.unique(numbers(game, state), return_index=True)
    new = ~marks[keys]
    marks[keys] = True
    return take(state, first[new])
