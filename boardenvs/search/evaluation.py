"""Learnt evaluations: tables of weights that judge positions in alpha-beta search.

`boardenvs.search.evaluation_file` reads and writes them, `training.ntuple` learns them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from boardenvs import games
from boardenvs.board.bitboard import Board, square_name
from boardenvs.game.game import Game
from boardenvs.game.state import IntArray, State, WordArray
from boardenvs.kernel.loops import GROUP
from boardenvs.search.compiled.tuples import TupleTables
from boardenvs.search.compiler import words
from boardenvs.utils.checks import is_whole

Tuple: TypeAlias = tuple[int, ...]  # squares, from the lowest digit
Int16Array: TypeAlias = np.ndarray[Any, np.dtype[np.int16]]

POINT = 100  # value of a point of the lead at the end, in games won by points
WON = 10_000  # value of a win in other games
_NUMBERS = 1 << 16  # of a tuple: they fit into 16 bits
MOST_TUPLES = 256  # with their images
IN_A_WORD = 4  # numbers of tuples


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The values of positions of one game, as sums of weights (see `Terms`).

    A tuple of squares reads a position as a number, the index of its weight: each square is a
    digit, 0 if empty, else the number of its kind in the game's `kinds` (in most games 1 for own, 2
    for opposing pieces). The images of a tuple under the game's symmetries share its weights; so do
    numbers that a symmetry of the tuple maps to one another. `features` has the names and sizes of
    the game's features, or nothing; each value of a feature has a weight.

    `weights` has a row for each stage, and `stages` the stage for each number of pieces on the
    board. Values are expected results of the side to move: in games won by points its lead, in
    units of `POINT`, else from -1, a loss, to 1, a win, in units of `WON`. `one_ply` has weights
    for a search of one ply, see `for_one_ply`.

    ValueError if the parts do not fit together.
    """

    game: Game
    tuples: tuple[Tuple, ...]
    stages: tuple[int, ...]  # by the number of pieces on the board
    weights: Int16Array  # (stages, size): of tuples, then of features
    notes: Mapping[str, Any] = field(default_factory=dict)  # on its making, as JSON values
    name: str = "the evaluation"  # in messages
    features: Mapping[str, int] = field(default_factory=dict)  # the game's sizes, or none
    one_ply: Int16Array | None = None  # (stages, size)

    def __post_init__(self) -> None:
        size = self.game.board.size
        if len(self.stages) != size + 1 or not all(is_whole(s, 0, size) for s in self.stages):
            raise ValueError(
                f"stages must be {size + 1} numbers from 0 to {size}, by the pieces on the board"
            )
        if len(self.terms.squares) > MOST_TUPLES:
            raise ValueError(f"there are more than {MOST_TUPLES} tuples and images of tuples")
        shape = (max(self.stages) + 1, self.terms.size)
        for name, weights in (("weights", self.weights), ("one_ply", self.one_ply)):
            if weights is not None and (weights.shape != shape or weights.dtype != np.int16):
                raise ValueError(
                    f"{name} are {weights.dtype} of {weights.shape}: they must be int16 of {shape}"
                )

    @cached_property
    def terms(self) -> Terms:
        """The terms of a value."""
        return Terms(self.game, self.tuples, self.features)

    @cached_property
    def for_one_ply(self) -> Evaluation:
        """The evaluation for a search of one ply: with the weights in `one_ply`, if it has some.

        A search of one ply judges positions that neither side has looked ahead to, and other
        weights play better there.
        """
        if self.one_ply is None:
            return self
        return replace(self, weights=self.one_ply, one_ply=None)

    def check_game(self, game: Game) -> None:
        """Raise ValueError if it is for another game, or for other rules."""
        why = "an evaluation is for the rules that it was learnt with"
        games.check_same_rules(game, self.game, f"{self.name} judges", why)

    def values(self, state: State) -> IntArray:
        """Return the values to the side to move, (B,) int64; not for finished games."""
        stages = np.array(self.stages)[self.game.piece_counts(state)]
        weights = self.weights[stages[:, None], self.terms.weights_of(state)]
        return weights.sum(axis=1, dtype=np.int64)


