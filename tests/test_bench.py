"""The benchmark: that it runs and what it writes. Its figures are nobody's to test."""

import json
import subprocess
import sys

import numpy as np
import pytest
from rich.progress import Progress

from boardenvs.bench.measure import Measurement, measure
from boardenvs.bench.peers import peers
from boardenvs.bench.report import ratio
from boardenvs.bench.search import searches
from boardenvs.bench.workloads import Workload, workloads
from boardenvs.games import make
from boardenvs.kernel import set_backend


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "boardenvs.bench", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_tables_figures_and_pictures(tmp_path):
    """Of any game that a text can name."""
    result = run(
        *("--games", "othello:holes=1", "--sizes", 1, 8, "--backends", "numpy", "--rounds", 2),
        *("--seconds", 0.01, "--placements", 3, "--no-peers", "--out", tmp_path),
    )
    assert result.returncode == 0, result.stderr
    for word in ("raw_env", "kernel", "vec_env", "SB3 VecEnv", "Bytes a board", "exact end"):
        assert word in result.stdout
    document = json.loads((tmp_path / "bench.json").read_text())
    rows = document["results"]
    assert {row["game"] for row in rows} == {"othello:holes=1"}
    assert {(r["interface"], r["boards"]) for r in rows} == {
        *(("raw_env", 1), ("env", 1)),
        *((name, size) for name in ("kernel", "vec_env", "SB3 VecEnv") for size in (1, 8)),
    }
    for row in rows:
        assert len(row["plies_per_cpu_second"]) == 2
        assert row["median"] == np.median(row["plies_per_cpu_second"])
    assert {(r["search"], r["positions"], r["unit"]) for r in document["search"]} == {
        ("alpha-beta", 1, "nodes"),
        ("exact end", 1, "nodes"),
        ("MCTS", 1, "rollouts"),
        ("MCTS", 64, "rollouts"),
    }
    for row in document["search"]:
        assert len(row["per_cpu_second"]) == 2
        assert row["median"] == np.median(row["per_cpu_second"])
    for row in document["placements"]:
        assert len(row["ns_a_board"]) == 3
        assert row["slowest_to_median"] == max(row["ns_a_board"]) / row["median"] >= 1
    rules = {row["rule"] for row in document["placements"]}
    assert rules >= {"advance", "transition", "sample", "begin", "points", "planes", "observe"}
    assert document["versions"]["numpy"] == np.__version__
    assert (tmp_path / "othello_holes_1.png").read_bytes().startswith(b"\x89PNG")
    assert {p.name for p in tmp_path.iterdir()} == {"bench.json", "othello_holes_1.png"}


def test_wrong_input_is_named(tmp_path):
    assert "Did you mean 'othello'" in run("--games", "otello").stderr
    assert "numpi" in run("--backends", "numpi").stderr


def test_our_workloads_count_what_they_play():
    """One ply a board in a batch; whole games, and so some more than asked for, on one board."""
    for workload in workloads([make("othello")], [16], ["numpy"]):
        count = workload.start()()
        assert count == 16 if workload.boards == 16 else 300 <= count < 300 + 70


def test_searches_count_what_they_search():
    games = [make("lines_of_action"), make("wolf_and_sheep")]
    found = list(searches(games, ["numpy"]))
    assert {w.game for w in found} == {"lines_of_action"}
    set_backend("numpy")
    counts = {(w.interface, w.boards): w.start()() for w in found}
    set_backend(None)
    assert counts["MCTS", 1] == 100
    assert counts["MCTS", 64] == 640
    assert 2000 <= counts["alpha-beta", 1] < 2000 + 80**2  # the limit, and a look ahead
    assert len({w.name for w in found}) == len(found) == 3


@pytest.mark.parametrize("library", ["OpenSpiel", "PettingZoo"])
def test_peers_play(library):
    pytest.importorskip({"OpenSpiel": "pyspiel", "PettingZoo": "pygame"}[library])
    found = [w for w in peers([16]) if w.library == library]
    assert found
    results, errors = measure(found, 1, 0.01, Progress(disable=True))
    assert not errors
    assert all(r.median > 0 for r in results)


def test_a_peer_that_fails_is_reported_and_an_own_failure_raised():
    def broken():
        raise RuntimeError("no such thing")

    peer, own = (
        Workload(library, "othello", "x", 1, None, broken) for library in ("X", "boardenvs")
    )
    results, errors = measure([peer], 1, 0.01, Progress(disable=True))
    assert not results
    assert errors == {peer.name: "RuntimeError: no such thing"}
    with pytest.raises(RuntimeError):
        measure([own], 1, 0.01, Progress(disable=True))


def test_ratios_take_the_right_yardstick():
    def result(library, game, interface, speed):
        return Measurement(Workload(library, game, interface, 1, None, lambda: lambda: 1), [speed])

    results = [
        result("OpenSpiel", "othello", "State loop", 10),
        result("OpenSpiel", "lines_of_action", "State loop", 5),
        result("PettingZoo", "connect_four", "env", 2),
        othello := result("boardenvs", "othello", "vec_env", 100),
        wolf := result("boardenvs", "wolf_and_sheep", "kernel", 50),
        lines := result("boardenvs", "lines_of_action", "vec_env", 50),
        single := result("boardenvs", "reversi", "env", 6),
        alone := result("boardenvs", "reversi", "raw_env", 6),
    ]
    ours = (othello, wolf, lines, single, alone)
    assert [ratio(r, results) for r in ours] == [10, 5, 10, 3, None]
