"""Functions on words: on ints, on arrays and compiled, against sets of squares."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import walk

from boardenvs.board import bitboard
from boardenvs.board.bitboard import DIRECTIONS, E, N, square_name, squares_of
from boardenvs.board.bitslice import add, countdown, line_counts
from boardenvs.games.lines_of_action_groups import connected
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
from boardenvs.kernel.numpy_writer import CHUNK, NumpyProgram

# Boards of every density: random ones, few squares, few gaps, and the extremes.
WORDS = st.one_of(
    st.integers(0, ALL),
    st.builds(bitboard.from_squares, st.sets(st.integers(0, 63), max_size=6)),
    st.builds(lambda s: ALL ^ bitboard.from_squares(s), st.sets(st.integers(0, 63), max_size=6)),
    st.sampled_from([0, 1, 1 << 63, ALL, 0xFF, bitboard.FILE_A, bitboard.FILE_H]),
)


def cells(bits):
    """The cells (x, y), from 1 to 8, of a set of squares."""
    return {(s % 8 + 1, s // 8 + 1) for s in range(64) if bits >> s & 1}


def bits_of(some_cells):
    return sum({1 << (8 * (y - 1) + x - 1) for x, y in some_cells})


def random_words(count, seed=0):
    """Words of low, even and high density, the empty and the full board among them."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(1 << 64, size=(3, count), dtype=np.uint64)
    kind = rng.integers(3, size=count)
    words = np.choose(kind, [a, a & b & c, a | b | c])
    words[:2] = 0, ALL
    return words


# ---- every function against squares --------------------------------------------------------------


def expected_step(bits, direction, count=1):
    moved = set()
    for cell in cells(bits):
        line = walk(cell, (direction.dx, direction.dy))
        moved |= set(line[count - 1 : count])
    return bits_of(moved)


def expected_fill(start, through, direction):
    reached = set()
    for cell in cells(start):
        for other in walk(cell, (direction.dx, direction.dy)):
            if other not in cells(through):
                break
            reached.add(other)
    return bits_of(reached)


def expected_neighbours(bits):
    return bits_of(
        {
            (x + dx, y + dy)
            for x, y in cells(bits)
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            if 1 <= x + dx <= 8 and 1 <= y + dy <= 8
        }
    )


def test_directions():
    """Their order and shifts, which action numbers depend on, and their opposites."""
    assert [d.name for d in DIRECTIONS] == ["n", "ne", "e", "se", "s", "sw", "w", "nw"]
    assert [d.shift for d in DIRECTIONS] == [8, 9, 1, -7, -8, -9, -1, 7]
    for d in DIRECTIONS:
        assert (d.opposite.dx, d.opposite.dy) == (-d.dx, -d.dy)
        assert d.reach == expected_step(ALL, d)


@given(bits=WORDS, through=WORDS)
def test_moving_functions(bits, through):
    for d in DIRECTIONS:
        assert bitboard.step(bits, d) == expected_step(bits, d)
        assert bitboard.fill(bits, through, d) == expected_fill(bits, through, d)
        for count in range(1, 8):
            assert bitboard.steps(bits, d, count) == expected_step(bits, d, count)
    assert bitboard.neighbours(bits) == expected_neighbours(bits)


