"""Learnt evaluations: tables of weights, which alpha-beta search judges positions by.

`boardenvs.search.evaluation_file` keeps them in files, `training.ntuple` learns them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from boardenvs import games
from boardenvs.board.bitboard import EIGHT, square_name
from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State, WordArray
from boardenvs.kernel.loops import GROUP
from boardenvs.search.compiled.tuples import TupleTables
from boardenvs.search.compiler import flat, words
from boardenvs.utils.checks import is_whole

Tuple: TypeAlias = tuple[int, ...]  # squares, from the lowest digit
Int16Array: TypeAlias = np.ndarray[Any, np.dtype[np.int16]]

POINT = 100  # what a point of the lead at the end counts in values, in games won by points
WON = 10_000  # what a win counts in others
LONGEST = 10  # squares of a tuple: 3**10 numbers fit into 16 bits
MOST_TUPLES = 256  # with their images
IN_A_WORD = 4  # numbers of tuples


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What positions of one game are worth, as sums of weights (see `Terms`).

    A tuple of squares reads a position as a number in base three (0 empty, 1 own, 2 opposing), by
    which it finds its weight. The images of a tuple under the game's symmetries share its weights;
    so do numbers that are images of one another where a symmetry maps the tuple to itself. Each
    of the game's `features`, if `features` has their names and sizes, has a weight for each of its
    values. `weights` has a row for each stage, `stages` tells the stage by the pieces on the board,
    and `heuristic` what the game's own heuristic adds there. Values are the result expected by
    the side to move: in games won by points its lead, else 1 for a win and -1 for a loss, in units
    of `POINT` and `WON`. `one_ply` has weights for a search of one ply, see `for_one_ply`.

    ValueError where the parts do not fit together.
    """

    game: Game
    tuples: tuple[Tuple, ...]
    stages: tuple[int, ...]  # of 0 to 64 pieces
    weights: Int16Array  # (stages, size): of each tuple, those that are told apart; of each feature
    heuristic: tuple[float, ...]  # a stage
    notes: Mapping[str, Any] = field(default_factory=dict)  # on how it was made, as JSON values
    name: str = "the evaluation"  # what messages call it
    features: Mapping[str, int] = field(default_factory=dict)  # none, or the game's: their sizes
    one_ply: Int16Array | None = None  # (stages, size)

    def __post_init__(self) -> None:
        if len(self.stages) != 65 or not all(is_whole(s, 0, 64) for s in self.stages):
            raise ValueError("stages must be 65 numbers from 0 to 64, by the pieces on the board")
        if len(self.places.squares) > MOST_TUPLES:
            raise ValueError(f"there are more than {MOST_TUPLES} tuples and images of tuples")
        shape = (max(self.stages) + 1, self.terms.size)
        for name, weights in (("weights", self.weights), ("one_ply", self.one_ply)):
            if weights is not None and (weights.shape != shape or weights.dtype != np.int16):
                raise ValueError(
                    f"{name} are {weights.dtype} of {weights.shape}: they must be int16 of {shape}"
                )
        if len(self.heuristic) != shape[0] or not all(abs(x) < 128 for x in self.heuristic):
            raise ValueError(f"heuristic must be {shape[0]} numbers between -128 and 128")

    @cached_property
    def terms(self) -> Terms:
        """What a value is the sum of."""
        return Terms(self.game, self.tuples, self.features)

    @cached_property
    def for_one_ply(self) -> Evaluation:
        """What a search of one ply judges by: of the weights in `one_ply`, if there are any.

        Deeper search judges positions that both sides have looked ahead to. Who looks one ply
        ahead judges whatever its moves lead to, and it matters what will be overlooked there.
        """
        if self.one_ply is None:
            return self
        return replace(self, weights=self.one_ply, one_ply=None)

    @property
    def places(self) -> Places:
        """Where the tuples are, and their weights."""
        return self.terms.places

    def check_game(self, game: Game) -> None:
        """ValueError where it is of another game, or of other rules."""
        if game is not self.game and not game.has_rules_of(self.game):
            raise ValueError(
                f"{self.name} judges {games.spec_of(self.game)}, not {games.spec_of(game)}: an "
                "evaluation is for the rules that it was learnt with"
            )

    def values(self, state: State) -> IntArray:
        """What each row is worth to its side to move, (B,) int64; the end of a game is not seen."""
        stages = np.array(self.stages)[np.bitwise_count(state.own | state.opp)]
        found = self.terms.weights_of(state)
        values: IntArray = self.weights[stages[:, None], found].sum(axis=1, dtype=np.int64)
        if any(self.heuristic):
            shares = heuristic_shares(self.heuristic)[stages]
            values += self.game.values(state) * shares // 256
        return values


