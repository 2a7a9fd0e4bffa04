"""Functions on words, against lists of squares; and how words lie in the arrays of a batch."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import product, takewhile
from multiprocessing.pool import ThreadPool
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import walk

from boardenvs.board import ALL_EIGHT, Direction, bitboard, symmetries_of
from boardenvs.board.bitboard import DIRECTIONS, N, square_name, squares_of
from boardenvs.board.bitslice import add, countdown, line_counts
from boardenvs.games.lines_of_action_features import connected
from boardenvs.kernel import (
    ALL,
    Kernel,
    Table,
    guard,
    less,
    nonzero,
    popcount,
    spread,
    trace,
    when,
)
from boardenvs.kernel.numpy_writer import CHUNK

pytestmark = pytest.mark.usefixtures("as_written")

# Boards of every density: random ones, few squares, few gaps, and the extremes.
WORDS = st.one_of(
    st.integers(0, ALL),
    st.builds(bitboard.from_squares, st.sets(st.integers(0, 63), max_size=6)),
    st.builds(lambda s: ALL ^ bitboard.from_squares(s), st.sets(st.integers(0, 63), max_size=6)),
    st.sampled_from([0, 1, 1 << 63, ALL, 0xFF, bitboard.FILE_A, bitboard.FILE_H]),
)


def random_words(count, seed=0):
    """Words of low, even and high density, the empty and the full board among them."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(1 << 64, size=(3, count), dtype=np.uint64)
    kind = rng.integers(3, size=count)
    words = np.choose(kind, [a, a & b & c, a | b | c])
    words[:2] = 0, ALL
    return words


# ---- every function against squares --------------------------------------------------------------

