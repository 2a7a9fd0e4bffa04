"""The benchmark runs, counts plies and nodes, and writes its results."""

import json
from importlib.util import find_spec

import numpy as np
import pytest
from command_line import run
from rich.progress import Progress

from boardenvs.bench.measure import Workload, measure
from boardenvs.bench.workloads import ours, peers, searches
from boardenvs.games import make

QUIET = Progress(disable=True)


def test_tables_results_and_pictures(tmp_path, monkeypatch, in_python):
    assert "--sizes has 0" in run("bench", "--sizes", 0, code=2)
    monkeypatch.setattr("boardenvs.bench.measure.pin_to_one_core", lambda: False)
    given = ("--games", "othello:holes=1", "--sizes", 1, "--sizes", 8, "--rounds", 2)
    assert "medians" in run("bench", *given, "--seconds", 0.01, "--no-peers", "--out", tmp_path)
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
        assert len(row["rates"]) == 2
        assert row["median"] == np.median(row["rates"]) > 0
    assert {p.name for p in tmp_path.iterdir()} == {"bench.json", "othello_holes_1.png"}


def test_workloads_count_what_they_do(in_python):
    """A ply a board in a batch, whole games on one board, and the nodes of searches; games with a
    tablebase have no searches.
    """
    games = [make("lines_of_action"), make("wolf_and_sheep")]
    found = [*ours(games[:1], [16], ["numpy"]), *searches(games, ["numpy"])]
    counts = {(w.interface, w.boards): w.start()() for w in found}
    assert {w.game for w in found} == {"lines_of_action"}
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
    assert not measure(found, 1, 0.01, QUIET)
    assert all(w.median > 0 for w in found)


def test_a_peer_that_fails_is_reported_and_an_own_failure_raised():
    def broken():
        raise RuntimeError("no such thing")

    peer = Workload("X", "othello", "x", 1, None, broken)
    assert measure([peer], 1, 0.01, QUIET) == {peer.name: "RuntimeError: no such thing"}
    peer.library = "boardenvs"
    with pytest.raises(RuntimeError):
        measure([peer], 1, 0.01, QUIET)
