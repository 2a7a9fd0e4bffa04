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

    Arrays of other types or shapes, or whose rows are not contiguous, are refused everywhere. A
    `to_move` of 2, a negative `ply` and actions that do not exist in the game are refused by search
    and by `Game.positions`; other results for values that no game reaches have no meaning, but are
    the same on all backends.

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

    @property
    def inputs(self) -> list[Array]:
        """Words, to_move and ply as inputs of a `Kernel`; views, since none is ever negative."""
        return [*self.words, self.to_move.view(np.uint8), self.ply.view(np.uint32)]

    @classmethod
    def of_arrays(cls, arrays: Iterable[Array]) -> State:
        """Return the reverse of `arrays`."""
        fields = [*arrays]
        history = fields.pop() if np.ndim(fields[-1]) > 1 else None
        *words, legal_bits, to_move, ply, terminated = fields
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


# The types of the arrays of a state, and their shapes without the rows.
Kinds: TypeAlias = list[tuple[np.dtype[Any], tuple[int, ...]]]

# Others mean something else by some operations: masked arrays, matrices.
_ARRAYS = {np.ndarray, np.memmap}


def check_arrays(state: State, kinds: Kinds) -> int:
    """Return the number of rows; TypeError or ValueError unless the arrays are of these kinds, and
    the elements of each row side by side.
    """
    if not isinstance(state, State) or not isinstance(state.words, tuple | list):
        raise TypeError(
            f"{quote(state)} must be a State: `init`, `step` and `stack` make them. In one "
            "Position `boardenvs.choose_action(position, player)` asks a player"
        )
    arrays, rows = state.arrays, np.size(state.ply)
    if len(arrays) != len(kinds):
        raise ValueError(f"the state has {len(arrays)} arrays: it must have {len(kinds)}")
    for place, (array, (kind, shape)) in enumerate(zip(arrays, kinds, strict=True)):
        name = State._fields[max(0, place - len(state.words) + 1)]
        if type(array) not in _ARRAYS or array.dtype != kind:
            raise TypeError(f"{name} of the state: {quote(array)} must be an array of {kind}")
        if array.shape != (rows, *shape):
            raise ValueError(f"{name} of the state: {array.shape} must be {(rows, *shape)}")
        if shape and array.size > rows and array.strides[1] != array.itemsize:
            raise ValueError(f"{name} of the state: its rows must be contiguous")
    return rows


def take(state: State, rows: Any) -> State:
    """Return the rows selected by an index array, a boolean array or a slice."""
    if isinstance(rows, np.ndarray) and rows.dtype.kind == "i":
        return State.of_arrays([x.take(rows, 0) for x in state.arrays])  # half the time of indexing
    return State.of_arrays([x[rows] for x in state.arrays])


def put(state: State, rows: Any, values: State) -> None:
    """Overwrite the rows selected as in `take` with the rows of `values`, in place."""
    for x, y in zip(state.arrays, values.arrays, strict=True):
        x[rows] = y


def where(condition: BoolArray, a: State, b: State) -> State:
    """Return rows of `a` where `condition` (B,), else rows of `b`."""
    return State.of_arrays(
        np.where(condition if x.ndim == 1 else condition[:, None], x, y)
        for x, y in zip(a.arrays, b.arrays, strict=True)
    )


def concat(states: Sequence[State]) -> State:
    """Return the rows of all the states, one after the other."""
    columns = zip(*(state.arrays for state in states), strict=True)
    return State.of_arrays(map(np.concatenate, columns))


def for_movers(movers: IntArray | int, after: State, values: Array) -> Array:
    """Return values (B,) for the sides to move, as values for the roles `movers`, (B,) or one:
    those that moved before, for example.
    """
    return np.where(after.to_move == movers, values, 0 - values)