# By direction and square: the squares from there to the edge.
RAYS = {
    d: [[8 * y + x - 9 for x, y in walk((s % 8 + 1, s // 8 + 1), (d.dx, d.dy))] for s in range(64)]
    for d in DIRECTIONS
}


def squares(bits):
    return [s for s in range(64) if bits >> s & 1]


def word(some_squares):
    return sum(1 << s for s in set(some_squares))


def stepped(bits, d, count=1):
    return word(to for s in squares(bits) for to in RAYS[d][s][count - 1 : count])


def filled(bits, through, d):
    rays = (takewhile(squares(through).__contains__, RAYS[d][s]) for s in squares(bits))
    return word(to for ray in rays for to in ray)


@given(bits=WORDS, through=WORDS)
def test_moving_functions(bits, through):
    for d in DIRECTIONS:
        assert bitboard.step(bits, d) == stepped(bits, d)
        assert bitboard.fill(bits, through, d) == filled(bits, through, d)
        for count in range(1, 8):
            assert bitboard.steps(bits, d, count) == stepped(bits, d, count)
    around = [s for d in DIRECTIONS for s in squares(stepped(bits, d))]
    assert bitboard.neighbours(bits) == word([*squares(bits), *around])


@given(bits=WORDS)
def test_single_squares(bits):
    found = squares(bits)
    assert list(squares_of(bits)) == found
    assert bitboard.from_squares(map(square_name, found)) == bits
    assert popcount(bits) == len(found)
    assert bitboard.lowest(bits) & ALL == word(found[:1])
    assert bitboard.highest(bits) == word(found[-1:])
    assert [bitboard.select(bits, k) for k in range(len(found))] == found
    assert [bitboard.rank_of(1 << s) for s in found] == [s // 8 for s in found]
    assert bitboard.rank_of(0) == 8


@pytest.mark.parametrize("size", [1, 4, 5, 9])
def test_rings_go_inwards_to_the_centre(size):
    board = bitboard.Board(size, size)
    inner = [
        sum(1 << size * y + x for y in range(k, size - k) for x in range(k, size - k))
        for k in range(size)
    ]
    assert bitboard.rings(board) == [*filter(None, inner)]


def test_the_highest_square_of_a_large_board():
    assert bitboard.highest(1 << 116 | 0b1001, bitboard.Board(9, 13)) == 1 << 116


# ---- the same function on ints, on arrays and compiled -------------------------------------------

_SQUARES = Table([s * s * 0x9E3779B97F4A7C15 & ALL for s in range(65)])


def _heavy(bits, other):
    return (bits ^ other) * 3 & ALL


def _difference(to_move, ply):
    return (to_move - ply) & ALL


def _first_through(bits, other):
    return bitboard.lowest(bits) & other


def _around(direction, bits, other):
    beyond = bitboard.step(bits, direction.opposite) & direction.inner
    return bitboard.fill(bits, other, direction) | beyond


def everything(bits, other):
    """All functions at once: each way of running rules must give these words."""
    low = bitboard.lowest(bits)
    rare = nonzero(bits & other & 0xFF) ^ 1
    results = [bitboard.step(bits, d) for d in DIRECTIONS]
    results += [bitboard.steps(bits, d, k) for d in DIRECTIONS for k in (2, 5)]
    results += [bitboard.fill(bits, other, d) for d in DIRECTIONS]
    results += [bitboard.union(_around, bits, other)]
    results += [bitboard.union(_around, bits, 0xFF00F0F0, directions=DIRECTIONS[:4])]
    results += [bitboard.neighbours(bits), low & ALL, bitboard.highest(bits)]
    results += [bitboard.rank_of(low & ALL), connected(bits & other)]
    results += [symmetry.apply(bits) for symmetry in ALL_EIGHT]
    results += [word & ALL for axis in DIRECTIONS[:4] for word in line_counts(bits, axis)]
    results += [_SQUARES[popcount(bits)], _SQUARES[popcount(other)] & bits]
    results += [when(rare, _heavy, bits, other), guard(bits, _first_through, other) & ALL]
    results += [when(rare, _first_through, bits, 0xF0F0) & ALL]
    results += countdown(popcount(bits), 50)
    results += [word & ALL for word in add([bits, other], [other, bits])]
    return results


def on_ints(words, others):
    pairs = zip(words.tolist(), others.tolist(), strict=True)
    return np.array([everything(a, b) for a, b in pairs], np.uint64)


def test_on_arrays():
    words, others = random_words(300, 1), random_words(300, 2)
    results = np.stack(np.broadcast_arrays(*everything(words, others)), axis=1)
    assert results.dtype == np.uint64
    np.testing.assert_array_equal(results, on_ints(words, others))


@pytest.mark.parametrize("board", [(5, 7), (9, 9), (16, 16)])
def test_what_lines_of_any_board_hold_is_counted(board):
    """Along ranks, files and diagonals, with few pieces and with few gaps; of 16, none is full."""
    board, rng = bitboard.Board(*board), random.Random(1)
    some, more, gaps = (rng.getrandbits(board.size) for _ in range(3))
    gaps |= sum(1 << (board.columns + 1) * k for k in range(min(board)))
    for bits in (some & more & gaps, some, (some | more) & ~gaps, board.all & ~gaps | some):
        for axis in board.directions[:4]:
            held, lines = line_counts(bits, axis), defaultdict(list)
            for square in range(board.size):
                y, x = divmod(square, board.columns)
                lines[x * axis.dy - y * axis.dx].append(square)
            for line in lines.values():
                count = sum(bits >> square & 1 for square in line)
                found = [[k for k, its in enumerate(held) if its >> s & 1] for s in line]
                assert found == [[count] * (count < len(held))] * len(line)


@pytest.mark.parametrize("limit", [1, 50, 64])
def test_plies_that_are_left_are_counted_in_binary(limit):
    for ply in range(limit + 1):
        shown = countdown(ply, limit, 0b101)
        assert sum(bool(digit) << k for k, digit in enumerate(shown)) == limit - ply
        assert {*shown} <= {0, 0b101}
    assert countdown(3, None) == ()


@pytest.mark.parametrize(("board", "count"), [((3, 4), 4), ((4, 3), 4), ((5, 5), 8)])
def test_symmetries_keep_neighbours_together(board, count):
    board = bitboard.Board(*board)
    symmetries = symmetries_of(board)
    assert len({symmetry.squares for symmetry in symmetries}) == count
    assert symmetries[0].squares == (*range(board.size),)
    for symmetry, way in product(symmetries, board.directions):
        image = Direction("", *symmetry.vector(way.dx, way.dy), board)
        for square in range(board.size):
            place = symmetry.apply(1 << square)
            assert place == 1 << symmetry.squares[square]
            assert symmetry.apply(bitboard.step(1 << square, way)) == bitboard.step(place, image)


# ---- the arrays of a batch -----------------------------------------------------------------------


def mixed(a, b, c, to_move, ply):
    """Words of all kinds: a rare one, inputs as they are, a constant, one word twice; and what
    depends on the width of words, of inputs alone that may be narrower.
    """
    north = bitboard.step(a, N)
    plain = [a + ply & ALL, when(to_move << 40, _heavy, a, 5), a ^ b, c]
    plain += [nonzero(b & c), north, 7, north, b & 0]
    plain += [_SQUARES[to_move], _SQUARES[ply] ^ _SQUARES[to_move ^ 1], ~to_move & ALL, ~ply & ALL]
    plain += [_difference(to_move, ply), (to_move + to_move) & ALL, (ply * ply) & ALL]
    return [*plain, ply << to_move, spread(to_move), when(less(ply, 9), _difference, to_move, ply)]


# By the words that are written as bytes: how many bits of them, and the types of narrow inputs. The
# last ones stand in an array as they are.
BYTES = [
    (lambda a, b, c: [a ^ c], (1, 64), (np.uint8, np.uint32)),
    (lambda a, b, c: [a ^ c, b ^ c], (65,), (np.uint64, np.uint8)),
    (lambda a, b, c: [a, b, c], (192,), (np.uint8, np.uint8)),
]
# Chunks and the remainder after them; and the share of rows with rare work.
ROWS = [(1, 0), (1, 1), (7, 0.5), (8, 0.5), (9, 0.5), (255, 1), (256, 0), (257, 0.5),
        (CHUNK - 1, 0), (CHUNK, 0.001), (CHUNK + 1, 1), (2 * CHUNK + 5, 0.001)]  # fmt: skip


def inputs_of(rows: int, share: float, types: tuple[Any, Any]) -> list[Any]:
    """Three words a row in one array, and two narrow columns, one of them strided."""
    rng = np.random.default_rng(rows)
    abc = random_words(3 * rows + 2, rows)[2:].reshape(rows, 3)
    ply = rng.integers(65, size=2 * rows).astype(types[1])[::-2]
    return [abc, (rng.random(rows) < share).astype(types[0]), ply]


@pytest.mark.parametrize(("part", "bit_counts", "types"), BYTES, ids=["one", "two", "all"])
def test_words_and_bytes(backend: str, part: Any, bit_counts: Any, types: Any) -> None:
    """Every output is written, and nothing beside it; inputs stay. As directly on arrays."""
    width = len(part(0, 0, 0))
    kernels = {
        count: Kernel(
            lambda *x: [*mixed(*x), *part(*x[:3])], (3, 1, 1), "mixed", (1, 1, 2, 1, 1, 13, -count)
        )
        for count in bit_counts
    }
    for rows, share in ROWS:
        given_ = inputs_of(rows, share, types)
        before = [x.copy() for x in given_]
        columns = [*given_[0].T, *(x.astype(np.uint64) for x in given_[1:])]
        expected = np.empty((rows, 19 + width), np.uint64)
        for k, column in enumerate([*mixed(*columns), *part(*columns[:3])]):
            expected[:, k] = column
        words, packed = expected[:, :19], expected[:, 19:].copy()
        bits = np.unpackbits(packed.view(np.uint8), axis=1, bitorder="little")
        for count, kernel in kernels.items():
            wide, around = np.full((rows + 1, 9), 5, np.uint64), np.full((rows + 2, count), 7, "b")
            pairs, flags = np.zeros((rows, 2), np.uint64), np.zeros(rows, np.bool_)
            others, numbers = np.zeros((rows, 13), np.uint64), np.full(rows + 1, 5)
            outputs = [wide[:-1, 0], wide[:-1, 4], pairs, flags, numbers[:-1], others, around[1:-1]]
            kernel.batch(given_, outputs)
            found = np.column_stack([x.astype(np.uint64) for x in outputs[:-1]])
            np.testing.assert_array_equal(found, words)
            np.testing.assert_array_equal(around[1:-1], bits[:, :count])
            assert (around[[0, -1]] == 7).all()
            wide[:-1, [0, 4]] = 5
            assert (wide == 5).all()
            assert numbers[-1] == 5
        np.testing.assert_array_equal(np.column_stack(given_), np.column_stack(before))
        for row in range(min(rows, 9)):
            ints = [int(column[row]) for column in columns]
            assert kernel.one(*ints) == tuple(expected[row].tolist())
            alone, seen = kernel.one_in_parts(*ints)
            assert alone == tuple(words[row].tolist())
            assert (seen.tolist(), seen.dtype.name) == (bits[row].tolist(), "int8")


def test_threads_do_not_share_work_space(backend: str) -> None:
    """One compiled rule, run by several threads at once."""
    kernel = Kernel(everything, 2, "everything")
    words, others = random_words(400, 7), random_words(400, 8)
    expected = np.tile(on_ints(words, others).T, 10)  # so long that NumPy lets other threads run
    words, others = np.tile(words, 10), np.tile(others, 10)

    def is_right(number: int) -> bool:
        outputs = np.empty(expected.shape, np.uint64)
        kernel.batch([words, others], list(outputs))
        return np.array_equal(outputs, expected)

    assert is_right(0)  # in which it is compiled
    with ThreadPool(4) as threads:
        assert all(threads.map(is_right, range(8)))


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["scalar", "lanes", "batch"])
def test_what_a_rule_must_not_do_is_said(target):
    """Branch on data; use a word of another program, as the function inside `when` may not either:
    it must take what it uses as arguments.
    """
    for rule, inputs in ((lambda a: 1 if a else 0, 1), (lambda a, b: a and b, 2)):
        with pytest.raises(TypeError, match=r"must not branch on data; use kernel\.when"):
            trace(rule, inputs, target)
    kept = []
    trace(lambda a: kept.append(a) or a, 1, target)
    for rule in (lambda a, b: a & kept[0], lambda a, b: when(nonzero(a), lambda x: x & b, a)):
        with pytest.raises(ValueError, match="a word of another program: pass it to the function"):
            trace(rule, 2, target)
