"""The kernels of a game in plain Python: they call methods of its boards, and check the values."""

from __future__ import annotations

import gc
import inspect
import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boardenvs.board.bitboard import from_squares, squares_of
from boardenvs.game.kernels import Kernels
from boardenvs.game.rules import MAX_VALUE
from boardenvs.game.state import Array, Int8Array
from boardenvs.kernel import Kernel
from boardenvs.kernel.backend import Backend
from boardenvs.kernel.layout import pack_bits, unpack
from boardenvs.kernel.wide import join, split
from boardenvs.utils.checks import is_whole, quote

if TYPE_CHECKING:
    from boardenvs.game.plain import PlainGame


@dataclass(slots=True, eq=False)
class PlayedBoard:
    """A board, which nobody changes any more, and the actions that led to it."""

    board: Any
    path: str = ""  # a character an action, from 1: made and compared faster than a tuple
    turned: bool = False  # seen by the second role, under the game's `mover_symmetry`

    @property
    def actions(self) -> list[int]:
        """The actions from the start."""
        return [ord(character) - 1 for character in self.path]

    @property
    def _compared(self) -> Any:
        """The board, if its class compares boards, else the actions."""
        return self.board if has_own(type(self.board), "__eq__") else self.path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlayedBoard) and bool(self._compared == other._compared)

    def __hash__(self) -> int:
        compared = self._compared
        return hash(compared) if type(compared).__hash__ is not None else len(self.path)

    def __deepcopy__(self, memo: object) -> PlayedBoard:
        return self


def has_own(kind: type[Any], method: str) -> bool:
    """Return whether a class defines one of the methods that all objects have."""
    return getattr(kind, method) is not getattr(object, method)


class PlainKernel(Kernel):
    """A function of one board, and of a batch board by board, where a `Kernel` is compiled."""

    def __init__(
        self,
        game: PlainGame,
        one: Callable[..., Any],
        name: str,
        batch: Callable[..., None] | None = None,
    ) -> None:
        super().__init__(one, 0, name)
        self._game, self._rows = game, batch or partial(_by_row, one)

    def compile_one(self, backend: Backend = "numpy") -> Callable[..., Any]:
        return self._function

    _compile_parts = compile_one

    def _compile_batch(self) -> Callable[..., None]:
        return self._rows

    def program(self, target: Any = "batch") -> Any:
        raise ValueError(
            f"{self._game.id} is written in plain Python: {self.name} is compiled for rules on "
            "words alone, which JAX, tablebases and learnt evaluations need"
        )


