"""boardenvs/README.md says what is there: who imports whom, files, and what becomes of a rule."""

import ast
import re
import runpy
from pathlib import Path

import pytest

import boardenvs
from boardenvs.board.bitboard import S, step
from boardenvs.kernel import Kernel, nonzero
from boardenvs.kernel.numba_writer import write_batch

PACKAGE = Path(boardenvs.__file__).parent
SHOW_RULE = Path(__file__).parents[1] / ".ci" / "show_rule.py"
README = (PACKAGE / "README.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```(\S+)\n(.*?)```", README, re.DOTALL))
RANKS = {
    room.strip(): rank
    for rank, rooms in enumerate(BLOCKS["rooms"].split("<"))
    for room in rooms.split(",")
}
TOP = "the public modules"


def room_of(path):
    parts = path.relative_to(PACKAGE).parts
    return TOP if len(parts) == 1 or path.name == "__main__.py" else parts[0]


def imported(path):
    """The names that a module imports from the package, wherever in it and for whatever."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} has a relative import"
            rooms = node.module == "boardenvs"
            names = [f"boardenvs.{a.name}" for a in node.names] if rooms else [str(node.module)]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "boardenvs")


def wrong_imports():
    for path in sorted(PACKAGE.rglob("*.py")):
        room = room_of(path)
        for name in imported(path):
            other = name.partition(".")[2].partition(".")[0]
            if room in (TOP, other):
                continue
            if other not in RANKS or RANKS[other] >= RANKS[room]:
                yield room, name


def test_the_map_has_every_room():
    rooms = {room_of(path) for path in PACKAGE.rglob("*.py")} - {TOP}
    assert rooms == set(RANKS)


def test_imports_run_downwards():
    assert not set(wrong_imports())


def test_files_are_there():
    paths = re.findall(r"`([a-z0-9_/]+(?:\.py|/))`", README)
    assert len(paths) > 15
    for path in paths:
        assert (PACKAGE / path).exists(), path


def blocked():
    """The example, as the page has it."""
    namespace = {"step": step, "S": S, "nonzero": nonzero}
    exec(BLOCKS["python"], namespace)
    return Kernel(namespace["blocked"], 2, "blocked")


@pytest.mark.parametrize("form", ["trace", "python", "numpy", "jax"])
def test_what_becomes_of_the_example(form):
    block = BLOCKS[form if form == "trace" else f"{form}-writer"]
    write_listing = runpy.run_path(str(SHOW_RULE))["write_listing"]
    assert write_listing(blocked(), form) == block


def test_what_numba_gets_of_the_example():
    """All but the beginning that all such files have, which can be written without Numba."""
    kernel = blocked()
    source = write_batch(kernel.program(), kernel.name, kernel.layout)
    assert source.endswith("\n\n" + BLOCKS["numba-writer"])
