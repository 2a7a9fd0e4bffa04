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


def test_numbers_of_16_bits_are_added_and_weighed_four_at_a_time(backend: str) -> None:
    rng, add_and_weigh = np.random.default_rng(0), linked().add_and_weigh
    for groups in (1, 2):
        count = 12 * groups
        one, other = rng.integers(0, 1 << 15, (2, 4 * count), dtype=np.uint16)
        offsets, weights = rng.integers(50, size=4 * count), rng.integers(-99, 99, 70_000)
        array = np.concatenate([one.view(np.uint64), other.view(np.uint64), offsets.astype("u8")])
        found = add_and_weigh(array, weights.astype(np.int16), 7, groups)
        assert array[:count].view(np.uint16).tolist() == (one + other).tolist()
        assert found == weights[7 + offsets + one + other].sum()