class PlainKernels(Kernels):
    """The kernels of a `PlainGame`."""

    def __init__(self, game: PlainGame) -> None:
        self._rules = self._game = game
        self._noop, self._legal_words = game.noop, game.legal_words
        kind, start, size = game.kind, game.first_board, game.board.size
        names = ("to_move", "is_over", "result")
        self._to_move, self._is_over, self._result = (_reader(kind, name) for name in names)
        has_squares = hasattr(start, "squares")
        self.squares_of = _reader(kind, "squares") if has_squares else _no_squares
        self._largest = getattr(start, "largest", 1)
        if not is_whole(self._largest, 1, 1 << 30):
            raise self._wrong("largest", self._largest, "a whole number from 1 on")
        if has_squares:
            self._numbers([start])
        self._copy: Callable[[Any], Any] | None = None
        self._try_step(start)
        self.num_kinds = 0
        if hasattr(kind, "observe"):
            self.num_planes = max(1, np.size(start.observe(0)) // size)
        else:
            self.num_planes = 2 * self._largest.bit_length() + 1
        self._observed([PlayedBoard(start)], np.zeros(1, np.int8))
        for name in _OF_BOARDS:
            setattr(self, name, PlainKernel(game, getattr(self, f"_{name}"), name))
        for name in _OF_WORDS:
            setattr(self, name, PlainKernel(game, _nothing, name))
        self.planes = PlainKernel(game, self._plane_words, "planes", self._plane_rows)
        self.planes.num_outputs = -(-self.num_planes * size // 64)
        self.observe = PlainKernel(game, self._observe_one, "observe", self._observe_rows)
        self.view = PlainKernel(game, self._view, "view")
        self.sample = Kernel(self._sample, (self._legal_words, 1), "sample")
        self.is_legal = Kernel(self._is_legal, (self._legal_words, 1), "is_legal")
        self.named_features = _nothing

    def _try_step(self, start: Any) -> None:
        """Find out whether steps change the board, which is then copied before."""
        legal, over = self._legal(start)
        action = legal.bit_length() - 1
        if not over and action < self._noop:
            before = deepcopy(start)
            after = before.step(action)
            if after is None or after is before:
                self._copy = getattr(type(start), "copy", deepcopy)
            self.after(PlayedBoard(deepcopy(start)), action)  # which checks it

    def after(self, played: PlayedBoard, action: int) -> PlayedBoard:
        """Return the board after an action."""
        before, copier = played.board, self._copy
        board = copier(before) if copier else before.step(action)
        if board is before or not hasattr(board, "legal_actions"):
            right = "another position, or None from all steps if the object changes itself"
            raise self._wrong("copy()" if copier else "step(action)", board, right)
        if copier:
            board.step(action)
        return PlayedBoard(board, played.path + chr(action + 1))

    def _wrong(self, name: str, value: object, right: str) -> ValueError:
        return ValueError(f"{self._game.id}: {name} is {quote(value)}: it must be {right}")

    def _legal(self, board: Any) -> tuple[int, int]:
        """Return the legal actions as a set, and 1 if the game is over."""
        if self.ended(board):
            return 0, 1
        legal, noop, actions = 0, self._noop, board.legal_actions()
        try:
            for action in actions:
                # True is of a mask, and no number; so are numbers that come again.
                new = 1 << operator.index(action) if action < noop and action is not True else -1
                legal = -1 if legal & new else legal | new
        except (TypeError, ValueError):
            legal = -1
        if legal < 0:
            right = f"numbers of actions, 0 to {noop - 1}, each once"
            raise self._wrong("legal_actions()", actions, right)
        if not legal and self._game.names_pass:
            raise self._wrong("legal_actions()", actions, "the number of its 'pass', or more")
        return legal or 1 << noop, 0

    def ended(self, board: Any) -> int:
        """1 if the game is over."""
        return self._one_of_two("is_over", self._is_over(board), "True or False")

    def role(self, board: Any) -> int:
        """Return the side to move."""
        return self._one_of_two("to_move", self._to_move(board), "0 or 1")

    def _one_of_two(self, name: str, value: Any, right: str) -> int:
        if value.__class__ is not bool and (value not in (0, 1) or isinstance(value, float)):
            raise self._wrong(name, value, right)
        return int(value)

    def pieces_of(self, board: Any) -> tuple[int, int]:
        """Return the squares of both roles."""
        numbers = list(enumerate(self.squares_of(board)))
        first = from_squares(square for square, number in numbers if number > 0)
        return first, from_squares(square for square, number in numbers if number < 0)

    # ---- plies -------------------------------------------------------------------------------

    def _begin(self, played: PlayedBoard) -> tuple[int, ...]:
        legal, over = self._legal(played.board)
        if self._legal_words == 1:  # most games: far faster
            return legal, over
        return (*split(legal, self._legal_words), over)

    def _step_words(
        self, played: PlayedBoard, to_move: int, ply: int, action: int
    ) -> tuple[Any, ...]:
        after = self.after(played, action)
        *legal, over = self._begin(after)
        return (after, *legal, self.role(after.board), over)

    def _step_words_no_legal(self, *inputs: Any) -> tuple[Any, ...]:
        after = self.after(inputs[0], inputs[-1])
        return after, self.role(after.board), self.ended(after.board)

    # ---- values ------------------------------------------------------------------------------

    def _points(self, played: PlayedBoard, to_move: int) -> tuple[int, int]:
        result = self._result(played.board)
        with suppress(TypeError, ValueError):
            first, second = (0, 0) if result is None else result
            if abs(first) + abs(second) < 1 << 31:  # NaN is not
                if first % 1 or second % 1:
                    first, second = first > second, second > first
                return (int(second), int(first)) if to_move else (int(first), int(second))
        raise self._wrong("result", result, "two numbers")

    def _evaluate(self, played: PlayedBoard, to_move: int, ply: int) -> tuple[int, int]:
        value = played.board.evaluate() if self._game.has_heuristic else 0
        if not is_whole(value, 1 - MAX_VALUE, MAX_VALUE - 1):
            raise self._wrong("evaluate()", value, f"a whole number below {MAX_VALUE} in size")
        return max(value, 0), max(-value, 0)

    def _pieces(self, played: PlayedBoard) -> tuple[int]:
        first, second = self.pieces_of(played.board)
        return ((first | second).bit_count(),)

    # ---- observations ------------------------------------------------------------------------

    def _observed(self, played: Sequence[PlayedBoard], roles: Int8Array) -> Array:
        """Return the observations of these roles, of the second one where the board is turned, (B,
        planes * squares) int8 of 0 and 1.
        """
        game, boards = self._game, [one.board for one in played]
        turned = np.array([one.turned for one in played])
        seen_by = roles | turned
        if hasattr(game.kind, "observe"):
            numbers = [b.observe(role) for b, role in zip(boards, seen_by.tolist(), strict=True)]
            planes = self._whole("observe(role)", numbers, self.num_planes, 0, 1).astype(np.int8)
        elif self.squares_of is _no_squares:
            raise TypeError(f"{game.kind.__name__} lacks squares, or observe(role)")
        else:
            own = self._numbers(boards) * (1 - 2 * seen_by[:, None])
            digits = [
                pieces >> digit & 1
                for pieces in (np.maximum(own, 0), -np.minimum(own, 0))
                for digit in range(self._largest.bit_length())
            ]
            turn = np.repeat(roles[:, None], game.board.size, axis=1)
            planes = np.concatenate([*digits, turn], axis=1).astype(np.int8)
        if game.mover_symmetry and turned.any():
            squares = planes.reshape(len(planes), -1, game.board.size)
            squares[turned] = squares[turned][..., np.argsort(game.mover_symmetry.squares)]
        return planes

    def _view(self, played: PlayedBoard, legal: list[int], view: int) -> tuple[Any, ...]:
        if not view:
            return played, *legal
        images = self._game.views.images[view].tolist()
        turned = sum(1 << images[action] for action in squares_of(join(legal)))
        return PlayedBoard(played.board, played.path, True), *split(turned, len(legal))

    def _numbers(self, boards: Sequence[Any]) -> Array:
        """Return the numbers of all squares (B, squares)."""
        numbers = [self.squares_of(board) for board in boards]
        return self._whole("squares", numbers, 0, -self._largest, self._largest).astype(np.int32)

    def _whole(self, name: str, numbers: list[Any], planes: int, low: int, high: int) -> Array:
        """Whole numbers as an array (B, planes * squares), or (B, squares), else ValueError."""
        size = self._game.board.size
        with suppress(TypeError, ValueError):
            rows: Array = np.array(numbers)
            fits = rows.shape == (len(numbers), (planes or 1) * size)
            fits = fits and (rows.dtype.kind in "biu" or bool((rows % 1 == 0).all()))
            if fits and low <= rows.min() and rows.max() <= high:
                return rows
        for one in numbers if len(numbers) > 1 else ():  # find the wrong one
            self._whole(name, [one], planes, low, high)
        many = f"planes of {size}" if planes else size
        raise self._wrong(name, numbers[0], f"{many} whole numbers from {low} to {high}")

    def _plane_rows(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        if len(inputs[0]):
            outputs[0][:] = self._observed(inputs[0].tolist(), inputs[1].view(np.int8))

    def _plane_words(self, played: PlayedBoard, to_move: int, ply: int) -> tuple[int, ...]:
        planes = self._observed([played], np.array([to_move], np.int8))
        return tuple(pack_bits(planes)[0].tolist())

    def _observe_rows(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        self._plane_rows(inputs, outputs)
        unpack(inputs[-1], self._game.num_actions, outputs[1].view(np.uint8))

    def _observe_one(
        self, played: PlayedBoard, role: int, ply: int, *legal: int
    ) -> tuple[tuple[()], Int8Array]:
        words = (*self._plane_words(played, role, ply), *legal)
        bits = unpack(np.array([words], np.uint64), 64 * len(words))
        return (), bits[0].view(np.int8)

    def _step_observe(self, *inputs: Any) -> tuple[tuple[Any, ...], Int8Array]:
        after = self._step_words(*inputs)
        played, *legal, role, _ = after
        return after, self._observe_one(played, role, 0, *legal)[1]


_OF_BOARDS = (
    *("begin", "step_words", "step_words_no_legal", "step_observe"),
    *("points", "evaluate", "pieces"),
)
# What search asks of rules on words alone.
_OF_WORDS = (
    "words_after",
    "stable",
    "kinds",
    "features",
    "forcing",
    "changed",
    "digit",
    "swap_sides",
)


def _by_row(one: Callable[..., Any], inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Write the values that a function has for each row."""
    enabled = gc.isenabled()
    gc.disable()  # Python's search for cycles: thousands of new boards start it; it halves speed
    try:
        rows = list(map(one, *(array.tolist() for array in inputs)))
    finally:
        if enabled:
            gc.enable()
    columns = [column for array in outputs for column in (array.T if array.ndim > 1 else [array])]
    for place, column in enumerate(columns):
        column[:] = [values[place] for values in rows]


def _no_squares(board: Any) -> tuple[()]:
    return ()


def _nothing(*inputs: Any) -> dict[str, Any]:
    return {}


def _reader(kind: type[Any], name: str) -> Callable[[Any], Any]:
    """Return a function that reads this attribute of a board, which may be a method."""
    attribute = getattr(kind, name, None)
    return attribute if inspect.isfunction(attribute) else operator.attrgetter(name)
