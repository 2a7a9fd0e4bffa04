"""The benchmark: that it runs and what it writes. Its numbers are nobody's to test."""

import json
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from rich.progress import Progress

from boardenvs.bench import __main__ as bench
from boardenvs.bench.measure import Measurement, Workload, measure
from boardenvs.bench.report import ratio
from boardenvs.bench.workloads import ours, peers, searches
from boardenvs.games import make

QUIET = Progress(disable=True)


def test_tables_results_and_pictures(tmp_path, monkeypatch, capsys):
    """Of any game that a text can name."""
    words = [
        *("--games", "othello:holes=1", "--sizes", 1, "--sizes", 8, "--backends", "numpy"),
        *("--rounds", 2, "--seconds", 0.01, "--placements", 3, "--no-peers", "--out", tmp_path),
    ]
    monkeypatch.setattr(bench, "pin_to_one_core", lambda: False)
    bench.main(list(map(str, words)))
    shown = capsys.readouterr().out
    assert "Bytes a board" in shown
    assert "Single rules" in shown
    document = json.loads((tmp_path / "bench.json").read_text())
    rows = document["results"]
    assert {row["game"] for row in rows} == {"othello:holes=1"}
    assert {(r["interface"], r["boards"], r["unit"]) for r in rows} == {
        *(("raw_env", 1, "plies"), ("env", 1, "plies")),
        *((name, n, "plies") for name in ("kernel", "vec_env", "SB3 VecEnv") for n in (1, 8)),
        *(("alpha-beta", 1, "nodes"), ("exact end", 1, "nodes")),
        *(("MCTS", trees, "simulations") for trees in (1, 64)),
    }
    for row in rows:
        assert len(row["per_cpu_second"]) == len(row["per_wall_second"]) == 2
        assert row["median"] == np.median(row["per_cpu_second"]) > 0
    for row in document["placements"]:
        assert len(row["nanoseconds"]) == 3
        assert row["slowest_to_median"] == max(row["nanoseconds"]) / row["median"] >= 1
    assert {"step_batch", "observe"} < {row["rule"] for row in document["placements"]}
    assert set(document["bytes_per_board"]["othello:holes=1"]) == {"state", "step", "vec_env step"}
    assert document["versions"]["numpy"] == np.__version__
    assert {p.name for p in tmp_path.iterdir()} == {"bench.json", "othello_holes_1.png"}


def test_workloads_count_what_they_do(in_python):
    """One ply a board in a batch; whole games, and so some more than asked for, on one board; nodes
    and simulations of searches, which games with a table of all positions have none of.
    """
    games = [make("lines_of_action"), make("wolf_and_sheep")]
    found = [*ours(games[:1], [16], ["numpy"]), *searches(games, ["numpy"])]
    counts = {(w.interface, w.boards): w.start()() for w in found}
    assert {w.game for w in found} == {"lines_of_action"}
    assert len({w.name for w in found}) == len(found) == len(counts)
    for (interface, boards), count in counts.items():
        if interface in ("raw_env", "env"):
            assert 300 <= count < 300 + 70
        elif interface == "alpha-beta":
            assert 2000 <= count < 2000 + 80**2  # the limit, and a look ahead
        else:
            assert count == {("MCTS", 1): 100, ("MCTS", 64): 640}.get((interface, boards), 16)


@pytest.mark.parametrize(
    ("library", "module"), [("OpenSpiel", "pyspiel"), ("PettingZoo", "pygame")]
)
def test_peers_play(library, module):
    found = [w for w in peers([make("lines_of_action")], [16]) if w.library == library]
    assert bool(found) == bool(find_spec(module))
    results, errors = measure(found, 1, 0.01, QUIET)
    assert not errors
    assert all(r.median > 0 for r in results)


def test_a_peer_that_fails_is_reported_and_an_own_failure_raised():
    def broken():
        raise RuntimeError("no such thing")

    peer = Workload("X", "othello", "x", 1, None, broken)
    assert measure([peer], 1, 0.01, QUIET) == ([], {peer.name: "RuntimeError: no such thing"})
    with pytest.raises(RuntimeError):
        measure([replace(peer, library="boardenvs")], 1, 0.01, QUIET)


def test_ratios_take_the_right_counterpart():
    rows = [
        ("OpenSpiel", "othello", "State loop", 10, "plies", None),
        ("OpenSpiel", "lines_of_action", "State loop", 5, "plies", None),
        ("PettingZoo", "connect_four", "env", 2, "plies", None),
        ("Pgx", "othello", "pgx.Env, mask sampler", 4, "plies", None),
        ("Pgx", "othello", "pgx.Env, Pgx's sampler", 3, "plies", None),
        ("Pgx", "othello", "PPO", 1, "steps", None),
        ("boardenvs", "othello", "vec_env", 100, "plies", 10),
        ("boardenvs", "wolf_and_sheep", "kernel", 50, "plies", 5),
        ("boardenvs", "lines_of_action", "vec_env", 50, "plies", 10),
        ("boardenvs", "reversi", "env", 6, "plies", 3),
        ("boardenvs", "reversi", "raw_env", 6, "plies", None),
        ("boardenvs", "othello", "play", 8, "plies", 2),
        ("boardenvs", "reversi", "play", 8, "plies", None),
        ("boardenvs", "othello", "PPO", 8, "steps", 8),
        ("boardenvs", "othello", "alpha-beta", 8, "nodes", None),
    ]
    results = [
        Measurement(Workload(*which, 1, None, int, unit), cpu=[speed])
        for *which, speed, unit, _ in rows
    ]
    own = [(r, row[-1]) for r, row in zip(results, rows, strict=True) if row[0] == "boardenvs"]
    assert [ratio(r, results) for r, _ in own] == [times for _, times in own]
