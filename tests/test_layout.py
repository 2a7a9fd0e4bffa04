"""How words lie in arrays: columns, bytes, strides and types, by both backends."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from boardenvs.envs.memory import ReusedMemory
from boardenvs.kernel import ALL, Bits, Kernel, Table, nonzero, when

_SQUARES = Table([k * k for k in range(16)])


def mixed(a: Bits, b: Bits, c: Bits, narrow: Bits) -> tuple[Bits, ...]:
    """Uses all kinds of operations, and gives some inputs back as they are."""
    rare = when(nonzero(narrow & 1), lambda x, k: _SQUARES[k & 15] ^ x, a, narrow)
    return (a + narrow & ALL, rare, a ^ b, c, nonzero(b & c), a, b, c)


def random_words(shape: Any, seed: int) -> Any:
    return np.random.default_rng(seed).integers(1 << 64, size=shape, dtype=np.uint64)


@pytest.mark.parametrize("bits", [1, 64, 65])
@pytest.mark.parametrize("rows", [1, 7, 8, 9, 43])
def test_words_and_bytes(backend: str, rows: int, bits: int) -> None:
    """Every output is written, and nothing beside it."""
    words = 1 + (bits - 1) // 64
    outputs = (1, 1, 2, 1, -words)
    kernel = Kernel(lambda *x: mixed(*x)[: 5 + words], (3, 1), "mixed", outputs)
    abc = random_words((rows, 3), 1)
    narrow = np.random.default_rng(2).integers(0, 99, rows, dtype=np.uint8)
    around = np.full((rows + 2, bits), 7, np.int8)
    wide = np.full((rows, 3), 5, np.uint64)
    first, strided = np.zeros(rows + 1, np.uint64), wide[:, 1]
    pairs, flags = np.zeros((rows, 2), np.uint64), np.zeros(rows, np.bool_)
    kernel.batch([abc, narrow], [first[:rows], strided, pairs, flags, around[1:-1]])
    for row in range(rows):
        inputs = [*abc[row].tolist(), int(narrow[row])]
        expected = kernel.one(*inputs)
        found = [first[row], strided[row], *pairs[row], flags[row]]
        assert [int(x) for x in found] == list(expected[:5])
        bits_set = [expected[5 + k // 64] >> k % 64 & 1 for k in range(bits)]
        assert around[1 + row].tolist() == bits_set
        ints, seen = kernel.one_in_parts(*inputs)
        assert ints == expected[:5]
        assert seen[:bits].tolist() == bits_set
        assert seen.dtype == np.int8
        assert seen.shape == (64 * words,)
    assert (around[[0, -1]] == 7).all()
    assert (wide[:, [0, 2]] == 5).all()
    assert first[rows] == 0


def test_inputs_may_be_strided(backend: str) -> None:
    kernel = Kernel(lambda a, b: a ^ b, 2, "both")
    columns = random_words((29, 3), 3)
    found = np.empty(29, np.uint64)
    kernel.batch([columns[:, 0], columns[::-1, 2]], [found])
    assert (found == columns[:, 0] ^ columns[::-1, 2]).all()


def test_memory_is_used_again_once_nobody_has_it() -> None:
    memory = ReusedMemory((3, 5), np.int8)
    first = memory.take()
    view = first.reshape(5, 3).T[1:]
    place = first.ctypes.data
    first[:] = 1
    del first
    gc.collect()
    second = memory.take()
    assert second.ctypes.data != place  # the view still stands on the first
    second[:] = 2
    assert (view == 1).all()
    del view
    third = memory.take()
    assert third.ctypes.data == place
    assert third.shape == (3, 5)
    assert third.dtype == np.int8
    third[:] = 3
    assert (second == 2).all()
