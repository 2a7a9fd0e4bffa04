"""Retrograde analysis on small graphs, and what becomes of the file that keeps its result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from variants import make

from boardenvs.game.state import IntArray
from boardenvs.games import WolfAndSheep
from boardenvs.tablebase import Tablebase, build, table
from boardenvs.tablebase.numbering import CHUNKS
from boardenvs.tablebase.retrograde import solve
from boardenvs.utils.cache import cache_folder

Graph: TypeAlias = tuple[list[int], list[set[int]]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Ends, 1 or -1 or 0, and the successors of each position; cycles are allowed."""
    size = draw(st.integers(1, 12))
    ends = draw(st.lists(st.sampled_from([0, 0, 0, 1, -1]), min_size=size, max_size=size))
    some = st.sets(st.integers(0, size - 1), min_size=1, max_size=4)
    return ends, [set() if end else draw(some) for end in ends]


def outcomes(graph: Graph, plies: int) -> list[tuple[int, int]]:
    """By minimax, what can be forced within so many plies: 1, -1 or 0, and when."""
    ends, successors = graph
    known = [(end, 0) for end in ends]
    for _ in range(plies):
        known = [
            (end, 0) if end else best([known[s] for s in successors[position]])
            for position, end in enumerate(ends)
        ]
    return known


def best(replies: list[tuple[int, int]]) -> tuple[int, int]:
    wins = [when for value, when in replies if value == -1]
    if wins:
        return 1, 1 + min(wins)
    if any(value == 0 for value, _ in replies):
        return 0, 0
    return -1, 1 + max(when for _, when in replies)


@given(graph=graphs())
def test_graphs_are_solved_as_by_minimax(graph: Graph) -> None:
    """With cycles, and positions from which neither side can force an end."""
    ends, successors = graph
    edges = [(source, target) for source, after in enumerate(successors) for target in after]
    sources, targets = np.array(edges, np.int32).reshape(-1, 2).T
    codes = solve(np.array(ends, np.int8), sources, targets)
    # What can be forced at all can be forced in fewer plies than there are positions.
    expected = outcomes(graph, len(ends) + 1)
    assert [(int(np.sign(c)), max(abs(int(c)) - 1, 0)) for c in codes] == expected


def test_the_order_of_moves_does_not_matter_and_progress_is_told() -> None:
    # 3 -> 2 -> 1 -> 0, where the side to move has lost; and 4 <-> 5.
    sources, targets = np.array([3, 5, 1, 4, 2]), np.array([2, 4, 0, 5, 1])
    told: list[tuple[str, int, int]] = []
    codes = solve(
        np.array([-1, 0, 0, 0, 0, 0], np.int8), sources, targets, lambda *x: told.append(x)
    )
    assert codes.tolist() == [-1, 2, -3, 4, 0, 0]
    done = [x[1] for x in told]
    assert done[0] == 0
    assert done == sorted(done)
    assert done[-1] == 3
    assert {x[2] for x in told} == {5}


# ---- the file ----------------------------------------------------------------------------------

CODES = np.array([0, 1, -1, 44, -45, 32767], np.int16)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a.tablebase"
    assert build.read(path, "key") is None
    build.write(path, "key", CODES)
    codes = build.read(path, "key")
    assert codes is not None
    assert codes.dtype == np.int16
    np.testing.assert_array_equal(codes, CODES)
    assert [p.name for p in path.parent.iterdir()] == [path.name]  # nothing is left aside


def flip_a_bit(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:20],
        lambda content: content[:-1],
        lambda content: content + b"\0",
        flip_a_bit,
        lambda content: content.split(b"\n", 1)[1],
        lambda content: b"\xff" * len(content),
    ],
)
def test_a_torn_file_is_not_trusted(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "a.tablebase"
    build.write(path, "key", CODES)
    content = path.read_bytes()
    assert damage(content) != content
    path.write_bytes(damage(content))
    assert build.read(path, "key") is None


def test_a_file_of_other_rules_or_of_another_format_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tablebase"
    build.write(path, "key", CODES)
    assert build.read(path, "other") is None
    monkeypatch.setattr(build, "FORMAT", build.FORMAT + 1)
    assert build.read(path, "key") is None


@pytest.fixture
def game() -> WolfAndSheep:
    game = make("wolf_and_sheep")
    assert isinstance(game, WolfAndSheep)
    return game


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """An empty cache folder, and a solver that is quick and notes when it is called."""
    calls: list[str] = []

    def solve_all(game: WolfAndSheep, report: object = None) -> IntArray:
        calls.append(game.rules)
        return CODES

    monkeypatch.setattr(build, "solve_all", solve_all)
    monkeypatch.setenv("BOARDENVS_CACHE", str(tmp_path / "cache"))
    return calls


def test_it_is_solved_once_for_all_processes(game: WolfAndSheep, solved: list[str]) -> None:
    for _ in range(3):
        np.testing.assert_array_equal(build.read_or_solve(game), CODES)
    assert solved == ["classic"]
    described = make("wolf_and_sheep_described")
    assert isinstance(described, WolfAndSheep)
    build.read_or_solve(described)
    build.read_or_solve(game)
    assert solved == ["classic", "described"]
    (path, _) = sorted(cache_folder().glob("*.tablebase"))
    path.write_bytes(path.read_bytes()[:-3])
    for _ in range(2):
        np.testing.assert_array_equal(build.read_or_solve(game), CODES)
    assert solved == ["classic", "described", "classic"]


def test_changed_rules_are_solved_anew(
    game: WolfAndSheep, solved: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    build.read_or_solve(game)
    monkeypatch.setattr("inspect.getsource", lambda module: "other rules")
    build.read_or_solve(game)
    assert solved == ["classic", "classic"]


def test_a_folder_that_cannot_be_written_does_no_harm(
    game: WolfAndSheep, solved: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BOARDENVS_CACHE", str(tmp_path / "file" / "folder"))
    with pytest.warns(UserWarning, match="BOARDENVS_CACHE"):
        np.testing.assert_array_equal(build.read_or_solve(game), CODES)
    np.testing.assert_array_equal(build.read_or_solve(game), CODES)
    assert solved == ["classic"]  # the process keeps it in a folder of its own


def test_one_table_serves_all_caps(monkeypatch: pytest.MonkeyPatch, solved: list[str]) -> None:
    monkeypatch.setattr(table, "_loaded", {})
    for max_plies in (200, 10, None):
        Tablebase.load(WolfAndSheep(max_plies=max_plies))
    assert solved == ["classic"]


def test_solving_anew_gives_the_table_that_is_kept(game: WolfAndSheep) -> None:
    """Else the kept one is of older code, and `build.FORMAT` should have been raised."""
    told: list[tuple[str, int, int]] = []
    codes = build.solve_all(game, lambda *x: told.append(x))
    np.testing.assert_array_equal(codes, build.read_or_solve(game))
    assert [x for x in told if x[0] == "moves found"] == [
        ("moves found", done, len(CHUNKS)) for done in range(1, len(CHUNKS) + 1)
    ]
    assert told[-1][0] == "positions solved"