class Terms:
    """The weights that sum up to a position's value: one for each tuple of squares and each of its
    images, some of whose numbers share a weight, and one for each of the game's features, if they
    are used.

    ValueError for a wrong tuple, and for features that are not the game's, in its order.
    """

    def __init__(
        self, game: Game, tuples: Sequence[Tuple], features: Mapping[str, int] | None = None
    ) -> None:
        self.game, self.tuples, self.features = game, tuple(tuples), dict(features or {})
        if features and list(features.items()) != list(game.feature_sizes.items()):
            raise ValueError(
                f"features are {dict(features)}: those of {game.id} are {game.feature_sizes}"
            )
        self.digits = game.kernels.num_kinds + 1
        self.squares: list[Tuple] = []  # of each image
        self.starts: list[int] = []  # of each image's table, in the tables one after the other
        self.kept: list[IntArray] = []  # of each table's numbers, the weight of it
        size = start = 0
        for squares in tuples:
            _check_tuple(squares, game.board, self.digits)
            images = [tuple(s.squares[square] for square in squares) for s in game.symmetries]
            weight, count = np.unique(self._shared(squares, images), return_inverse=True)
            self.kept.append(size + count.astype(np.int64))
            size += len(weight)
            for image in {frozenset(image): image for image in images}.values():
                self.squares.append(image)
                self.starts.append(start)
            start += self.digits ** len(squares)
        starts = np.cumsum([size, *self.features.values()])
        self.feature_starts: IntArray = starts[:-1]  # the first weight of each feature
        self.tuple_weights, self.size = size, int(starts[-1])  # numbers of weights

    def _shared(self, squares: Tuple, images: list[Tuple]) -> IntArray:
        """Return the least image of each number of a tuple under the tuple's symmetries."""
        numbers = np.arange(self.digits ** len(squares))
        digits = [numbers // self.digits**k % self.digits for k in range(len(squares))]
        least = numbers
        for image in images:
            if set(image) == set(squares):
                moved = sum(digits[squares.index(s)] * self.digits**k for k, s in enumerate(image))
                least = np.minimum(least, moved)
        # A chain of images may reach further down: they form a group, so one look at all is enough.
        return least

    @cached_property
    def weight_numbers(self) -> IntArray:
        """The weight of each number, one table after the other."""
        return np.concatenate([np.empty(0, np.int64), *self.kept])

    @cached_property
    def bytes(self) -> WordArray:
        """`units` summed over the squares in each byte of a set, (8 * W, 256, words), for a board
        of W words.
        """
        shape = 8 * self.game.board.words, 256, self.units.shape[1]
        sums: WordArray = np.zeros(shape, np.uint64)
        for square, units in enumerate(self.units):
            sums[square // 8, np.arange(256) >> square % 8 & 1 == 1] += units
        return sums

    @cached_property
    def units(self) -> WordArray:
        """The change of the numbers by a digit of 1 on each square, packed, (squares, words)."""
        size = self.game.board.size, -(-len(self.squares) // IN_A_WORD)
        units: WordArray = np.zeros(size, np.uint64)
        for number, squares in enumerate(self.squares):
            word, place = divmod(number, IN_A_WORD)
            for digit, square in enumerate(squares):
                units[square, word] += np.uint64(self.digits**digit << (16 * place))
        return units

    def weights_of(self, state: State) -> IntArray:
        """Return the indices of the weights of each row, (B, terms) int64."""
        words = np.zeros((len(state.ply), self.units.shape[1]), np.uint64)
        for digit, squares in enumerate(self.game.kinds_on(state), start=1):
            for place, table in enumerate(self.bytes):
                byte = squares[place // 8] >> np.uint64(8 * (place % 8)) & np.uint64(255)
                words += table[byte.astype(np.intp)] * np.uint64(digit)
        indices = words.astype("<u8").view("<u2").astype(np.int64)[:, : len(self.squares)]
        weights: IntArray = self.weight_numbers[indices + np.array(self.starts, np.int64)]
        if self.features:
            numbers = self.game.feature_numbers(state) + self.feature_starts
            weights = np.concatenate([weights, numbers], axis=1)
        return weights


def tuple_tables(evaluation: Evaluation | None) -> TupleTables:
    """Return the tables of an evaluation as loops take them; empty ones without an evaluation."""
    if evaluation is None:
        return TupleTables(words(1), np.zeros(1, np.int16), 0, 0)
    terms, game, stages = evaluation.terms, evaluation.game, np.array(evaluation.stages)
    padding = -terms.units.shape[1] % GROUP
    units: WordArray = np.pad(terms.units, ((0, 0), (0, padding)))
    width = units.shape[1]
    digits = np.arange(terms.digits).astype(np.uint64)
    changes = units[:, None, None] * (digits - digits[:, None])[:, :, None]
    # Before the tables a weight of 0, for the numbers that fill the last words.
    of_features = np.arange(terms.tuple_weights, terms.size)
    columns = np.concatenate([terms.weight_numbers, of_features])
    rows = np.pad(evaluation.weights[:, columns], ((0, 0), (1, 0)))
    offsets = np.zeros(IN_A_WORD * width, np.uint64)
    offsets[: len(terms.starts)] = 1 + np.array(terms.starts)
    starts = (stages * rows.shape[1]).astype(np.uint64)
    kept = np.zeros(2 * (len(game.word_names) + width) + width, np.uint64)
    # The loops leave room for all features of the game, weighed or not.
    features = np.zeros(len(game.feature_sizes), np.int64)
    if evaluation.features:
        features += terms.feature_starts - terms.tuple_weights + 1 + len(terms.weight_numbers)
    parts = (changes.reshape(-1), offsets, starts, features.astype(np.uint64), kept)
    return TupleTables(np.concatenate(parts), rows.ravel(), width, int(bool(evaluation.features)))


def _check_tuple(squares: Tuple, board: Board, digits: int) -> None:
    longest = max(n for n in range(1, 17) if digits**n <= _NUMBERS)
    whole = all(is_whole(square, 0, board.size - 1) for square in squares)
    if not whole or not 1 <= len(squares) <= longest or len(set(squares)) < len(squares):
        names = [square_name(s, board) if is_whole(s, 0, board.size - 1) else s for s in squares]
        raise ValueError(f"{names} is not a tuple: it must be 1 to {longest} different squares")
