"""A game: its rules (`game/rules.py`) and all that follows from them, once, for all games.

Every ply, a noop too, passes the turn to the other side, unless the game has a rule `again`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache, reduce
from inspect import cleandoc
from itertools import chain, repeat
from operator import and_, index
from typing import Any, ClassVar

import numpy as np

from boardenvs.board.bitboard import drawn, joined, parse_square, square_name, squares_of
from boardenvs.board.symmetry import Symmetry
from boardenvs.game.errors import PositionError
from boardenvs.game.fen import parse_usual
from boardenvs.game.kernels import Kernels
from boardenvs.game.notation import PASS, Dropping, Notation
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import DRAW, Rules, swap_sides
from boardenvs.game.state import (
    Array,
    BoolArray,
    FloatArray,
    Int8Array,
    IntArray,
    Kinds,
    State,
    Transition,
    WordArray,
    check_arrays,
)
from boardenvs.game.stepping import (
    check_actions,
    check_legal,
    difference,
    is_legal,
    is_truncated,
    step_batch,
    step_rows,
)
from boardenvs.game.views import Views
from boardenvs.kernel import ALL, get_backend
from boardenvs.kernel.backend import Backend
from boardenvs.kernel.layout import unpack
from boardenvs.utils.checks import is_whole, quote

_PLIES = 100  # after which a side has points, if they are counted
MAX_PLY = 1 << 30  # of a position to start from: batches count plies in 32 bits


@dataclass(frozen=True)
class Game(Rules):
    """A two-player game on a board of at most 16x16; its fields are the parameters of its rules.

    The last action is noop. `own` and `opp` are the squares of the side to move and of the other
    side, `to_move` is 0 or 1 and `ply` counts from 0.

    One board is a `Position`, with methods of its own; a batch of boards is a `State`, which the
    methods here take and return.

    ```python
    import boardenvs
    import numpy as np

    game = boardenvs.games.make("othello")
    position = game.start().step(game.parse_action("e6"))
    print(game.roles[position.to_move], position.legal_actions())

    rng, state = np.random.default_rng(1), game.init(4096)
    while not game.is_over(state).all():
        state = game.step(state, game.sample(state, rng))
    print(game.results(state).mean(axis=0))  # what black and white got, 100 for a win
    ```
    """

    id: str

    notation: ClassVar[Notation]  # what actions there are and how they are written

    in_words: ClassVar[bool] = True  # the rules are functions of words; see also `PlainGame`

    # Draws a position as SVG, for notebooks. `boardenvs` puts it in: a game knows no renderer.
    drawer: ClassVar[Callable[[Position, Mapping[int, str] | None], str] | None] = None

    @cached_property
    def action_sizes(self) -> tuple[int, ...]:
        """How many actions there are in each part of what `moves` returns; see `notation`."""
        return self.notation.sizes(self)

    @property
    def source(self) -> type[Any]:
        """The class that an author has written."""
        return type(self)

    @property
    def title(self) -> str:
        """The game's name as it is written in a title."""
        return self.about.title or self.id.replace("_", " ").capitalize()

    @property
    def rules_text(self) -> str:
        """All rules in full sentences, each paragraph on a line."""
        about, doc = self.about, self.source.__doc__ or ""
        text = about.instructions or f"{about.rules}\n\n{about.end}".strip() or cleandoc(doc)
        return re.sub(r"(?<!\n)\n(?!\n)", " ", text)

    @property
    def can_be_set_up(self) -> bool:
        """Whether people can place pieces by hand: they tell all of a position, and none floats."""
        return not (any(self.setup()[2:]) or isinstance(self.notation, Dropping))

    def has_rules_of(self, other: Game) -> bool:
        """Return whether the games differ at most in their ids, as Reversi and Othello do."""
        return type(self) is type(other) and replace(self, id=other.id) == other

    @property
    def for_training(self) -> Game:
        """The game that learners play from nothing: one with the same rules and more plies where
        random play hardly ever decides a game. What learns it plays this game too.
        """
        return self

    def plies_before(self, game: Game) -> int | None:
        """Return after how many plies of this game it goes on as `game` does from its start on: 0
        for a game with the same rules, None for others.
        """
        return 0 if self.has_rules_of(game) else None

    @property
    def backend(self) -> Backend:
        """What compiles loops over the rules: `get_backend()`, or nothing, "numpy", for rules in
        plain Python.
        """
        return get_backend() if self.in_words else "numpy"

    @cached_property
    def kernels(self) -> Kernels:
        """The rules as functions on words, for one board and for a batch."""
        # A game with more than its equality sees shares nothing with those that are equal to it.
        compared = {f.name for f in fields(self) if f.compare}
        return _kernels_of(self) if compared.issuperset(self.__getstate__()) else Kernels(self)

    def __getstate__(self) -> dict[str, Any]:
        # Without cached values, which can be computed again: compiled functions do not pickle.
        kind = type(self)
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }

    @cached_property
    def observation_shape(self) -> tuple[int, int, int]:
        return (*self.board, self.kernels.num_planes)

    def parameter(self, name: str) -> Any:
        """Return the value of a parameter of the rules."""
        return getattr(self, name)

    def empty(self, batch: int) -> State:
        """Return a state of this game of uninitialised arrays."""
        return State(
            tuple(np.empty((len(self.word_names), batch), np.uint64)),
            np.empty((batch, self.legal_words), np.uint64),
            np.empty(batch, np.int8),
            np.empty(batch, np.int32),
            np.empty(batch, np.bool_),
            np.empty((batch, self.history), np.uint64) if self.history else None,
        )

    # ---- names -------------------------------------------------------------------------------

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the sides for people, by role: in Othello white is the role "red"."""
        return self.look.sides or self.roles

    @cached_property
    def named_squares(self) -> tuple[int, ...]:
        """The squares in the order of their names: a1, b1 and so on.

        It is its own inverse; in most games square s has the s-th name.
        """
        columns = self.board.columns
        ranks = [range(first, first + columns) for first in range(0, self.board.size, columns)]
        return tuple(chain.from_iterable(ranks[::-1] if self.look.from_top else ranks))

    def square_name(self, square: int) -> str:
        """Return the name of a square, such as "a1"; in Othello row 1 is at the top, as people have
        it.
        """
        return square_name(self.named_squares[square], self.board, self.look.files)

    def square_names(self, squares: int) -> str:
        """Return the names of a set of squares: "a1, b2"."""
        return ", ".join(map(self.square_name, squares_of(squares)))

    def parse_square(self, text: str) -> int:
        """Return the inverse of `square_name`; ValueError for anything else."""
        return self.named_squares[parse_square(text, self.board, self.look.files)]

    def labels(self, position: Position) -> Mapping[int, str] | None:
        """Return texts to write in squares, by square, such as how many seeds they hold: one or two
        characters each. None for a game that writes nothing.
        """
        return None

    @cached_property
    def counts_points(self) -> bool:
        """Whether points tell who is ahead, and not only who has won: the margin counts, or squares
        hold numbers and a side has several points after random plies.
        """
        if self.margin_counts or self.labels(self.start()) is None:
            return self.margin_counts
        state, rng = self.init(1), np.random.default_rng(0)
        for _ in range(_PLIES):
            state = self.step(state, self.sample(state, rng))
        return max(self.positions(state)[0].points()) > 1

    # ---- positions ---------------------------------------------------------------------------

    @cached_property
    def further_words(self) -> tuple[str, ...]:
        """The names of the words after `own` and `opp` in texts of positions, such as "black_kings"
        for `own_kings`.
        """
        sides = dict(zip(("own", "opp"), self.sides, strict=True))
        parts = [name.partition("_") for name in (*self.squares, *self.numbers)[2:]]
        return tuple(sides.get(side, side) + line + name for side, line, name in parts)

    def is_number(self, name: str) -> bool:
        """Return whether one of the `further_words` is a number, and no set of squares."""
        return name in self.further_words[len(self.squares) - 2 :]

    def further_texts(self, position: Position) -> dict[str, str]:
        """Return the `further_words` that are not empty or 0 as texts: numbers, or squares such as
        "a1,c3".
        """
        words = zip(self.further_words, position.by_role()[2:], strict=True)
        return {
            name: str(word) if self.is_number(name) else self.square_names(word).replace(" ", "")
            for name, word in words
            if word
        }

    def start(self) -> Position:
        """Return the starting position."""
        return self._start

    @cached_property
    def _start(self) -> Position:
        return self.position(self.setup())

    def position(self, words: tuple[int, ...], to_move: int = 0, ply: int = 0) -> Position:
        """Return the position of these words, `own` being the first role's whoever is to move: in
        most games the squares of both roles.

        Where the game has a history, nothing has been before. Raises PositionError where the words,
        the side to move or the ply are impossible.
        """
        _check_words(self, words)
        _check_turn(to_move, ply)
        on_holes = (words[0] | words[1]) & self.holes
        if on_holes:
            raise PositionError(
                f"there is a piece on {self.square_names(on_holes)}, which is a hole"
            )
        self.check_squares(words)
        split = self.split(words)
        own_words = swap_sides(self.word_names[: self.known_words], split) if to_move else split
        if self.history:
            own_words = (*own_words, *self.kernels.key.one(*own_words, 0, 0, to_move), 0)
        *legal_bits, terminated = self.kernels.begin.one(*own_words, to_move, ply)
        past = (0,) * self.history
        return Position(own_words, tuple(legal_bits), to_move, ply, bool(terminated), self, past)

    def fen(self, position: Position) -> str:
        """Return a position as a line of text; see `boardenvs.game.fen`, which reads it back."""
        _check_turn(position.to_move, position.ply)
        ranks = joined(reversed(self.ranks_of(position)))
        text = f"{ranks} {self.sides[position.to_move]} {position.ply}"
        return " ".join([text, *map("=".join, self.further_texts(position).items())])

    def ranks_of(self, position: Position) -> list[str]:
        """Return the letter on each square, "." if it is empty, rank 1 first."""
        board, words = self.board, position.by_role()
        sets = [(k, reduce(and_, map(words.__getitem__, its))) for k, its in self.letters.items()]
        signs = drawn(sets, board.size)
        return [signs[a1 : a1 + board.columns] for a1 in range(0, board.size, board.columns)]

    @property
    def letters(self) -> Mapping[str, tuple[int, ...]]:
        """The letters of pieces in texts, with the words that have their squares, by number as
        `position` takes them: by default the first letters of the sides.
        """
        return {name[0]: (i % 2,) for i, name in enumerate((*self.sides, *self.roles))}

    def parse_fen(self, text: str) -> Position:
        """Return the reverse of `fen`; ValueError for a wrong text. See `game.fen`."""
        return parse_usual(self, text)

    def text_of(self, position: Position) -> str | None:
        """Return the position as its own class draws it in text; None if it does not."""
        return None

    def fresh(self, position: Position) -> Position:
        """Return a position as one of this game, with the same words and no history."""
        return self.position(position.by_role(), position.to_move, position.ply)

    def by_role(self, words: Sequence[Any], to_move: int) -> tuple[int, ...]:
        """Return the sets and numbers as the first role sees them."""
        return self.join(swap_sides(self.word_names, words) if to_move else words)

    def image(self, symmetry: Symmetry, words: Sequence[Any]) -> tuple[Any, ...]:
        """Return the words (ints or uint64 arrays) under a symmetry; numbers do not change."""
        count, values = len(self.squares), self.join(words)
        turned = (*map(symmetry.apply, values[:count]), *values[count:])
        return (*self.split(turned), *words[self.known_words :])

    def init(self, batch: int) -> State:
        """Return B = `batch` games at the start."""
        state = self.empty(batch)
        self.put_start(state, slice(None))
        return state

    def put_start(self, state: State, rows: Any) -> None:
        """Begin a game in these rows of a state."""
        for array, first in zip(state.arrays, self._start_state.arrays, strict=True):
            array[rows] = first

    @cached_property
    def _start_state(self) -> State:
        return stack([self.start()])

    def packed(self, state: State) -> tuple[Array, ...]:
        """Return a state as arrays of numbers, which can be kept in files."""
        self.check_state(state)
        return state.arrays

    def unpacked(self, arrays: Sequence[Array]) -> State:
        """Return the reverse of `packed`."""
        state = State.of_arrays(arrays)
        self.check_values(state)
        return state

    def check_state(self, state: State) -> int:
        """Return the number of rows; TypeError or ValueError unless the arrays fit this game."""
        return check_arrays(state, self._kinds)

    @cached_property
    def _kinds(self) -> Kinds:
        return [(x.dtype, x.shape[1:]) for x in self.empty(0).arrays]

    def check_values(self, state: State) -> int:
        """`check_state`, and ValueError for values beyond which search would read."""
        rows = self.check_state(state)
        if (state.to_move >> 1).any():
            raise ValueError("to_move of the state has other numbers than 0 and 1")
        if state.ply.min(initial=0) < 0:
            raise ValueError("ply of the state has negative numbers")
        last = self.num_actions % 64  # bits of the last word, or all
        if last and int(state.legal_bits[:, -1].max(initial=0)) >> last:
            raise ValueError(f"legal_bits of the state has actions above {self.noop}, the last")
        return rows

    def positions(self, state: State) -> list[Position]:
        """Return the rows of a batch as single positions; `stack` is the way back."""
        self.check_values(state)
        words = zip(*(word.tolist() for word in state.words), strict=True)
        legal_bits, *rest = (x.tolist() for x in state[1:-1])
        past = [()] * len(state.ply) if state.history is None else state.history.tolist()
        rows = zip(words, map(tuple, legal_bits), *rest, map(tuple, past), strict=True)
        return [Position._make((*row, self, keys)) for *row, keys in rows]

    # ---- actions -----------------------------------------------------------------------------

    def legal(self, state: State) -> BoolArray:
        """Return the legal actions, (B, A) bool; all False where terminated."""
        self.check_state(state)
        return unpack(state.legal_bits, self.num_actions).view(np.bool_)

    def is_legal(self, state: State, actions: IntArray) -> BoolArray:
        """Return whether row i's action is legal, (B,) bool; actions out of range are not."""
        return is_legal(self, state, check_actions(actions, self.check_state(state)))

    def sample(self, state: State, rng: np.random.Generator) -> IntArray:
        """Return a random legal action for each row, (B,) int64; noop where terminated."""
        actions = np.empty(self.check_state(state), np.int64)
        bits = _random_words(rng, len(actions))
        self.kernels.sample.batch([state.legal_bits, bits], [actions])
        return actions

    # ---- plies -------------------------------------------------------------------------------

    def step(self, state: State, actions: IntArray, *, check: bool = False) -> State:
        """Return the state after one ply in every row; terminated rows stay as they are.

        `actions` is (B,) int; the input state is not modified. With `check`, IllegalActionError for
        the first illegal action; in rows where the game is over noop is legal. Without, which is
        faster, legality is not checked.
        """
        actions = check_actions(actions, self.check_state(state))
        if check:
            check_legal(self, state, actions)
        return step_rows(self, state, actions, ~state.terminated)

    def step_batch(
        self,
        state: State,
        actions: IntArray,
        waiting: BoolArray | None = None,
    ) -> Transition:
        """Play one ply in every row except the `waiting` ones, (B,) bool.

        Rows with an illegal action, and those that wait, stay as they are; what is over must wait.
        `actions` is (B,) int. The input state is not modified.
        """
        actions = check_actions(actions, self.check_state(state))
        if waiting is None:
            waiting = np.zeros(len(actions), np.bool_)
        waiting = np.asarray(waiting)
        if (waiting.dtype.kind, waiting.shape) != ("b", actions.shape):
            raise ValueError(f"waiting is {quote(waiting)}: it must be {actions.shape} of bool")
        return step_batch(self, state, actions, waiting)

    # ---- ends and values ---------------------------------------------------------------------

    def score_margin(self, state: State) -> IntArray:
        """Return own minus opposing points of the side to move, (B,) int64; see `points`."""
        self.check_state(state)
        return difference(self.kernels.points, state.inputs[:-1])

    def results(self, state: State) -> FloatArray:
        """Return the goal values by role that each row would give, over or not, (B, 2) float."""
        sign = np.sign(self.score_margin(state))
        sign[state.to_move == 1] *= -1
        return DRAW + DRAW * np.stack([sign, -sign], axis=1)

    def is_truncated(self, state: State) -> BoolArray:
        """Return where the cap on plies ends a game that is not over, (B,) bool."""
        self.check_state(state)
        return is_truncated(self, state)

    def is_over(self, state: State) -> BoolArray:
        """Return where the game has ended, by its rules or by the cap on plies, (B,) bool."""
        return self.is_truncated(state) | state.terminated

    def values(self, state: State) -> IntArray:
        """Return the value of each position to its side to move by the heuristic, (B,) int64.

        NotImplementedError where the game has none.
        """
        if not self.has_heuristic:
            raise NotImplementedError(self.no_heuristic)
        self.check_state(state)
        return difference(self.kernels.evaluate, state.inputs)

    @cached_property
    def feature_sizes(self) -> dict[str, int]:
        """The size of each of the `features`: its values are smaller."""
        return {
            name: f.size
            for name, f in self.kernels.named_features(*self.start_words(), 0, 0).items()
        }

    def feature_numbers(self, state: State) -> IntArray:
        """Return the `features` of each row, in their order, (B, features) int64."""
        numbers = np.empty((len(self.feature_sizes), self.check_state(state)), np.uint64)
        if len(numbers):
            self.kernels.features.batch(state.inputs, list(numbers))
        return numbers.T.astype(np.int64)

    def piece_counts(self, state: State) -> IntArray:
        """Return how many pieces are on each board, (B,) int64."""
        counts = np.empty(self.check_state(state), np.int64)
        self.kernels.pieces.batch(list(state.words), [counts])
        return counts

    def empty_squares(self, state: State) -> IntArray:
        """Return how many squares in play are empty on each board, (B,) int64."""
        return self.board.size - self.holes.bit_count() - self.piece_counts(state)

    def kinds_on(self, state: State) -> WordArray:
        """Return the squares of each of the `kinds`, (kinds, W, B), W words a board."""
        width = self.board.words
        squares = np.empty((self.kernels.num_kinds * width, self.check_state(state)), np.uint64)
        self.kernels.kinds.batch(list(state.words), list(squares))
        return squares.reshape(-1, width, len(state.ply))

    # ---- observations ------------------------------------------------------------------------

    def observe(self, state: State) -> Int8Array:
        """Return the observation of the side to move, (B, R, F, C) int8 of 0 and 1, for R ranks
        from the bottom and F files: a view of `observe_planes`.
        """
        return self.observe_planes(state).transpose(0, 2, 3, 1)

    def observe_planes(self, state: State) -> Int8Array:
        """Return `observe` with planes first, (B, C, R, F) int8 of 0 and 1."""
        size = self.kernels.num_planes * self.board.size
        planes = np.empty((self.check_state(state), size), np.int8)
        self.kernels.planes.batch(state.inputs, [planes])
        return self.by_squares(planes)

    def by_squares(self, bits: Int8Array) -> Int8Array:
        """View the planes that a kernel writes, (B, C * R * F), as (B, C, R, F)."""
        return bits.reshape(len(bits), self.kernels.num_planes, *self.board)

    # ---- notation ----------------------------------------------------------------------------

    def action_name(self, action: int, position: Position | None = None) -> str:
        """Return an action as players write it: "d3", "b1-b3", "pass"; ValueError where out of
        range.

        Where the target depends on the position and no position is given, the direction is written
        in its place: "b1-n".
        """
        write = self.notation.write
        return PASS if self._is_noop(action) else write(self, index(action), position)

    def usual_name(self, action: int, position: Position) -> str:
        """Return a legal action as people write it: "Nf3" in chess, else `action_name`."""
        other = "" if self._is_noop(action) else self.notation.other_name(self, action, position)
        return other or self.action_name(action, position)

    def parse_action(self, text: str) -> int:
        """Return the inverse of `action_name`; ValueError for anything else."""
        try:
            return self.notation.parse(self, text)
        except ValueError:
            if text == PASS:
                return self.noop
            raise

    def action_squares(self, action: int, position: Position | None = None) -> tuple[int, ...]:
        """Return the squares that an action concerns: source and target, or target; none of a noop.

        As in `action_name`, without a position, a target that depends on it is left out.
        """
        squares = self.notation.squares
        return () if self._is_noop(action) else squares(self, index(action), position)

    def action_images(self, symmetry: Symmetry) -> IntArray:
        """Return the image of each action, noop included, under a symmetry, (A,) intp."""
        return np.array([*self.notation.images(self, symmetry), self.noop], np.intp)

    @cached_property
    def views(self) -> Views:
        """The board as networks see it; see `game/views.py`."""
        return Views(self)

    def _is_noop(self, action: int) -> bool:
        """ValueError for a number that is no action."""
        if 0 <= action <= self.noop:
            return action == self.noop
        raise ValueError(f"action {action} is out of range: actions are 0 to {self.noop}")


