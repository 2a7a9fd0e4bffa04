"""Measuring: random play and search in interleaved rounds, placements of arrays, memory.

In a round all workloads take turns, so that they share whatever else the machine does.
"""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from rich.progress import Progress

from boardenvs.envs.factory import vec_env
from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import IntArray, State, state_words
from boardenvs.games import spec_of
from boardenvs.kernel import Kernel, set_backend
from boardenvs.kernel.backend import Backend

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_BOARDS = 4096  # whose memory and whose placements are measured
_PLACEMENT_SECONDS = 0.002  # of each placement in each repetition
_REPETITIONS = 5  # of which the fastest counts: in the others somebody else used the machine too
_LINE, _PAGE = 64, 4096  # bytes


@dataclass(frozen=True)
class Workload:
    """Random play of one game through one interface, or search in it, `boards` at a time.

    `start()` sets it up and returns a function that does a slice of it and returns how much that
    was, in plies or in another `unit`.
    """

    library: str
    game: str
    interface: str
    boards: int
    backend: Backend | None
    start: Callable[[], Callable[[], int]]
    unit: str = "plies"

    @property
    def name(self) -> str:
        backend = f" ({self.backend})" if self.backend else ""
        return f"{self.library} {self.game} {self.interface}{backend} x{self.boards}"


@dataclass
class Measurement:
    """Plies, or what the workload counts, a second; one number a round."""

    workload: Workload
    clock: Literal["cpu", "wall"] = "cpu"  # which of the two counts
    cpu: list[float] = field(default_factory=list)  # a second of processor time
    wall: list[float] = field(default_factory=list)  # a second on the clock
    setup: float = 0.0  # seconds on the clock until the first slice was done, compiling included

    @property
    def median(self) -> float:
        return float(np.median(self.cpu if self.clock == "cpu" else self.wall))

    @property
    def iqr(self) -> float:
        """The interquartile range as a part of the median."""
        low, high = np.percentile(self.cpu if self.clock == "cpu" else self.wall, [25, 75])
        return float((high - low) / self.median)


