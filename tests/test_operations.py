"""The table of operations: every row, directly and by each writer, against its meaning."""

import operator

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boardenvs.kernel import ALL, Kernel, Table, trace
from boardenvs.kernel.operations import OPERATIONS

pytestmark = pytest.mark.usefixtures("as_written")

# What each row means, of words, modulo 2**64.
MEANING = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: (a | b) - (a & b),
    "not": lambda a: ALL - a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a + (1 << 64) - b,
    "mul": lambda a, b: a * b,
    "shl": lambda a, b: a * 2**b,
    "shr": lambda a, b: a // 2**b,
    "less": lambda a, b: 1 if a < b else 0,
    "nonzero": lambda a: 1 if a else 0,
    "popcount": lambda a: f"{a:b}".count("1"),
}
SHIFTS = ("shl", "shr")
WORDS = st.one_of(st.integers(0, ALL), st.integers(0, 70), st.integers(ALL - 70, ALL))
CONSTANTS = (0, 0xFF00, ALL)


def exact(name):
    """The operation as the meaning above has it."""
    return lambda *words: MEANING[name](*(word & ALL for word in words)) & ALL


def beside(word, other):
    """The same word, but in Python's ints far outside of 64 bits."""
    return word + other * (1 << 63) * 2 - (other >> 1) * (1 << 63) * 6


def uses(name, apply, a, b, c):
    """The operation on inputs, constants, narrow words, and words that are outside of 64 bits."""
    if OPERATIONS[name].operands == 1:
        words = [(a,), (beside(a, c),), (~a,), (a & 0xFF00,), (a & b & c,)]
        return [apply(*some) for some in words]
    if name in SHIFTS:
        b, constants = b & 63, (0, 8, 63)
    else:
        constants = CONSTANTS
    pairs = [(a, b), (beside(a, c), beside(b, a)), (a & 0xFF00, b & 15), (a & c, b)]
    pairs += [(a, beside(b, c)), (beside(a, c), b)]
    pairs += [(a, k) for k in constants] + [(a & 0xFF00, k) for k in constants]
    pairs += [(k, b) for k in CONSTANTS]
    return [apply(*pair) for pair in pairs]


def all_rows(a, b, c):
    """Every row in all its uses; by the Python operator that it stands for, where there is one."""
    results = []
    for name, row in OPERATIONS.items():
        apply = getattr(operator, f"__{row.method}__") if row.method else row
        results += uses(name, apply, a, b, c)
    return results


def expected(a, b, c):
    return [word for name in OPERATIONS for word in uses(name, exact(name), a, b, c)]


KERNEL = Kernel(all_rows, 3, "all_rows")
BOARDS = st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=5)


@given(boards=BOARDS)
def test_every_row_compiled(backend, boards):
    """For one board and for a batch, with either backend."""
    rows = [expected(*board) for board in boards]
    assert [list(KERNEL.one(*board)) for board in boards] == rows
    inputs = list(np.array(boards, np.uint64).T.copy())
    outputs = list(np.empty((KERNEL.num_outputs, len(boards)), np.uint64))
    KERNEL.batch(inputs, outputs)
    assert np.stack(outputs, axis=1).tolist() == rows


@given(board=st.tuples(WORDS, WORDS))
def test_every_row_directly(board):
    """On ints and on arrays, without a trace."""
    assert set(MEANING) == set(OPERATIONS)
    for name, row in OPERATIONS.items():
        first, second = board
        words = (first, second & 63 if name in SHIFTS else second)[: row.operands]
        result = row(*(np.array([word], np.uint64) for word in words))
        assert result.dtype == np.uint64
        assert [row(*words) & ALL] == result.tolist() == [exact(name)(*words)]


PROGRAM = trace(all_rows, 3, "batch")


@given(board=st.tuples(WORDS, WORDS, WORDS))
def test_bounds_hold(board):
    """No result has a bit that its bound excludes."""
    for result, output in zip(expected(*board), PROGRAM.outputs, strict=True):
        assert result & ~PROGRAM.possible[output] == 0


def test_a_table_ends_with_its_last_element(backend):
    """Machine code reads no other memory for an index beyond it."""
    kernel = Kernel(lambda index: Table([3, 5, 7])[index], 1, "element")
    inputs, found = np.array([0, 2, 3, 1 << 20] * 9, np.uint64), np.zeros(36, np.uint64)
    kernel.batch([inputs], [found])
    assert found.tolist() == [3, 7, 7, 7] * 9
