"""Compiles the functions of `compiled` with the rules of a game, and makes their arrays."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from threading import Lock
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.state import IntArray, State, WordArray
from boardenvs.kernel import ALL
from boardenvs.kernel.backend import Backend
from boardenvs.kernel.link import link
from boardenvs.search.compiled.position import LEGAL, PLY, TERMINATED, TO_MOVE
from boardenvs.search.compiled.tree import NONE, Tree, edges_of
from boardenvs.utils.checks import quote

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Parts: TypeAlias = frozenset[tuple[str, Callable[..., Any]]]

# What loops take from the kernels of a game, and from the game.
_RULES = (
    "step_words",
    "step_words_no_legal",
    "words_after",
    "begin",
    "stable",
    "sample",
    "points",
    "evaluate",
    "forcing",
    "features",
    "changed",
    "digit",
    "pieces",
    "swap_sides",
)
_CONSTANTS = (
    "KNOWN_WORDS",
    "HISTORY",
    "ALTERNATES",
    "LEGAL_WORDS",
    "NOOP",
    "MARGIN_COUNTS",
    "FILLS_BY_CAPTURE",
    "HAS_STABLE",
    "HAS_FORCING",
)
_NO_CAP = 1 << 40
_LINE = 8  # words
_SLOW = "search is about a hundred times slower without Numba: pip install 'boardenvs[fast]'"

# Threads link one after the other, each function once. CPython 3.11 may also fail (SystemError) if
# two threads make syntax trees at once: it counts their depth together.
_linking = Lock()


def has_exact_end(game: Game) -> bool:
    """Return whether `compiled.endgame` can solve the end of the game."""
    plain = game.alternates and game.word_names == ("own", "opp")
    return plain and game.fills_up and game.margin_counts


def word_type(game: Game) -> type[Any]:
    """Return the type of the elements of arrays that hold positions."""
    return np.uint64 if game.in_words else object


def compile_for(
    game: Game, function: _Function, module: ModuleType | None = None, **parts: Callable[..., Any]
) -> _Function:
    """Return a function of `compiled` with the rules of the game, by its backend.

    It is compiled with its module, or with another one that uses it; `parts` replace the functions
    of these names that the module declares.
    """
    with _linking:
        module = sys.modules[function.__module__] if module is None else module
        linked = _link_module(game, game.backend, module, frozenset(parts.items()))
    return getattr(linked, function.__name__)


@lru_cache(maxsize=64)
def _link_module(
    game: Game, backend: Backend, module: ModuleType, parts: _Parts
) -> SimpleNamespace:
    if not find_spec("numba"):
        warnings.warn(_SLOW, stacklevel=3)
    kernels = game.kernels
    rules = {name: getattr(kernels, name) for name in _RULES if name != "begin" or game.history}
    constants = {name: getattr(game, name.lower()) for name in _CONSTANTS} | {
        "WORD_COUNT": len(game.word_names),
        "FEATURE_COUNT": len(game.feature_sizes),
        "DIGIT_COUNT": kernels.num_kinds + 1,
        "SQUARE_COUNT": game.board.size,
        "BOARD_WORDS": game.board.words,
        "MAX_PLY": _NO_CAP if game.max_plies is None else game.max_plies,
        "BOARD": game.board.all & ~game.holes & ALL,  # of games that fill it up
    }
    return link(module, rules, constants, dict(parts), backend)


def check_roots(game: Game, state: State) -> int:
    """Return the number of rows; TypeError or ValueError unless it is a state of the game that can
    be searched.
    """
    rows = game.check_values(state)
    if not (state.terminated | state.legal_bits.any(axis=1)).all():  # loops would read no edge
        raise ValueError("the state has rows that are not terminated and have no legal action")
    return rows


def check_seeds(rows: int, seeds: WordArray) -> int:
    """Return the number of rows; ValueError unless there is a seed, uint64, for each."""
    array = np.asarray(seeds)
    if array.dtype != np.uint64 or array.shape != (rows,):
        raise ValueError(f"seeds are {quote(seeds)}: they must be ({rows},) uint64")
    return rows


def position_size(game: Game) -> int:
    """Return the number of words of a packed position."""
    return LEGAL + game.legal_words + len(game.word_names)


def position_words(state: State) -> WordArray:
    """Return the packed positions of a state, (B, position_size)."""
    columns = (state.to_move, state.ply, state.terminated, *state.legal_bits.T, *state.words)
    return np.stack([column.astype(state.words[0].dtype) for column in columns], axis=1)


def state_of_words(game: Game, positions: WordArray) -> State:
    """Invert `position_words`; the history is empty."""
    rows, words = len(positions), positions.shape[1] - len(game.word_names)
    return State(
        words=tuple(word.copy() for word in positions[:, words:].T),
        legal_bits=positions[:, LEGAL:words].astype(np.uint64),
        to_move=positions[:, TO_MOVE].astype(np.int8),
        ply=positions[:, PLY].astype(np.int32),
        terminated=positions[:, TERMINATED] != 0,
        history=np.zeros((rows, game.history), np.uint64) if game.history else None,
    )


def words(size: int, kind: type[Any] = np.uint64) -> WordArray:
    """Return an array of words for loops, zero, from the start of a line of the processor's cache
    on.
    """
    block = np.zeros(size + _LINE, kind)
    start = -block.ctypes.data // block.itemsize % _LINE
    return block[start : start + size]


def numbers(size: int) -> IntArray:
    """Return an array of signed numbers for loops, zero."""
    return np.zeros(size, np.int64)


def empty_tree(game: Game, seeds: WordArray, max_nodes: int, edge_stride: int) -> Tree:
    """Return T empty trees, one for each of the seeds (T,), with room for these nodes and edges
    each, and for the keys of a history before the root.
    """
    trees, size = len(seeds), position_size(game)
    fields: list[Any] = [
        np.empty(trees * max_nodes * size, word_type(game)),
        # Few blocks: C's `malloc` keeps as much memory for the next call as its largest one had.
        *np.empty((7, trees * max_nodes), np.int32),
        np.empty(trees * max_nodes),
        *np.empty((3, trees * edge_stride), np.int32),
        *np.empty((2, trees * edge_stride)),
        *(numbers(trees) for _ in range(3)),
        np.array(seeds),
        words(trees * game.history),
        words(game.history),
        max_nodes,
        edge_stride,
        size,
    ]
    return Tree(*fields)


def doubled(game: Game, tree: Tree) -> Tree:
    """Return a copy of a single tree with room for twice the nodes and edges."""
    copy = empty_tree(game, tree.seeds, 2 * tree.max_nodes, 2 * tree.edge_stride)
    for before, after in zip(tree, copy, strict=True):
        if not isinstance(before, int):
            after[: len(before)] = before
    copy.max_edges[0] = copy.edge_stride
    return copy


class Subtree(NamedTuple):
    """A position in a tree that grew from an earlier one, for tree reuse."""

    tree: Tree  # a single one
    node: int  # of the position

    def after(self, action: int) -> Subtree | None:
        """Return the subtree after an action; None if it has no node."""
        node = child_of(self.tree, self.node, action)
        return None if node == NONE else Subtree(self.tree, node)


def child_of(tree: Tree, node: int, action: int) -> int:
    """Return the node after an action, or NONE."""
    for edge in edges_of(node, tree):
        if tree.edge_action[edge] == action:
            return int(tree.edge_child[edge])
    return NONE
