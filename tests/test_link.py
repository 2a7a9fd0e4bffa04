"""Loops linked with rules: the same by both backends, and compiled once for all processes."""

from __future__ import annotations

import ast
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import loops_perft
import loops_same_names
import numpy as np
import pytest
from variants import HERE, make

import boardenvs
from boardenvs.game.state import unstack
from boardenvs.kernel import set_backend
from boardenvs.kernel.link import array_for_loops, link
from boardenvs.search import Limits, engine, trees
from boardenvs.search.memory import node_width, node_words, words

SEARCH = [*engine.LOOPS, *(s for s in trees.LOOPS if s not in engine.LOOPS)]


def constants(name: str, **others: int) -> dict[str, int]:
    planes = make(name).action_planes
    return {"WORDS": planes + 1, "OVER": planes + 3, "WIDTH": node_width(make(name)), **others}


def linked(name: str, sources: list[ModuleType], **others: int):
    rules = make(name).kernels
    kernels = {"advance": rules.advance, "sample": rules.sample}
    return link(sources, kernels, constants(name, **others))


def test_loops_play_by_the_rules(backend: str) -> None:
    name = "wolf_and_sheep"
    game = make(name)
    loops = linked(name, [loops_perft])
    roots = array_for_loops(node_words(game.init(2)))
    assert [loops.perft(roots, 1, depth) for depth in range(5)] == [1, 2, 14, 56, 344]
    assert linked(name, [loops_perft], BONUS=1000).perft(roots, 0, 2) == 1014
    assert loops.bits_of((1 << 62) + 5) == 3
    nodes = words(200 * node_width(game))
    nodes[: node_width(game)] = roots[: node_width(game)]
    played = loops.walk(nodes, 12345, 200)
    assert 5 < played < 200
    table = np.asarray(nodes).reshape(200, -1)[:played]
    assert table[:, -1].tolist() == [0] * (played - 1) + [1]
    state = game.init(1)
    for before, after in itertools.pairwise(table):
        assert before.tolist() == node_words(state).tolist()
        position = unstack(state)[0]
        following = [game.next(position, action) for action in position.legal_actions()]
        actions = [p[:2] for p in following]
        assert tuple(after[:2].tolist()) in actions
        chosen = position.legal_actions()[actions.index(tuple(after[:2].tolist()))]
        state = game.step(state, np.array([chosen]))


def test_names_are_defined_once() -> None:
    with pytest.raises(ValueError, match="loops_perft and loops_same_names both define 'walk'"):
        linked("wolf_and_sheep", [loops_perft, loops_same_names])


def functions(sources: list[ModuleType]) -> dict[str, ast.FunctionDef]:
    trees_of = (ast.parse(Path(str(source.__file__)).read_text()) for source in sources)
    return {f.name: f for tree in trees_of for f in tree.body if isinstance(f, ast.FunctionDef)}


def calls(function: ast.FunctionDef) -> list[ast.Call]:
    return [node for node in ast.walk(function) if isinstance(node, ast.Call)]


def test_recursive_loops_are_not_called_with_bare_numbers() -> None:
    """Numba would compile them once more for each such number, and crash with the cached pair:
    https://github.com/numba/numba/issues/6061.
    """
    known = functions(SEARCH)

    def name_of(call: ast.Call) -> str | None:
        return call.func.id if isinstance(call.func, ast.Name) else None

    recursive = {name for name, f in known.items() if name in map(name_of, calls(f))}
    assert recursive == {"search", "solve", "solve_shallow"}
    for function in known.values():
        for call in calls(function):
            if name_of(call) in recursive:
                for argument in call.args:
                    bare = argument.operand if isinstance(argument, ast.UnaryOp) else argument
                    assert not isinstance(bare, ast.Constant), ast.unparse(call)
                    # A constant of the module is as bare as a number.
                    assert not (isinstance(bare, ast.Name) and bare.id.isupper()), ast.unparse(call)


# Links the small module, searches Wolf and Sheep, and says what had to be compiled for the first.
SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
import test_link
print(json.dumps(test_link.perft_and_search(sys.argv[2] == "search")))
"""


def perft_and_search(with_search: bool) -> dict[str, list[int]]:
    game = make("wolf_and_sheep")
    small = linked("wolf_and_sheep", [loops_perft])
    results = [small.perft(node_words(game.init(1)), 0, 4)]
    if with_search:
        seeds = np.ones(1, np.uint64)
        found = engine.engine_for(game).search(game.init(1), seeds, Limits(6))
        results += [int(found.value[0]), int(found.nodes[0])]
    return {
        "results": results,
        "compiled": [sum(small.perft.stats.cache_misses.values())],
        "loaded": [sum(small.perft.stats.cache_hits.values())],
        "signatures": [len(small.count.nopython_signatures)],
    }


def in_a_process(what: str, **variables: str) -> dict[str, list[int]]:
    path = str(Path(boardenvs.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(HERE), what],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"BOARDENVS_BACKEND": "numba", "PYTHONPATH": path} | variables,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, list[int]] = json.loads(done.stdout)
    return answer


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    first, second = (in_a_process("perft", BOARDENVS_CACHE=str(tmp_path)) for _ in range(2))
    assert first["compiled"] == [1]
    assert first["signatures"] == [1]  # of the function that calls itself
    assert (second["compiled"], second["loaded"]) == ([0], [1])
    assert second["results"] == first["results"] == [344]


def test_search_runs_from_what_another_process_compiled() -> None:
    pytest.importorskip("numba")
    set_backend("numba")
    assert in_a_process("search")["results"] == perft_and_search(True)["results"]


@pytest.fixture(autouse=True)
def default_backend():
    yield
    set_backend(None)
