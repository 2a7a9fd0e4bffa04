"""The arrays that compiled search works in."""

from __future__ import annotations

from typing import Any

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import State, WordArray
from boardenvs.kernel.link import array_for_loops
from boardenvs.kernel.loops import GROUP
from boardenvs.search.compiled.position import LEGAL, PLY, TERMINATED, TO_MOVE
from boardenvs.search.compiled.tree import Tree
from boardenvs.search.compiled.tuples import TupleTables
from boardenvs.search.evaluation import IN_A_WORD, Evaluation, heuristic_shares

# What a `Tree` has of each node beside its position, of each edge, and as counts of each tree.
OF_NODES: dict[str, type[np.generic]] = {
    **dict.fromkeys(("first_edge", "edges", "visits", "is_judged", "lower", "upper"), np.int64),
    "value": np.float64,
}
OF_EDGES: dict[str, type[np.generic]] = {
    **dict.fromkeys(("edge_action", "edge_child", "edge_visits"), np.int64),
    **dict.fromkeys(("edge_total", "edge_prior"), np.float64),
}
OF_TREES = ("nodes_used", "edges_used", "max_edges")


def position_size(game: Game) -> int:
    """The words of a position."""
    return LEGAL + game.action_planes + 1


def position_words(state: State) -> WordArray:
    """The rows of a state as compiled search reads them, (B, position_size)."""
    positions: WordArray = np.empty((len(state.ply), LEGAL + state.legal_bits.shape[1]), np.uint64)
    positions[:, 0], positions[:, 1] = state.own, state.opp
    positions[:, TO_MOVE], positions[:, PLY] = state.to_move, state.ply
    positions[:, TERMINATED] = state.terminated
    positions[:, LEGAL:] = state.legal_bits
    return positions


def state_of_words(positions: WordArray) -> State:
    """The inverse of `position_words`."""
    return State(
        own=positions[:, 0].copy(),
        opp=positions[:, 1].copy(),
        legal_bits=positions[:, LEGAL:].copy(),
        to_move=positions[:, TO_MOVE].astype(np.int8),
        ply=positions[:, PLY].astype(np.int32),
        terminated=positions[:, TERMINATED] != 0,
    )


def words(size: int) -> Any:
    """An array of words for loops, zero."""
    return array_for_loops(np.zeros(size, np.uint64))


def numbers(size: int) -> Any:
    """An array of signed numbers for loops, zero."""
    return array_for_loops(np.zeros(size, np.int64))


def room(size: int, *dtypes: type[np.generic]) -> list[Any]:
    """Arrays of these types, of eight bytes, for loops that write before they read.

    They lie in one block, since what C's `malloc` keeps for the next call is measured by the
    largest block that it has given: the pages of several smaller ones would be new ones each time.
    """
    block: WordArray = np.empty((len(dtypes), size), np.uint64)
    return [array_for_loops(row.view(dtype)) for row, dtype in zip(block, dtypes, strict=True)]


def empty_tree(game: Game, seeds: WordArray, max_nodes: int, edge_stride: int) -> Tree:
    """Room for so many nodes and edges in each of T trees, one for each of the seeds (T,)."""
    size, trees = position_size(game), len(seeds)
    of_nodes = room(trees * max_nodes, *OF_NODES.values())
    of_edges = room(trees * edge_stride, *OF_EDGES.values())
    return Tree(
        positions=room(trees * max_nodes * size, np.uint64)[0],
        **dict(zip(OF_NODES, of_nodes, strict=True)),
        **dict(zip(OF_EDGES, of_edges, strict=True)),
        **{name: numbers(trees) for name in OF_TREES},
        seeds=array_for_loops(seeds.copy()),
        max_nodes=max_nodes,
        edge_stride=edge_stride,
        position_size=size,
    )


def flat(array: np.ndarray[Any, Any]) -> Any:
    """The array's own memory as loops take it."""
    return array_for_loops(array.reshape(-1))


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
    features = evaluation.terms.feature_starts - places.size + 2 + len(places.weight_numbers)
    parts = (changes.reshape(-1), offsets, starts, features.astype(np.uint64), kept)
    return TupleTables(flat(np.concatenate(parts)), flat(rows), width, int(len(features) > 0))
