"""Sets of more than 64 squares and loops: traced and run in every way, they are what ints of Python
make of the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boardenvs.board import Board, fill, neighbours, step
from boardenvs.kernel import ALL, Kernel, Table, nonzero, popcount, repeat, spread, when
from boardenvs.kernel.wide import Wide, join, pack, split

pytestmark = pytest.mark.usefixtures("as_written")

BOARD = Board(rows=9, columns=13)  # two words, the second one not full
_FILES = Table([BOARD.file(x) for x in range(BOARD.columns)])

squares = st.integers(0, BOARD.all)


def _grown(group: Any, among: Any) -> Any:
    return group | among & neighbours(group, BOARD)


def rule(a: Any, b: Any) -> list[Any]:
    """Everything that can be done with two sets."""
    count = popcount(a)
    return [
        *(a & b, a | b, a ^ b, ~a & BOARD.all, (a + b) & BOARD.all, (a - b) & BOARD.all),
        *(a & (0 - a), a << 70 & BOARD.all, a >> 3, b >> 67, repeat(_grown, a & b, a)),
        *(spread(nonzero(a & b), BOARD.all), _FILES[count & 7], when(a & 1, _grown, a, b)),
        *(fill(a, b, way) for way in BOARD.directions),
        *(step(a, way) for way in BOARD.directions),
        *pack([a, b], [BOARD.size, BOARD.size])[3:],
        *(count, nonzero(b)),
    ]


def in_words(*words: Any) -> list[Any]:
    values = rule(join(words[:2]), join(words[2:]))
    return [word for value in values for word in split(value, 2)]


KERNEL = Kernel(in_words, 4, "wide")


@pytest.mark.usefixtures("backend")
@given(pairs=st.lists(st.tuples(squares, squares), min_size=1, max_size=20))
def test_words_are_what_ints_are(pairs: Sequence[tuple[int, int]]) -> None:
    rows = [(*split(a, 2), *split(b, 2)) for a, b in pairs]
    expected = [[word for value in rule(*pair) for word in split(value, 2)] for pair in pairs]
    assert [list(KERNEL.one(*words)) for words in rows] == expected
    outputs = [np.empty(len(pairs), np.uint64) for _ in expected[0]]
    KERNEL.batch([np.array(column, np.uint64) for column in zip(*rows, strict=True)], outputs)
    assert np.array(outputs).T.tolist() == expected


def test_a_carry_goes_through_whole_words() -> None:
    below: Any = Wide([ALL, ALL, 0])
    above: Any = Wide([0, 0, 1])
    assert [(below + 1).words, (above - 1).words] == [above.words, below.words]


def test_what_has_no_end_or_mixes_is_named() -> None:
    with pytest.raises(ValueError, match="still changes its value in round 256"):
        repeat(lambda value: value ^ 1, 4)
    assert repeat(lambda value: min(value + 1, 255), 0) == 255  # in the last round
    flag = Kernel(lambda low, high: join([low, high]) & nonzero(low), 2, "mixed")
    with pytest.raises(TypeError, match=r"of a flag, spread\(flag, squares\) makes one"):
        flag.one(1, 2)