class Terms:
    """The weights that make a position's value: one for what is on each tuple of squares, and one
    for the number of each of the game's features, if they are weighed.

    ValueError for what is no tuple, and where features are neither none nor the game's in order.
    """

    def __init__(
        self, game: Game, tuples: Sequence[Tuple], features: Mapping[str, int] | None = None
    ) -> None:
        self.game, self.places, self.features = game, Places(game, tuples), dict(features or {})
        if features and list(features.items()) != list(game.feature_sizes.items()):
            raise ValueError(
                f"features are {dict(features)}: those of {game.id} are {game.feature_sizes}"
            )
        starts = np.cumsum([self.places.size, *self.features.values()])
        self.feature_starts: IntArray = starts[:-1]  # the first weight of each feature
        self.size = int(starts[-1])

    def weights_of(self, state: State) -> IntArray:
        """The numbers of the weights of each row, (B, terms) int64."""
        found = self.places.weights_of(state.own, state.opp)
        if len(self.feature_starts):
            numbers = self.game.feature_numbers(state) + self.feature_starts
            found = np.concatenate([found, numbers], axis=1)
        return found


class Places:
    """Where tuples and their images are on the board, and which of their numbers share a weight.

    ValueError for what is no tuple, and for a game with more than two sets of squares on 8x8.
    """

    def __init__(self, game: Game, tuples: Sequence[Tuple]) -> None:
        if game.board != EIGHT or len(game.word_names) > 2:
            raise ValueError(
                f"{game.id} is played with {', '.join(game.word_names)} on "
                f"{game.board.rows}x{game.board.columns} squares: a learnt evaluation is "
                "of games with own and opp alone, on 8x8"
            )
        self.tuples = tuple(tuples)
        self.squares: list[Tuple] = []  # of each image
        self.starts: list[int] = []  # of each image's table, in the tables one after the other
        self.kept: list[IntArray] = []  # of each table's numbers, the weight of it
        self.size = 0
        start = 0
        for squares in tuples:
            _check_tuple(squares)
            images = [tuple(s.squares[square] for square in squares) for s in game.symmetries]
            weight, count = np.unique(_shared(squares, images), return_inverse=True)
            self.kept.append(self.size + count.astype(np.int64))
            self.size += len(weight)
            there = set[frozenset[int]]()
            for image in images:
                if frozenset(image) not in there:
                    there.add(frozenset(image))
                    self.squares.append(image)
                    self.starts.append(start)
            start += 3 ** len(squares)

    @cached_property
    def weight_numbers(self) -> IntArray:
        """The weight of each number in the tables, one table after the other."""
        return np.concatenate([np.empty(0, np.int64), *self.kept])

    @cached_property
    def ranks(self) -> WordArray:
        """What each byte of each rank adds to the numbers, four in a word, (8, 256, words)."""
        ranks: WordArray = np.zeros((8, 256, self.units.shape[1]), np.uint64)
        bytes_ = np.arange(256)
        for square in range(64):
            rank, file = divmod(square, 8)
            ranks[rank, bytes_ >> file & 1 == 1] += self.units[square]
        return ranks

    @cached_property
    def units(self) -> WordArray:
        """What a digit of 1 on each square adds to the numbers, four in a word, (64, words)."""
        units: WordArray = np.zeros((64, -(-len(self.squares) // IN_A_WORD)), np.uint64)
        for number, squares in enumerate(self.squares):
            word, place = divmod(number, IN_A_WORD)
            for digit, square in enumerate(squares):
                units[square, word] += np.uint64(3**digit << (16 * place))
        return units

    def weights_of(self, own: WordArray, opp: WordArray) -> IntArray:
        """The numbers of the weights of each row, (B, tuples) int64."""
        words = np.zeros((len(own), self.ranks.shape[2]), np.uint64)
        for rank in range(8):
            shift, byte = np.uint64(8 * rank), np.uint64(255)
            words += self.ranks[rank, (own >> shift & byte).astype(np.intp)]
            words += self.ranks[rank, (opp >> shift & byte).astype(np.intp)] << np.uint64(1)
        indices = words.astype("<u8").view("<u2").astype(np.int64)[:, : len(self.squares)]
        found: IntArray = self.weight_numbers[indices + np.array(self.starts, np.int64)]
        return found


def tuple_tables(evaluation: Evaluation | None) -> TupleTables:
    """An evaluation's tables as loops take them; without one, none."""
    if evaluation is None:
        return TupleTables(words(1), flat(np.zeros(1, np.int16)), 0, 0)
    places, stages = evaluation.places, np.array(evaluation.stages)
    padding = -places.units.shape[1] % GROUP
    units: WordArray = np.pad(places.units, ((0, 0), (0, padding)))
    width = units.shape[1]
    digits = np.arange(3).astype(np.uint64)
    changes = units[:, None, None] * (digits - digits[:, None])[:, :, None]
    # Before the tables a weight of 0, for the numbers that fill the last words.
    of_features = np.arange(places.size, evaluation.terms.size)
    columns = np.concatenate([places.weight_numbers, of_features])
    rows = np.zeros((len(evaluation.weights), 2 + len(columns)), np.int16)
    rows[:, 0] = heuristic_shares(evaluation.heuristic)
    rows[:, 2:] = evaluation.weights[:, columns]
    offsets = np.ones(IN_A_WORD * width, np.uint64)
    offsets[: len(places.starts)] = 2 + np.array(places.starts)
    starts = (stages * rows.shape[1]).astype(np.uint64)
    kept = np.zeros(2 * (2 + width) + width, np.uint64)
    # The loops leave room for all features of the game, weighed or not.
    features = np.zeros(len(evaluation.game.feature_sizes), np.int64)
    if evaluation.features:
        features += evaluation.terms.feature_starts - places.size + 2 + len(places.weight_numbers)
    parts = (changes.reshape(-1), offsets, starts, features.astype(np.uint64), kept)
    return TupleTables(
        flat(np.concatenate(parts)), flat(rows), width, int(bool(evaluation.features))
    )


def heuristic_shares(heuristic: Sequence[float]) -> IntArray:
    """What the game's heuristic counts for in each stage, in 256ths."""
    shares: IntArray = np.rint(256 * np.array(heuristic)).astype(np.int64)
    return shares


def _shared(squares: Tuple, images: list[Tuple]) -> IntArray:
    """For each number of a tuple the least of those that the symmetries which map it to itself
    make of it.
    """
    numbers = np.arange(3 ** len(squares))
    digits = [numbers // 3**k % 3 for k in range(len(squares))]
    least = numbers
    for image in images:
        if set(image) == set(squares):
            moved = sum(digits[squares.index(s)] * 3**k for k, s in enumerate(image))
            least = np.minimum(least, moved)
    # A chain of images may reach further down: they form a group, so one look at all is enough.
    return least


def _check_tuple(squares: Tuple) -> None:
    whole = all(is_whole(square, 0, 63) for square in squares)
    if not whole or not 1 <= len(squares) <= LONGEST or len(set(squares)) < len(squares):
        names = [square_name(s) if is_whole(s, 0, 63) else s for s in squares]
        raise ValueError(f"{names} is not a tuple: it must be 1 to {LONGEST} different squares")