def pin_to_one_core() -> bool:
    """Keep this process, and all threads it starts later, on one core; False where unsupported."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return True


def measure(
    workloads: Sequence[Workload],
    rounds: int,
    seconds: float,
    progress: Progress,
    clock: Literal["cpu", "wall"] = "cpu",
) -> tuple[list[Measurement], dict[str, str]]:
    """Run every workload once a round for about so many CPU seconds.

    `progress` gets a task that names each workload before it runs. Returns the measurements and,
    by name, the errors of those that could not be run, which are peers: an error of ours is raised.
    """
    task = progress.add_task("", total=len(workloads) * (rounds + 1))
    running: list[tuple[Measurement, Callable[[], int]]] = []
    errors: dict[str, str] = {}
    for workload in workloads:
        progress.update(task, advance=1, description=f"set up {workload.name}")
        set_backend(workload.backend)
        began = time.perf_counter()
        try:
            play = workload.start()
            play()  # compiles and fills caches
        except Exception as error:
            if workload.library == "boardenvs":
                raise
            errors[workload.name] = f"{type(error).__name__}: {error}"
            continue
        setup = time.perf_counter() - began
        running.append((Measurement(workload, clock, setup=setup), play))
    for _ in range(rounds):
        for result, play in running:
            progress.update(task, advance=1, description=result.workload.name)
            set_backend(result.workload.backend)
            play()  # after the others had the caches
            done, cpu, wall = 0, time.process_time(), time.perf_counter()
            while (used := time.process_time() - cpu) < seconds or not done:
                done += play()
            result.cpu.append(done / max(used, 1e-9))
            result.wall.append(done / (time.perf_counter() - wall))
    set_backend(None)
    return [result for result, _ in running], errors


def middle_game(game: Game, boards: int) -> State:
    """Positions after random plies, more than openings have, and not near an end."""
    low = game.opening_plies[1] + 2
    return random_openings(game, boards, (low, 2 * low), np.random.default_rng(0))


# ---- placements ----------------------------------------------------------------------------------


class Placements(NamedTuple):
    """One rule of one game, timed in several placements of its arrays: machine code that is fast
    only where arrays happen to lie well would show a slow one.
    """

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
    games: Sequence[Game], backends: Sequence[Backend], count: int, progress: Progress
) -> list[Placements]:
    """The rules that batches are played by, each in `count` placements."""
    found = []
    task = progress.add_task("", total=None)
    for backend in backends if count else ():
        set_backend(backend)
        for game in games:
            for rule, inputs in _inputs(game).items():
                name = spec_of(game)
                progress.update(task, description=f"{name} {rule} ({backend}) in {count} places")
                times = _times(getattr(game.kernels, rule), inputs, count)
                found.append(Placements(name, rule, backend, times))
    set_backend(None)
    progress.remove_task(task)
    return found


def _inputs(game: Game) -> dict[str, list[Array]]:
    """The rules, and what they are given in the middle of random games."""
    rng = np.random.default_rng(0)
    state = middle_game(game, _BOARDS)
    bits = rng.integers(1 << 64, size=_BOARDS, dtype=np.uint64)
    actions = game.sample(state, rng).view(np.uint64)
    words, flags = state_words(state), [np.zeros(_BOARDS, np.uint8) for _ in range(2)]
    return {
        "begin": words,
        "step_words": [*words, actions],
        "step_batch": [*state.words, state.legal_bits, *words[-2:], flags[0], actions, flags[1]],
        "sample": [state.legal_bits, bits],
        "points": words[:-1],
        "planes": words,
        "observe": [*words, state.legal_bits],
    }


def _times(kernel: Kernel, inputs: list[Array], count: int) -> list[float]:
    """Nanoseconds of processor time a board, in so many placements."""
    outputs = [
        np.zeros((_BOARDS, -64 * width), np.uint8)
        if width < 0
        else np.zeros(_BOARDS if width == 1 else (_BOARDS, width), np.uint64)
        for width in kernel.layout.outputs
    ]
    arrays = [*inputs, *outputs]
    memory = np.zeros(sum(array.nbytes + 2 * _PAGE for array in arrays), np.uint8)
    times = []
    for seed in range(count):
        placed = _placed(arrays, memory, np.random.default_rng(seed))
        given, written = placed[: len(inputs)], placed[len(inputs) :]
        kernel.batch(given, written)  # compiles, and fills caches
        fastest = float("inf")
        for _ in range(_REPETITIONS):
            calls, began = 0, time.process_time()
            while (used := time.process_time() - began) < _PLACEMENT_SECONDS:
                kernel.batch(given, written)
                calls += 1
            fastest = min(fastest, used / calls / _BOARDS * 1e9)
        times.append(fastest)
    return times


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


# ---- memory --------------------------------------------------------------------------------------


def bytes_per_board(game: Game) -> dict[str, float]:
    """What a board takes: "state" as it rests, "step" and "vec_env step" at their peak.

    The peaks count the old and the new state and, for vec_env, all that it keeps and that a step
    returns, while what the two steps before returned is still held; the work space of a step, which
    is the same for every batch size, is left out.
    """
    rng = np.random.default_rng(0)
    state = game.init(_BOARDS)
    actions = game.sample(state, rng)
    resting = sum(x.nbytes for x in state.arrays) / _BOARDS
    return {
        "state": resting,
        "step": resting + _peak(lambda: game.step(state, actions)),
        "vec_env step": _peak(lambda: _steps(game, actions)),
    }


def _steps(game: Game, actions: IntArray) -> object:
    """Some steps of a new environment, and what the last two returned."""
    env = vec_env(game, _BOARDS)
    env.reset(seed=0)
    kept: tuple[object, object] = (None, env.step(actions))
    for _ in range(3):
        kept = kept[1], env.step(env.game.sample(env.batch.state, np.random.default_rng(1)))
    return kept


def _peak(call: Callable[[], object]) -> float:
    call()  # compiles
    tracemalloc.start()
    try:
        kept = call()
        peak = tracemalloc.get_traced_memory()[1]
        del kept
    finally:
        tracemalloc.stop()
    return peak / _BOARDS
