"""Loops linked with rules: the same by both backends, and compiled once for all processes."""

from __future__ import annotations

import ast
import itertools
import os
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import loops_perft
import numpy as np
import pytest
from variants import HERE, make

import boardenvs
from boardenvs.game.contract import stack
from boardenvs.kernel import set_backend
from boardenvs.kernel.link import array_for_loops, link
from boardenvs.search import compiled
from boardenvs.search.compiled.position import TERMINATED
from boardenvs.search.compiler import flat, position_size, position_words, words
from boardenvs.utils.splitmix import GOLDEN, mix


def linked(name: str, module: ModuleType, **constants: int) -> Any:
    game = make(name)
    rules = {"advance": game.kernels.advance, "sample": game.kernels.sample}
    return link(module, rules, {"legal_words": game.action_planes + 1} | constants)


def test_loops_play_by_the_rules(backend: str) -> None:
    name = "wolf_and_sheep"
    game = make(name)
    loops = linked(name, loops_perft)
    size = position_size(game)
    roots = flat(position_words(game.init(2)))
    assert [loops.perft(roots, size, depth) for depth in range(5)] == [1, 2, 14, 56, 344]
    assert loops.bits_of((1 << 62) + 5) == 3
    positions = words(200 * size)
    positions[:size] = roots[:size]
    played = loops.walk(positions, size, 12345, 200)
    assert 5 < played < 200
    table = np.asarray(positions).reshape(200, -1)[:played]
    assert table[:, TERMINATED].tolist() == [0] * (played - 1) + [1]
    state = game.init(1)
    for before, after in itertools.pairwise(table):
        assert before.tolist() == position_words(state)[0].tolist()
        position = game.positions(state)[0]
        following = [position.step(action) for action in position.legal_actions()]
        actions = [p[:2] for p in following]
        assert tuple(after[:2].tolist()) in actions
        chosen = position.legal_actions()[actions.index(tuple(after[:2].tolist()))]
        state = game.step(state, np.array([chosen]))


def test_constants_are_those_of_the_game(backend: str) -> None:
    """The cap on plies decides where a random game ends."""
    game = make("wolf_and_sheep")
    rules = {name: getattr(game.kernels, name) for name in ("advance", "points", "sample")}
    for cap in (1, 200):
        constants = {"legal_words": game.action_planes + 1, "max_ply": cap}
        loops = link(loops_perft, rules, constants)
        start = stack([game.start()._replace(ply=cap)])
        value = np.sign(game.score_margin(start)[0])
        assert loops.random_result(flat(position_words(start)), 1) == value


def test_tracebacks_show_the_source() -> None:
    """Without Numba; the functions are those of the files, with their lines."""
    set_backend("numpy")
    with pytest.raises(IndexError) as caught:
        linked("wolf_and_sheep", loops_perft).fail(words(3))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (Path(last.filename), last.line) == (
        Path(loops_perft.__file__).resolve(),
        "return number(array[len(array)])",
    )


def test_one_mixing_function_for_ints_arrays_and_machine_code(backend: str) -> None:
    seeds = np.random.default_rng(0).integers(1 << 64, size=50, dtype=np.uint64)
    expected = [mix(int(seed)) for seed in seeds]
    assert mix(seeds).tolist() == expected
    mixed = words(50)
    linked("wolf_and_sheep", loops_perft).mix_all(array_for_loops(seeds), mixed)
    assert np.asarray(mixed).tolist() == expected
    # The first numbers of the reference implementation, seeded with 1234567.
    first = [mix((1234567 + k * GOLDEN) % (1 << 64)) for k in (1, 2, 3)]
    assert first == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def functions() -> dict[str, ast.FunctionDef]:
    """Of the modules that are compiled with the rules."""
    folder = Path(str(compiled.__file__)).parent
    parsed = [ast.parse(path.read_text()) for path in folder.glob("*.py")]
    return {f.name: f for tree in parsed for f in tree.body if isinstance(f, ast.FunctionDef)}


def calls(function: ast.FunctionDef) -> list[ast.Call]:
    return [node for node in ast.walk(function) if isinstance(node, ast.Call)]


def test_recursive_loops_are_not_called_with_bare_numbers() -> None:
    """Numba would compile them once more for each such number, and crash with the cached pair:
    https://github.com/numba/numba/issues/6061.
    """
    known = functions()

    def name_of(call: ast.Call) -> str | None:
        return call.func.id if isinstance(call.func, ast.Name) else None

    recursive = {name for name, f in known.items() if name in map(name_of, calls(f))}
    assert recursive == {
        "search",
        "search_captures",
        "search_end",
        "search_end_exactly",
    }
    for function in known.values():
        for call in calls(function):
            if name_of(call) in recursive:
                for argument in call.args:
                    bare = argument.operand if isinstance(argument, ast.UnaryOp) else argument
                    assert not isinstance(bare, ast.Constant), ast.unparse(call)
                    # A constant of the module is as bare as a number.
                    assert not (isinstance(bare, ast.Name) and bare.id.isupper()), ast.unparse(call)


# Links the small module, and says what it counts and had to be compiled for it.
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import loops_perft
from boardenvs import games
from boardenvs.kernel.link import link
from boardenvs.search.compiler import flat, position_words
game = games.make("wolf_and_sheep")
rules = {"advance": game.kernels.advance, "sample": game.kernels.sample}
perft = link(loops_perft, rules, {"legal_words": game.action_planes + 1}).perft
print(perft(flat(position_words(game.init(1))), 0, 4), sum(perft.stats.cache_misses.values()),
      sum(perft.stats.cache_hits.values()), len(perft.nopython_signatures))
"""


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    variables = {
        "BOARDENVS_BACKEND": "numba",
        "BOARDENVS_CACHE": str(tmp_path),
        "PYTHONPATH": str(Path(boardenvs.__file__).parents[1]),
    }
    command = [sys.executable, "-c", SCRIPT, str(HERE)]
    printed = [
        subprocess.check_output(command, text=True, env=os.environ | variables) for _ in range(2)
    ]
    assert [words.split() for words in printed] == [["344", "1", "0", "1"], ["344", "0", "1", "1"]]


@pytest.fixture(autouse=True)
def default_backend():
    yield
    set_backend(None)
