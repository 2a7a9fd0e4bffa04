"""Games in plain Python: an object that plays by itself, in place of rules on words.

`PlainGame` is a `Game` like any other. What differs is below everything that uses games: its one
"word" is the object itself, in `State` an array of objects, and its `kernels` call the object's
methods board by board where rules on words are compiled. Environments, players, search, records,
texts and pictures see no difference but the speed; search runs its Python form. A position is
written as the moves that led to it, so that no author has to write or read positions.
"""

from __future__ import annotations

import gc
import inspect
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from boardenvs.board.bitboard import from_squares
from boardenvs.board.symmetry import Symmetry
from boardenvs.game.contract import Game
from boardenvs.game.errors import PositionError
from boardenvs.game.kernels import Kernels
from boardenvs.game.notation import Named
from boardenvs.game.position import Position
from boardenvs.game.rules import MAX_VALUE, About
from boardenvs.game.state import Array, BoolArray, Int8Array, State
from boardenvs.kernel import Kernel
from boardenvs.kernel.layout import pack_bits, unpack
from boardenvs.kernel.wide import split
from boardenvs.utils.checks import is_whole, quote

_NEEDED = ("legal_actions", "step", "to_move", "is_over", "result", "actions")
_MOST_ACTIONS = 1_000_000
_INTEGERS = (int, np.integer)  # bools are ints
_BEGIN = "start"  # the text of the starting position
# Attributes of the class that mean what they mean in `Rules`.
_SHARED = ("roles", "shape", "look", "max_plies", "margin_counts", "opening_plies", "files")


class PlayedBoard:
    """A board, which nobody changes any more, and the actions that led to it."""

    __slots__ = ("board", "path")

    def __init__(self, board: Any, path: str = "") -> None:
        self.board = board
        self.path = path  # a character an action: made and compared faster than a tuple

    @property
    def actions(self) -> list[int]:
        """The actions from the start."""
        return list(map(ord, self.path))

    def __eq__(self, other: object) -> bool:
        """By the boards, if their class compares them, else by the actions."""
        if not isinstance(other, PlayedBoard):
            return NotImplemented
        if _has_own(type(self.board), "__eq__"):
            return bool(self.board == other.board)
        return self.path == other.path

    def __hash__(self) -> int:
        if not _has_own(type(self.board), "__eq__"):
            return hash(self.path)
        return hash(self.board) if type(self.board).__hash__ is not None else len(self.path)

    def __deepcopy__(self, memo: object) -> PlayedBoard:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return PlayedBoard, (self.board, self.path)


def is_plain(kind: object) -> bool:
    """Whether this is a class of objects that play by themselves, and no `Game`."""
    return (
        inspect.isclass(kind)
        and not issubclass(kind, Game)
        and all(callable(getattr(kind, name, None)) for name in ("legal_actions", "step"))
    )