def _check_words(game: Game, words: Any) -> None:
    """PositionError for words that cannot be those of a position, such as overlapping sets."""
    names = (*game.squares, *game.numbers)
    fits = isinstance(words, Sequence) and len(words) == len(names)
    largest = [game.board.all] * len(game.squares) + [ALL] * len(game.numbers)
    if not fits or not all(map(is_whole, words, repeat(0), largest)) or words[0] & words[1]:
        rest = f" and then {', '.join(names[2:])}" if names[2:] else ""
        raise PositionError(
            f"{quote(words)} are not two disjoint sets of squares{rest}, of a board of "
            f"{game.board.size} squares"
        )
    for (name, size), number in zip(game.numbers.items(), words[len(game.squares) :], strict=True):
        if number >= size:
            raise PositionError(f"{name} is {number}: it must be below {size}")


def _check_turn(to_move: object, ply: object) -> None:
    """PositionError for an impossible side to move or ply."""
    if not is_whole(to_move, 0, 1):
        raise PositionError(f"to_move is {quote(to_move)}: it must be 0 or 1, an index of roles")
    if not is_whole(ply, 0, MAX_PLY):
        raise PositionError(f"ply is {quote(ply)}: it must be 0 or more, and at most 2**30")


def _random_words(rng: np.random.Generator, count: int) -> WordArray:
    """Return uniformly random words, (count,)."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng is {quote(rng)}: it must be a numpy.random.Generator")
    if isinstance(rng.bit_generator, np.random.PCG64):
        # The default: its raw words are the same ones, in half the time.
        return rng.bit_generator.random_raw(count)
    return rng.integers(1 << 64, size=count, dtype=np.uint64)


@lru_cache(maxsize=64)
def _kernels_of(game: Game) -> Kernels:
    """Share kernels among equal games: each environment makes its own, and machine code
    stays in memory until the process ends.
    """
    return Kernels(game)
