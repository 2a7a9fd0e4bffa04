"""Whether speed depends on where arrays lie in memory: single rules in many placements.

Machine code that is fast only where arrays happen to lie well would show here as a wide spread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from boardenvs.bench.workloads import middle_game
from boardenvs.game.contract import Game
from boardenvs.game.state import State, state_words
from boardenvs.games import spec_of
from boardenvs.kernel import Kernel, set_backend
from boardenvs.kernel.backend import Backend

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_BOARDS = 4096
_SECONDS = 0.002  # of each placement in each repetition
_REPETITIONS = 5  # of which the fastest counts: in the others somebody else used the machine too
_LINE, _PAGE = 64, 4096  # bytes


class Placements(NamedTuple):
    """One rule of one game, timed in several placements of its arrays."""

    game: str
    rule: str
    backend: Backend
    nanoseconds: list[float]  # of processor time a board, one for each placement

    @property
    def median(self) -> float:
        return float(np.median(self.nanoseconds))

    @property
    def worst(self) -> float:
        """The slowest placement as a multiple of the median."""
        return max(self.nanoseconds) / self.median


def placements(
    games: Sequence[Game], backends: Sequence[Backend], count: int, tick: Callable[[str], None]
) -> list[Placements]:
    """The rules that batches are played by, each in `count` placements.

    `tick` is told the name of each rule before it is timed.
    """
    found = []
    for backend in backends:
        set_backend(backend)
        for game in games:
            for rule, inputs in _inputs(game).items():
                tick(f"{spec_of(game)} {rule} ({backend}) in {count} places")
                times = _times(getattr(game.kernels, rule), inputs, count)
                found.append(Placements(spec_of(game), rule, backend, times))
    set_backend(None)
    return found


def _inputs(game: Game) -> dict[str, list[Array]]:
    """The rules, and what they are given in the middle of random games."""
    rng = np.random.default_rng(0)
    state: State = middle_game(game, _BOARDS, rng)
    bits = rng.integers(1 << 64, size=_BOARDS, dtype=np.uint64)
    actions = game.sample(state, rng).view(np.uint64)
    words, flags = state_words(state), [np.zeros(_BOARDS, np.uint8) for _ in range(2)]
    return {
        "begin": words,
        "advance": [*words, actions],
        "transition": [*words[:2], state.legal_bits, *words[2:], flags[0], actions, flags[1]],
        "sample": [state.legal_bits, bits],
        "points": words[:3],
        "planes": words,
        "observe": [*words, state.legal_bits],
    }


def _times(kernel: Kernel, inputs: list[Array], count: int) -> list[float]:
    outputs = [_output(width) for width in kernel.layout.outputs]
    arrays = [*inputs, *outputs]
    room = sum(array.nbytes + 2 * _PAGE for array in arrays)
    memory = np.zeros(room, np.uint8)
    times = []
    for seed in range(count):
        placed = _placed(arrays, memory, np.random.default_rng(seed))
        given, written = placed[: len(inputs)], placed[len(inputs) :]
        times.append(_time(lambda g=given, w=written: kernel.batch(g, w)))  # type: ignore[misc]
    return times


def _output(width: int) -> Array:
    """An output of a kernel's layout."""
    if width < 0:
        return np.zeros((_BOARDS, -64 * width), np.uint8)
    return np.zeros(_BOARDS if width == 1 else (_BOARDS, width), np.uint64)


def _placed(arrays: list[Array], memory: Array, rng: np.random.Generator) -> list[Array]:
    """Copies of the arrays in this memory, in any order, with gaps between them."""
    start = -memory.ctypes.data % _PAGE
    placed = list(arrays)
    for index in rng.permutation(len(arrays)):
        array = arrays[index]
        start += int(rng.integers(_PAGE // 8)) * 8
        copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        copy[...] = array
        placed[index] = copy
        start += -(-array.nbytes // _LINE) * _LINE
    return placed


def _time(call: Callable[[], None]) -> float:
    """Nanoseconds of processor time a board."""
    call()  # compiles, and fills caches
    times = []
    for _ in range(_REPETITIONS):
        calls, began = 0, time.process_time()
        while (used := time.process_time() - began) < _SECONDS:
            call()
            calls += 1
        times.append(used / calls / _BOARDS * 1e9)
    return min(times)