def test_rays_and_reach():
    for d in DIRECTIONS:
        for square in range(64):
            cell = (square % 8 + 1, square // 8 + 1)
            assert bitboard.ray(square, d) == bits_of(walk(cell, (d.dx, d.dy)))
        for count in range(9):
            assert bitboard.reach(d, count) == (expected_step(ALL, d, count) if count else ALL)


@given(bits=WORDS)
def test_single_squares(bits):
    squares = [s for s in range(64) if bits >> s & 1]
    assert list(squares_of(bits)) == squares
    assert bitboard.from_squares(squares) == bits
    assert bitboard.from_squares(map(square_name, squares)) == bits
    assert popcount(bits) == len(squares)
    assert bitboard.lowest(bits) & ALL == (1 << squares[0] if squares else 0)
    assert bitboard.highest(bits) == (1 << squares[-1] if squares else 0)
    for k, square in enumerate(squares):
        assert bitboard.select(bits, k) == square
        assert bitboard.rank_of(1 << square) == square // 8
    assert bitboard.rank_of(0) == 8


# ---- the same function on ints, on arrays and compiled -------------------------------------------

_SQUARES = Table([s * s * 0x9E3779B97F4A7C15 & ALL for s in range(65)])


def _heavy(bits, other):
    return (bits ^ other) * 3


def _first_through(bits, other):
    return bitboard.lowest(bits) & other


def everything(bits, other):
    """All functions at once: each way of running rules must give these words."""
    low = bitboard.lowest(bits)
    count = popcount(bits)
    rare = nonzero(bits & other & 0xFF) ^ 1
    results = [bitboard.step(bits, d) for d in DIRECTIONS]
    results += [bitboard.steps(bits, d, k) for d in DIRECTIONS for k in (2, 5)]
    results += [bitboard.fill(bits, other, d) for d in DIRECTIONS]
    results += [bitboard.neighbours(bits), low & ALL, bitboard.highest(bits)]
    results += [bitboard.rank_of(low & ALL), connected(bits & other)]
    results += [bitboard.flip_ranks(bits), bitboard.flip_files(bits), bitboard.transpose(bits)]
    results += [word & ALL for axis in DIRECTIONS[:4] for word in line_counts(bits, axis)]
    results += [count, nonzero(bits), less(bits, other), less(other, bits), less(7, count)]
    results += [less(count, 7), spread(less(bits, other)), ~bits & ALL, (bits + other) & ALL]
    results += [(bits - other) & ALL, (bits * other) & ALL, (5 - bits) & ALL, 3 | bits, 3 ^ bits]
    results += [_SQUARES[count], _SQUARES[popcount(other)] & bits]
    results += [when(rare, _heavy, bits, other) & ALL, guard(bits, _first_through, other) & ALL]
    results += [when(rare, _first_through, bits, 0xF0F0) & ALL, ((bits << 5) & ALL) >> 9]
    results += countdown(count, 50)
    results += [word & ALL for word in add([bits, other], [other, bits])]
    return results


def on_ints(words, others):
    pairs = zip(words.tolist(), others.tolist(), strict=True)
    return np.array([everything(a, b) for a, b in pairs], np.uint64)


def batch_outputs(rows):
    return list(np.empty((len(everything(0, 0)), rows), np.uint64))


def test_on_arrays():
    words, others = random_words(300, 1), random_words(300, 2)
    results = np.stack(np.broadcast_arrays(*everything(words, others)), axis=1)
    assert results.dtype == np.uint64
    np.testing.assert_array_equal(results, on_ints(words, others))


def of_narrow_words(to_move, ply):
    """What depends on the width of words, of inputs alone."""
    results = [_SQUARES[to_move], _SQUARES[ply] ^ _SQUARES[to_move ^ 1], ~to_move & ALL, ~ply & ALL]
    results += [(to_move - ply) & ALL, (to_move + to_move) & ALL, (ply * ply) & ALL, ply << to_move]
    return [*results, when(less(ply, 9), _difference, to_move, ply), spread(to_move)]


def _difference(to_move, ply):
    return (to_move - ply) & ALL


@pytest.mark.parametrize("dtypes", [(np.uint8, np.uint32), (np.uint64, np.uint8)])
def test_inputs_may_be_narrower_than_words(backend, dtypes):
    """As a batch's side to move and its plies are."""
    rng = np.random.default_rng(7)
    to_move = rng.integers(2, size=300).astype(dtypes[0])
    ply = rng.integers(65, size=300).astype(dtypes[1])
    kernel = Kernel(of_narrow_words, 2, "of_narrow_words")
    outputs = list(np.empty((kernel.num_outputs, 300), np.uint64))
    kernel.batch([to_move, ply], outputs)
    pairs = list(zip(to_move.tolist(), ply.tolist(), strict=True))
    np.testing.assert_array_equal(np.stack(outputs, axis=1), [of_narrow_words(*p) for p in pairs])
    assert [kernel.one(*p) for p in pairs] == [tuple(of_narrow_words(*p)) for p in pairs]


def small(bits, other):
    """A few words, a flag and a `when` among them."""
    rare = less(popcount(bits), 20)
    return bitboard.step(bits, E), nonzero(bits & other), when(rare, _heavy, bits, other), bits


@pytest.mark.parametrize("rows", [1, 2, 255, 256, 257, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 5])
def test_batches_of_every_size(backend, rows):
    """Chunks and the remainder after them; outputs may be strided and of small types, inputs
    narrow and strided.
    """
    words = random_words(max(rows, 2), rows)[:rows]
    others = random_words(max(2 * rows, 2), rows + 1)[: 2 * rows : 2].astype(np.uint32)
    expected = [np.broadcast_to(x, rows) for x in small(words, others.astype(np.uint64))]
    table = np.full((rows, 3), 77, np.uint64)
    flags = np.empty(rows, np.bool_)
    numbers = np.empty(rows, np.int64)
    before = words.copy(), others.copy()
    kernel = Kernel(small, 2, "small")
    kernel.batch([words, others], [table[:, 0], flags, table[:, 2], numbers])
    np.testing.assert_array_equal(table[:, 0], expected[0])
    np.testing.assert_array_equal(flags, expected[1] != 0)
    np.testing.assert_array_equal(table[:, 2], expected[2])
    np.testing.assert_array_equal(numbers.view(np.uint64), expected[3])
    assert (table[:, 1] == 77).all()
    np.testing.assert_array_equal(before[0], words)
    np.testing.assert_array_equal(before[1], others)


@pytest.mark.parametrize("share", [0.0, 0.001, 1.0])
def test_when_for_no_rare_and_every_row(backend, share):
    rng = np.random.default_rng(1)
    condition = (rng.random(5000) < share).astype(np.uint64) * np.uint64(1 << 40)
    words = random_words(5000, 2)
    kernel = Kernel(lambda c, w: when(c, _heavy, w, 5) & ALL, 2, "rarely")
    out = np.empty(5000, np.uint64)
    kernel.batch([condition, words], [out])
    np.testing.assert_array_equal(
        out, np.where(condition != 0, (words ^ np.uint64(5)) * np.uint64(3), 0)
    )
    assert kernel.one(1 << 40, 9) == ((9 ^ 5) * 3,)
    assert kernel.one(0, 9) == (0,)


def test_threads_do_not_share_work_space():
    """One compiled program, run by several threads at once."""
    program = NumpyProgram(trace(everything, 2, "batch"), "everything")
    words, others = random_words(400, 7), random_words(400, 8)
    expected = on_ints(words, others)
    wrong = []

    def work():
        for _ in range(10):
            outputs = batch_outputs(len(words))
            program([words, others], outputs)
            if not np.array_equal(np.stack(outputs, axis=1), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_program_may_be_constant_or_repeat_itself(backend):
    """Outputs that are constants, inputs, or the same word twice."""
    kernel = Kernel(
        lambda a: (7, a, a, a & 0, bitboard.step(a, N), bitboard.step(a, N)), 1, "plain"
    )
    outputs = list(np.empty((6, 3), np.uint64))
    words = np.array([1, 2, ALL], np.uint64)
    kernel.batch([words], outputs)
    for row, word in enumerate(words.tolist()):
        north = word << 8 & ALL
        assert kernel.one(word) == (7, word, word, 0, north, north)
        assert [int(out[row]) for out in outputs] == [7, word, word, 0, north, north]


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["scalar", "batch"])
def test_a_rule_must_not_branch_on_data(target):
    with pytest.raises(TypeError, match=r"must not branch on data; use kernel\.when"):
        trace(lambda a: 1 if a else 0, 1, target)
    with pytest.raises(TypeError, match="must not branch"):
        trace(lambda a, b: a and b, 2, target)


@pytest.mark.parametrize("target", ["scalar", "batch"])
def test_a_word_belongs_to_one_program(target):
    """Also for the function inside `when`, which must take what it uses as arguments."""
    kept = []
    trace(lambda a: kept.append(a) or a, 1, target)
    with pytest.raises(ValueError, match="a word of another program: pass it to the function"):
        trace(lambda a: a & kept[0], 1, target)
    with pytest.raises(ValueError, match="a word of another program"):
        trace(lambda a, b: when(nonzero(a), lambda x: x & b, a), 2, target)
