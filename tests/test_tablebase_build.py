"""Retrograde analysis on small graphs, and what becomes of the file that keeps its result."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from placings import CLASSIC, DESCRIBED, game_of

from boardenvs.game.state import IntArray
from boardenvs.games import WolfAndSheep
from boardenvs.tablebase import Tablebase, build, table
from boardenvs.tablebase.numbering import CHUNKS
from boardenvs.utils.cache import cache_folder

Graph: TypeAlias = tuple[list[int], list[tuple[int, int]]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Ends, 1 or -1 or 0, and the moves from each other position; cycles are allowed."""
    size = draw(st.integers(1, 12))
    ends = draw(st.lists(st.sampled_from([0, 0, 0, 1, -1]), min_size=size, max_size=size))
    some = st.sets(st.integers(0, size - 1), min_size=1, max_size=4)
    moves = [(source, to) for source, end in enumerate(ends) if not end for to in draw(some)]
    return ends, draw(st.permutations(moves))


def worths(graph: Graph) -> list[int]:
    """By minimax: 1000 less the plies to a win that can be forced, the same below 0 for a loss,
    else 0.
    """
    ends, moves = graph
    known = [1000 * end for end in ends]
    for _ in range(len(ends) + 1):  # what can be forced takes fewer plies than there are positions
        known = [
            1000 * end or max(np.sign(known[to]) - known[to] for source, to in moves if source == i)
            for i, end in enumerate(ends)
        ]
    return known


@given(graph=graphs())
def test_graphs_are_solved_as_by_minimax(graph: Graph) -> None:
    """With cycles, positions from which neither side can force an end, and moves in any order."""
    ends, moves = graph
    sources, targets = np.array(moves, np.int32).reshape(-1, 2).T
    told: list[int] = []
    codes = build.solve(np.array(ends, np.int8), sources, targets, lambda *x: told.append(x[1]))
    assert (np.sign(codes) * (1001 - abs(codes))).tolist() == worths(graph)
    assert told == sorted(told)
    assert told[0] == 0
    assert told[-1] == np.count_nonzero(codes) - np.count_nonzero(ends)


# ---- the file ----------------------------------------------------------------------------------

CODES = np.array([0, 1, -1, 44, -45, 32767], np.int16)


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


def check(name: str) -> None:
    codes = build.read_or_solve(game_of(name))
    assert codes.dtype == np.int16
    np.testing.assert_array_equal(codes, CODES)


def test_it_is_solved_once_for_all_processes_and_caps(
    solved: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anew where the rules, or the format of the file, have changed."""
    for name in (CLASSIC, CLASSIC, DESCRIBED, CLASSIC, DESCRIBED):
        check(name)
    assert solved == ["classic", "described"]
    monkeypatch.setattr(table, "_loaded", {})
    for max_plies in (200, 10, None):
        Tablebase.load(WolfAndSheep(max_plies=max_plies))
    assert solved == ["classic", "described"]
    monkeypatch.setattr("inspect.getsource", lambda module: "other rules")
    for _ in range(2):
        check(CLASSIC)
    monkeypatch.setattr(build, "FORMAT", build.FORMAT + 1)
    for _ in range(2):
        check(CLASSIC)
    assert solved == ["classic", "described", "classic", "classic"]
    assert {path.suffix for path in cache_folder().iterdir()} == {".tablebase"}


def test_a_torn_file_is_not_trusted(solved: list[str]) -> None:
    check(CLASSIC)
    (path,) = cache_folder().glob("*.tablebase")
    content = path.read_bytes()
    flipped = content[:-1] + bytes([content[-1] ^ 1])
    headless, noise = content.split(b"\n", 1)[1], b"\xff" * len(content)
    torn = (b"", content[:20], content[:-1], content + b"\0", flipped, headless, noise)
    for damaged in torn:
        path.write_bytes(damaged)
        check(CLASSIC)
        assert path.read_bytes() == content
    assert len(solved) == 1 + len(torn)


def test_a_folder_that_cannot_be_written_does_no_harm(
    solved: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BOARDENVS_CACHE", str(tmp_path / "file" / "folder"))
    with pytest.warns(UserWarning, match="BOARDENVS_CACHE"):
        check(CLASSIC)
    check(CLASSIC)
    assert solved == ["classic"]  # the process keeps it in a folder of its own


def test_solving_anew_gives_the_table_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the kept one is of older code, and `build.FORMAT` should have been raised. By the moves
    of a wolf that has come down alone, which prove the last two plies.
    """
    kept, few = build.read_or_solve(game_of(CLASSIC)), [chunk for chunk in CHUNKS if chunk[1] < 16]
    monkeypatch.setattr(build, "CHUNKS", few)
    told: list[tuple[str, int, int]] = []
    codes = build.solve_all(game_of(CLASSIC), lambda *x: told.append(x))
    assert np.count_nonzero(codes) > 10**6
    np.testing.assert_array_equal(codes, kept * (codes != 0))
    chunks = len(few)
    assert told[:chunks] == [("moves found", done, chunks) for done in range(1, chunks + 1)]
    assert {what for what, *_ in told[chunks:]} == {"positions solved"}
