"""A batch of positions as arrays, and the result of one ply in each of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from boardenvs.utils.checks import quote

# The fields of a state share one type, so that code may loop over them.
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
BoolArray: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
FloatArray: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Int8Array: TypeAlias = np.ndarray[Any, np.dtype[np.int8]]
IntArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]
WordArray: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]


class State(NamedTuple):
    """A batch of B positions. Action a is legal in row i iff bit a % 64 of
    `legal_bits[i, a // 64]` is set; nothing is legal where `terminated`. `words` are named by
    `Game.word_names`, first `own` and `opp`.

    Arrays of other types or shapes are refused everywhere. A `to_move` of 2, a negative `ply` and
    actions that the game has not are refused by search and by `Game.positions`; other results for
    values that no game reaches have no meaning, but are the same on all backends.

    ```python
    import boardenvs
    import numpy as np

    game = boardenvs.games.make("othello")
    state = game.init(3)  # three boards at the start
    state = game.step(state, np.array([20, 29, 34]), check=True)
    print(state.to_move, state.ply, game.legal(state).sum(axis=1))
    ```
    """

    words: tuple[WordArray, ...]  # each (B,) uint64
    legal_bits: Array  # (B, W) uint64
    to_move: Array  # (B,) int8: index into game.roles
    ply: Array  # (B,) int32: plies since the start, noops included
    terminated: Array  # (B,) bool
    # (B, H) uint64: the keys of the last positions, the latest first; None in most games.
    history: Array | None = None

    @property
    def own(self) -> WordArray:
        """The squares of the side to move, (B,) uint64, of a board of at most 64."""
        return self.words[0]

    @property
    def opp(self) -> WordArray:
        """The squares of the other side, (B,) uint64, of a board of at most 64."""
        return self.words[1]

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The words, and then the other fields."""
        return (*self.words, *(self[1:-1] if self.history is None else self[1:]))

    @classmethod
    def of_arrays(cls, arrays: Iterable[Array]) -> State:
        """The reverse of `arrays`."""
        found = [*arrays]
        history = found.pop() if np.ndim(found[-1]) > 1 else None
        *words, legal_bits, to_move, ply, terminated = found
        return cls(tuple(words), legal_bits, to_move, ply, terminated, history)


class Transition(NamedTuple):
    """The result of one ply in every row."""

    state: State  # after it
    rewards: (
        FloatArray  # (B,) float64: +1, 0, -1 for the mover at the end; -1 for an illegal action
    )
    terminated: BoolArray  # (B,) bool: the game is over, or was lost by an illegal action
    truncated: BoolArray  # (B,) bool: the cap on plies was reached
    illegal: BoolArray  # (B,) bool: the action was illegal; the board did not change


def empty_state(batch: int, words: int, history: int, legal_words: int) -> State:
    """A state of uninitialised arrays, with this many words, keys of earlier positions, and words
    of legal actions.
    """
    return State(
        tuple(np.empty(batch, np.uint64) for _ in range(words)),
        np.empty((batch, legal_words), np.uint64),
        np.empty(batch, np.int8),
        np.empty(batch, np.int32),
        np.empty(batch, np.bool_),
        np.empty((batch, history), np.uint64) if history else None,
    )


# The types of the arrays of a state, and their shapes without the rows.
Kinds: TypeAlias = tuple[list[np.dtype[Any]], list[tuple[int, ...]]]

# Others mean something else by some operations: masked arrays, matrices.
_ARRAYS = {np.ndarray, np.memmap}


def kinds_of(state: State) -> Kinds:
    """The kinds of these arrays."""
    return [x.dtype for x in state.arrays], [x.shape[1:] for x in state.arrays]


def check_arrays(state: State, kinds: Kinds) -> int:
    """The number of rows; TypeError or ValueError unless the arrays are of these kinds."""
    types, shapes = kinds
    try:
        arrays, rows = state.arrays, state.ply.shape
        fits = [x.shape for x in arrays] == [rows + shape for shape in shapes]
        fits = fits and [x.dtype for x in arrays] == types and len(rows) == 1
        if fits and _ARRAYS.issuperset(map(type, arrays)):
            return len(state.ply)
    except (AttributeError, TypeError):  # no state, or no arrays
        pass
    raise _misfit(state, kinds)


def _misfit(state: object, kinds: Kinds) -> TypeError | ValueError:
    """The error of arrays that are not of these kinds."""
    if not isinstance(state, State) or not isinstance(state.words, tuple | list):
        return TypeError(
            f"{quote(state)} must be a State: `init`, `step` and `stack` make them. In one "
            "Position `boardenvs.choose_action(position, player)` asks a player"
        )
    others = len(state.arrays) - len(state.words)
    names = ("words",) * len(state.words) + State._fields[1 : 1 + others]
    if len(names) != len(kinds[0]):
        words = len(kinds[0]) - others
        return ValueError(f"the state has {len(state.words)} arrays of words: it must have {words}")
    rows = (np.size(state.ply),)
    for name, array, kind, shape in zip(names, state.arrays, *kinds, strict=True):
        if getattr(array, "dtype", None) != kind or type(array) not in _ARRAYS:
            return TypeError(f"{name} of the state: {quote(array)} must be an array of {kind}")
        if array.shape != rows + shape:
            return ValueError(f"{name} of the state: {array.shape} must be {rows + shape}")
    raise AssertionError(f"{quote(state)} fits")


def take(state: State, rows: Any) -> State:
    """The rows selected by an index array, a boolean array or a slice."""
    if isinstance(rows, np.ndarray) and rows.dtype.kind == "i":
        return State.of_arrays([x.take(rows, 0) for x in state.arrays])  # half the time of indexing
    return State.of_arrays([x[rows] for x in state.arrays])


def put(state: State, rows: Any, values: State) -> None:
    """Overwrite the rows selected as in `take` with the rows of `values`, in place."""
    for x, y in zip(state.arrays, values.arrays, strict=True):
        x[rows] = y


def where(condition: BoolArray, a: State, b: State) -> State:
    """Rows of `a` where `condition` (B,), else rows of `b`."""
    return State.of_arrays(
        np.where(condition if x.ndim == 1 else condition[:, None], x, y)
        for x, y in zip(a.arrays, b.arrays, strict=True)
    )


def concat(states: Sequence[State]) -> State:
    """The rows of all the states, one after the other."""
    columns = zip(*(state.arrays for state in states), strict=True)
    return State.of_arrays(map(np.concatenate, columns))


def for_movers(movers: IntArray | int, after: State, values: Array) -> Array:
    """Values (B,) for the sides to move, as values for the roles `movers`, (B,) or one: those that
    moved before, for example.
    """
    return np.where(after.to_move == movers, values, 0 - values)