@dataclass(frozen=True, init=False)
class PlainGame(Game):
    """The game of a class in plain Python, with the parameters of its constructor.

    An object of the class is a position:

    - `legal_actions()`: the numbers of the legal actions; if there are none and the game is not
      over, the side passes, by the number after the last;
    - `step(action)`: the position after it; or None, if the object changes itself, which is slower
      since it is copied before, by its `copy()` if it has one;
    - `to_move` (0 or 1), `is_over`, and `result`, the points of both roles at the end: more win;
    - `actions`: their names, such as "d3" or "b1-b3", or how many there are.

    What follows is optional. `squares`: a number for each square of the class's `shape` (ranks,
    files), a1 first: n > 0 for the first role, n < 0 for the second, such as kinds of pieces or
    counts, at most `largest`, by default 1. They make pictures and observations. `observe(role)`
    makes other observations: planes of 0 and 1 for all squares, one after the other. `evaluate()`:
    the value of a position for its side to move, a whole number, for alpha-beta. `str(object)`
    shows it as text. The class may have `roles`, `look`, `max_plies`, `opening_plies`,
    `margin_counts`, `about` and `id`, as a `Game`.

    ```python
    import boardenvs

    class Subtract:  # from 21, one to three in turn; whoever takes the last wins
        actions = ("1", "2", "3")

        def __init__(self, left: int = 21, to_move: int = 0) -> None:
            self.left, self.to_move = left, to_move
            self.is_over = left == 0
            self.result = (to_move, 1 - to_move)

        def legal_actions(self):
            return range(min(self.left, 3))

        def step(self, action):
            return Subtract(self.left - action - 1, 1 - self.to_move)

        def observe(self, role):
            return [self.left >> k & 1 for k in range(5)]

    game = boardenvs.PlainGame(Subtract)
    print(boardenvs.play_match(game, "mcts:50", "random", pairs=20))
    ```
    """

    id: str
    kind: type[Any]
    options: tuple[tuple[str, Any], ...] = ()

    in_words: ClassVar = False
    alternates: ClassVar = False
    known_words: ClassVar = 1
    word_names: ClassVar = ("board",)
    feature_sizes: ClassVar = {}

    def __init__(self, kind: type[Any], id: str = "", **options: Any) -> None:
        if not is_plain(kind):
            raise TypeError(
                f"{quote(kind)} is no class of positions in plain Python: it must have the methods "
                "legal_actions() and step(action)"
            )
        name = id or getattr(kind, "id", "") or _snake(kind.__name__)
        fields: dict[str, Any] = {
            "id": name,
            "kind": kind,
            "options": tuple(options.items()),
        }
        start = kind(**options)
        missing = [name for name in _NEEDED if not hasattr(start, name)]
        if missing:
            raise TypeError(f"{kind.__name__} lacks {', '.join(missing)}: a position needs them")
        fields |= {name: getattr(start, name) for name in _SHARED if hasattr(start, name)}
        fields.setdefault("roles", ("first", "second"))
        shape, names = fields.get("shape", (1, 1)), start.actions
        fields["shape"] = tuple(shape) if isinstance(shape, list) else shape
        if is_whole(names, 1, _MOST_ACTIONS):
            names = range(1, names + 1)
        elif not isinstance(names, Collection) or not 1 <= len(names) <= _MOST_ACTIONS:
            raise TypeError(
                f"actions of {kind.__name__} is {quote(names)}: it must be names, or how many "
                f"actions there are, 1 to {_MOST_ACTIONS}"
            )
        fields |= {"notation": Named(tuple(map(str, names))), "_begin": start}
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    def __post_init__(self) -> None:
        self.board  # noqa: B018 - raises ValueError for impossible shapes

    def __getattr__(self, name: str) -> Any:
        if name not in ("options", "kind"):  # else: before it is made
            parameters = inspect.signature(self.kind).parameters.values()
            values = {p.name: p.default for p in parameters} | dict(self.options)
            if name in values:
                return values[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(PlainGame, self.kind, self.id, **dict(self.options)), ()

    @property
    def source(self) -> type[Any]:
        return self.kind

    @property
    def about(self) -> About:
        about: About = getattr(self.kind, "about", About())
        return about

    def has_rules_of(self, other: Game) -> bool:
        if not isinstance(other, PlainGame):
            return False
        return (self.kind, self.options) == (other.kind, other.options)

    @property
    def has_heuristic(self) -> bool:
        return hasattr(self.kind, "evaluate")

    @property
    def no_heuristic(self) -> str:
        return (
            f"{self.id} has no heuristic: write {self.kind.__name__}.evaluate(self), which returns "
            "the value of a position for its side to move"
        )

    @cached_property
    def kernels(self) -> PlainKernels:
        return PlainKernels(self)

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return (Symmetry(board=self.board),)

    # ---- positions ---------------------------------------------------------------------------

    @cached_property
    def _start(self) -> Position:
        board: Any = PlayedBoard(self._begin)
        *legal, over = self.kernels.begin.one(board)
        return Position((board,), tuple(legal), self.kernels.role(board.board), 0, over != 0, self)

    def position(self, words: Sequence[Any], to_move: int = 0, ply: int = 0) -> Position:
        raise PositionError(f"a position of {self.id} is made by playing from the start")

    def fresh(self, position: Position) -> Position:
        if not self.has_rules_of(position.game):
            raise PositionError(f"the position is one of {position.game.id}, not of {self.id}")
        return position._replace(game=self)

    def by_role(self, words: Sequence[Any], to_move: int) -> tuple[int, ...]:
        return self.kernels.pieces_of(words[0].board)

    def image(self, symmetry: Symmetry, words: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(words)

    def fen(self, position: Position) -> str:
        board: Any = position.words[0]
        return " ".join([_BEGIN, *map(self.action_name, board.actions)])

    def parse_fen(self, text: str) -> Position:
        """The position after these moves; PositionError if they cannot be played."""
        first, *names = text.split() or [""]
        position = self.start()
        try:
            if first != _BEGIN:
                raise ValueError(f'it must be "{_BEGIN}" and the moves since then')
            for name in names:
                position = position.step(self.parse_action(name))
        except ValueError as error:
            raise PositionError(f"position {quote(text)}: {error}") from None
        return position

    def text_of(self, position: Position) -> str | None:
        played: Any = position.words[0]
        return str(played.board) if _has_own(self.kind, "__str__") else None

    def labels(self, position: Position) -> Mapping[int, str] | None:
        played: Any = position.words[0]
        if getattr(played.board, "largest", 1) == 1:
            return None
        numbers = enumerate(self.kernels.squares_of(played.board))
        return {square: str(abs(number)) for square, number in numbers if number}

    def _no_words(self, *words: Any) -> Any:
        raise TypeError(f"{self.id} is written in plain Python: it has no rules on words")

    setup = moves = play = over = points = _no_words

    # ---- batches -----------------------------------------------------------------------------

    def empty(self, batch: int) -> State:
        state = super().empty(batch)
        return state._replace(words=(np.empty(batch, object),))

    def wiped_out(self, state: State) -> BoolArray:
        pieces = [self.kernels.pieces_of(played.board) for played in state.words[0]]
        found: BoolArray = np.array(pieces, object).reshape(-1, 2).T == 0
        found[:, found.all(axis=0)] = False  # a class without `squares`
        return found

    def packed(self, state: State) -> tuple[Array, ...]:
        lines = [played.actions for played in state.words[0]]
        actions = np.full((len(lines), max(map(len, lines), default=0)), -1, np.int32)
        for row, line in zip(actions, lines, strict=True):
            row[: len(line)] = line
        return actions, *state[1:]

    def unpacked(self, arrays: Sequence[Array]) -> State:
        state = self.init(len(arrays[0]))
        for row, line in enumerate(arrays[0].tolist()):
            played = state.words[0][row]
            for action in line:
                played = played if action < 0 else self.kernels.after(played, action)
            state.words[0][row] = played
        return State(state.words, *arrays[1:])


def _has_own(kind: type[Any], method: str) -> bool:
    """Whether a class defines one of the methods that all objects have."""
    return getattr(kind, method) is not getattr(object, method)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class PlainKernel(Kernel):
    """A function of one board, and of a batch board by board, where a `Kernel` is compiled."""

    def __init__(
        self,
        game: Game,
        name: str,
        one: Callable[..., Any],
        batch: Callable[..., None] | None = None,
    ) -> None:
        super().__init__(one, 0, name)
        self._game, self._rows = game, batch

    def compile_one(self) -> Callable[..., Any]:
        return self._function

    def _compile_parts(self) -> Callable[..., Any]:
        return self._function

    def _compile_batch(self) -> Callable[..., None]:
        return self._rows or self.program()

    def program(self, target: Any = "batch") -> Any:
        raise ValueError(
            f"{self._game.id} is written in plain Python: {self.name} is compiled for rules on "
            "words alone, which JAX, tablebases and learnt evaluations need"
        )


class PlainKernels(Kernels):
    """The kernels of a `PlainGame`: those that it has call the methods of its boards."""

    def __init__(self, game: PlainGame) -> None:
        self._rules = self._game = game
        kind, start = game.kind, game._begin
        names = ("to_move", "is_over", "result")
        self._to_move, self._is_over, self._result = (_reader(kind, name) for name in names)
        has_squares = hasattr(start, "squares")
        self.squares_of = _reader(kind, "squares") if has_squares else _no_squares
        self._largest = getattr(start, "largest", 1)
        if not is_whole(self._largest, 1, 1 << 30):
            raise self._wrong("largest", self._largest, "a whole number from 1 on")
        if has_squares:
            self._signed([start])
        self._copy: Callable[[Any], Any] | None = None
        self._try_step(start)
        self.num_kinds, self.num_planes = 0, 0
        self.num_planes = self._observed([start], np.zeros(1, np.int8)).shape[1] // game.board.size
        legal = game.legal_words
        self.begin = PlainKernel(game, "begin", self._begin)
        self.step_words = PlainKernel(game, "step_words", self._step_words, self._step_rows)
        self.step_words_no_legal = PlainKernel(game, "step_words_no_legal", self._step_no_legal)
        self.step_observe = PlainKernel(game, "step_observe", self._step_observe)
        self.points = PlainKernel(game, "points", self._points, partial(_by_row, self._points))
        self.evaluate = PlainKernel(
            game, "evaluate", self._evaluate, partial(_by_row, self._evaluate)
        )
        self.planes = PlainKernel(game, "planes", self._plane_words, self._plane_rows)
        self.planes.num_outputs = -(-self.num_planes * game.board.size // 64)
        self.observe = PlainKernel(game, "observe", self._observe_one, self._observe_rows)
        self.pieces = PlainKernel(game, "pieces", self._count, partial(_by_row, self._count))
        self.sample = Kernel(self._sample, (legal, 1), "sample")
        self.is_legal = Kernel(self._is_legal, (legal, 1), "is_legal")
        for name in ("step_words_only", "stable", "features", "changed", "digit", "turned"):
            setattr(self, name, PlainKernel(game, name, _nothing))
        self.named_features = _nothing

    def _try_step(self, start: Any) -> None:
        """Find out whether steps change the board, which is then copied before."""
        legal, over = self._legal(start)
        action = legal.bit_length() - 1
        if not over and action < self._game.noop:
            before = deepcopy(start)
            after = before.step(action)
            if after is None or after is before:
                self._copy = getattr(type(start), "copy", deepcopy)
            self.after(PlayedBoard(start), action)  # which checks it

    def after(self, played: PlayedBoard, action: int) -> PlayedBoard:
        """The board after an action."""
        before, copier = played.board, self._copy
        board = copier(before) if copier else before.step(action)
        if board is before or not hasattr(board, "legal_actions"):
            right = "another position, or None from all steps if the object changes itself"
            raise self._wrong("copy()" if copier else "step(action)", board, right)
        if copier:
            board.step(action)
        return PlayedBoard(board, played.path + chr(action))

    def _wrong(self, name: str, value: object, right: str) -> ValueError:
        return ValueError(f"{self._game.id}: {name} is {quote(value)}: it must be {right}")

    def _legal(self, board: Any) -> tuple[int, bool]:
        """The legal actions as a set, and whether the game is over."""
        if self.ended(board):
            return 0, True
        legal, noop, actions = 0, self._game.noop, board.legal_actions()
        try:
            for action in actions:
                # True is of a mask, and no number.
                legal |= 1 << operator.index(action) if action < noop and action is not True else -1
        except (TypeError, ValueError):
            legal = -1
        if legal < 0:
            right = f"numbers of actions, 0 to {noop - 1}"
            raise self._wrong("legal_actions()", actions, right)
        return legal or 1 << noop, False

    def ended(self, board: Any) -> bool:
        """Whether the game is over."""
        over = self._is_over(board)
        if over.__class__ is not bool and not isinstance(over, (*_INTEGERS, np.bool_)):
            raise self._wrong("is_over", over, "True or False")
        return bool(over)

    def pieces_of(self, board: Any) -> tuple[int, int]:
        """The squares of both roles."""
        numbers = list(enumerate(self.squares_of(board)))
        first = from_squares(square for square, number in numbers if number > 0)
        return first, from_squares(square for square, number in numbers if number < 0)

    # ---- plies -------------------------------------------------------------------------------

    def _begin(self, played: PlayedBoard) -> tuple[int, ...]:
        legal, over = self._legal(played.board)
        return (*split(legal, self._game.legal_words), int(over))

    def _step_words(
        self, played: PlayedBoard, to_move: int, ply: int, action: int
    ) -> tuple[Any, ...]:
        after = self.after(played, action)
        legal, over = self._legal(after.board)
        words = split(legal, self._game.legal_words)
        return (after, *words, self.role(after.board), int(over))

    def role(self, board: Any) -> int:
        """The side to move; ValueError if there is no such side."""
        role = self._to_move(board)
        if not isinstance(role, _INTEGERS) or not 0 <= role <= 1:
            raise self._wrong("to_move", role, "0 or 1")
        return int(role)

    def _step_no_legal(self, *given: Any) -> tuple[Any, ...]:
        after = self.after(given[0], given[-1])
        return after, self.role(after.board), int(self.ended(after.board))

    def _step_rows(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        boards, _, _, actions = inputs
        words, legal, to_move, over = outputs
        if not len(boards):
            return
        with _no_collection():
            rows = list(map(self.after, boards.tolist(), actions.tolist()))
            found, ends = zip(*[self._legal(played.board) for played in rows], strict=True)
        words[:] = rows
        if legal.shape[1] == 1:
            legal[:, 0] = found
        else:
            size = 8 * legal.shape[1]
            text = b"".join([bits.to_bytes(size, "little") for bits in found])
            legal[:] = np.frombuffer(text, "<u8").reshape(legal.shape)
        to_move[:] = [self.role(played.board) for played in rows]
        over[:] = ends

    # ---- values ------------------------------------------------------------------------------

    def _points(self, played: PlayedBoard, to_move: int) -> tuple[int, int]:
        found = self._result(played.board)
        try:
            first, second = (0, 0) if found is None else found
            fits = abs(first) < 1 << 31 and abs(second) < 1 << 31  # NaN does not
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise self._wrong("result", found, "two numbers")
        if not isinstance(first, int) or not isinstance(second, int):
            first, second = int(first > second), int(second > first)
        return (second, first) if to_move else (first, second)

    def _evaluate(self, played: PlayedBoard, to_move: int, ply: int) -> tuple[int, int]:
        if not self._game.has_heuristic:
            return 0, 0
        value = played.board.evaluate()
        if not is_whole(value, 1 - MAX_VALUE, MAX_VALUE - 1):
            raise self._wrong("evaluate()", value, f"a whole number below {MAX_VALUE} in size")
        return max(value, 0), max(-value, 0)

    def _count(self, played: PlayedBoard) -> tuple[int]:
        first, second = self.pieces_of(played.board)
        return ((first | second).bit_count(),)

    # ---- observations ------------------------------------------------------------------------

    def _observed(self, boards: Sequence[Any], roles: Int8Array) -> Array:
        """The observations of these roles, (B, planes * squares) int8 of 0 and 1."""
        if hasattr(self._game.kind, "observe"):
            rows = zip(boards, roles.tolist(), strict=True)
            found = [board.observe(role) for board, role in rows]
            return self._whole("observe(role)", found, self.num_planes, 0, 1).astype(np.int8)
        if self.squares_of is _no_squares:
            raise TypeError(f"{self._game.kind.__name__} lacks squares, or observe(role)")
        numbers, digits = self._signed(boards), int(self._largest).bit_length()
        size = self._game.board.size
        numbers = np.where(roles[:, None] == 0, numbers, np.negative(numbers))
        seen = np.empty((len(boards), 2 * digits + 1, size), np.int8)
        for side, pieces in enumerate((np.maximum(numbers, 0), -np.minimum(numbers, 0))):
            for digit in range(digits):
                seen[:, side * digits + digit] = pieces >> digit & 1
        seen[:, -1] = roles[:, None]
        return seen.reshape(len(boards), -1)

    def _signed(self, boards: Sequence[Any]) -> Array:
        """The numbers of all squares (B, squares)."""
        found = [self.squares_of(board) for board in boards]
        return self._whole("squares", found, 1, -self._largest, self._largest).astype(np.int32)

    def _whole(self, name: str, found: list[Any], planes: int, low: int, high: int) -> Array:
        """The numbers as an array (B, planes * squares); ValueError for others. 0: any planes."""
        size = self._game.board.size
        with suppress(TypeError, ValueError):
            rows: Array = np.array(found)
            width = planes * size or max(size, rows.size // size * size)
            if rows.dtype.kind == "f" and (rows % 1 == 0).all():
                rows = rows.astype(np.int64)
            fits = rows.shape == (len(found), width) and rows.dtype.kind in "biu"
            if fits and low <= rows.min() and rows.max() <= high:
                return rows
        for one in found if len(found) > 1 else ():  # find the wrong one
            self._whole(name, [one], planes, low, high)
        many = planes * size or f"planes of {size}"
        raise self._wrong(name, found[0], f"{many} whole numbers from {low} to {high}")

    def _plane_rows(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        if len(inputs[0]):
            boards = [played.board for played in inputs[0].tolist()]
            outputs[0][:] = self._observed(boards, inputs[1].view(np.int8))

    def _plane_words(self, played: PlayedBoard, to_move: int, ply: int) -> tuple[int, ...]:
        seen = self._observed([played.board], np.array([to_move], np.int8))
        return tuple(pack_bits(seen)[0].tolist())

    def _observe_rows(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        self._plane_rows(inputs, outputs)
        unpack(inputs[-1], self._game.num_actions, outputs[1].view(np.uint8))

    def _observe_one(
        self, played: PlayedBoard, role: int, ply: int, *legal: int
    ) -> tuple[tuple[()], Int8Array]:
        words = (*self._plane_words(played, role, ply), *legal)
        bits = unpack(np.array([words], np.uint64), 64 * len(words))
        return (), bits[0].view(np.int8)

    def _step_observe(self, *given: Any) -> tuple[tuple[Any, ...], Int8Array]:
        after = self._step_words(*given)
        played, *legal, role, _ = after
        return after, self._observe_one(played, role, given[2] + 1, *legal)[1]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without Python's search for cycles: thousands of new boards start it, and it halves speed."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _by_row(
    function: Callable[..., Any], inputs: Sequence[Array], outputs: Sequence[Array]
) -> None:
    rows = zip(*(array.tolist() for array in inputs), strict=True)
    for row, found in enumerate([function(*given) for given in rows]):
        for array, value in zip(outputs, found, strict=True):
            array[row] = value


def _no_squares(board: Any) -> tuple[()]:
    return ()


def _nothing(*given: Any) -> dict[str, Any]:
    return {}


def _reader(kind: type[Any], name: str) -> Callable[[Any], Any]:
    """Return a function that reads this attribute of a board, which may be a method."""
    found = getattr(kind, name, None)
    return found if inspect.isfunction(found) else operator.attrgetter(name)
