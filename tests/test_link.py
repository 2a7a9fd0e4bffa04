"""Loops linked with rules: the same by both backends."""

from __future__ import annotations

from typing import Any

import loops_perft
import numpy as np
import pytest
from variants import make

from boardenvs.kernel.link import link
from boardenvs.search.compiler import position_size, position_words, words
from boardenvs.utils.splitmix import GOLDEN, mix

pytestmark = pytest.mark.usefixtures("as_written")


def linked() -> Any:
    game = make("wolf_and_sheep")
    rules = {"step_words": game.kernels.step_words, "sample": game.kernels.sample}
    sizes = {
        "WORD_COUNT": 2,
        "ALTERNATES": True,
        "LEGAL_WORDS": game.legal_words,
        "KNOWN_WORDS": 2,
        "NOOP": game.noop,
    }
    return link(loops_perft, rules, sizes)


def test_loops_play_by_the_rules(backend: str) -> None:
    game, loops = make("wolf_and_sheep"), linked()
    size = position_size(game)
    roots = position_words(game.init(2)).ravel()
    assert [loops.perft(roots, size, depth) for depth in range(5)] == [1, 2, 14, 56, 344]
    assert loops.bits_of((1 << 62) + 5) == 3


def test_one_mixing_function_for_ints_arrays_and_machine_code(backend: str) -> None:
    # The first numbers of the reference implementation, seeded with 1234567.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    seeds = [(1234567 + k * GOLDEN) % (1 << 64) for k in (1, 2, 3)]
    mixed, array = words(3), np.array(seeds, np.uint64)
    linked().mix_all(array, mixed)
    assert expected == [*map(mix, seeds)] == mix(array).tolist() == mixed.tolist()
