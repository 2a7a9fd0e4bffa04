"""The benchmarks run, count what they do, and write their results."""

import itertools
import json
import os
import re
import runpy
from importlib.util import find_spec
from pathlib import Path

from boardenvs import bench
from boardenvs.kernel import set_backend

CI = Path(__file__).parents[1] / ".ci"


def test_the_speed_of_this_machine(monkeypatch, capsys):
    monkeypatch.setattr(bench.measure, "__defaults__", (2, 0.01, bench.time.process_time))
    bench.main(["othello:holes=1", "tictactoe"])
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "plies a CPU second, with numpy:"
    rows = [re.fullmatch(r" *[\d,]+  (\w+)(?::holes=1)?, (\w+).*", line) for line in lines]
    ways = ("rules", "vec_env", "env")
    assert [row.groups() for row in rows] == [*itertools.product(("othello", "tictactoe"), ways)]


def test_work_is_counted_by_the_second_and_all_take_turns():
    clock, order = itertools.count().__next__, []
    slices = [lambda: order.append("a") or 6, lambda: order.append("b") or 10]
    assert bench.measure(slices, 2, 2, clock) == [[3, 3], [5, 5]]
    assert "".join(order) == "aabbaabb"  # one of two at first, for the caches


def test_all_that_the_guides_show(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(CI / "bench")
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: None, raising=False)
    import workloads  # type: ignore[import-not-found]

    few = {"PLIES": 30, "POSITIONS": 2, "NODES": {"numpy": 100}}
    for name, value in {**few, "SIMULATIONS": {"numpy": {1: 10, 64: 2}}}.items():
        monkeypatch.setattr(workloads, name, value)
    main = runpy.run_path(str(CI / "bench/__main__.py"), run_name="bench")["main"]
    main(["othello"], [1, 8], rounds=2, seconds=0.01, out=tmp_path)
    set_backend(None)
    rows = json.loads((tmp_path / "bench.json").read_text())["results"]
    expected = {
        ("boardenvs", "env", 1, "plies"),
        *(("boardenvs", name, n, "plies") for name in ("rules", "vec_env") for n in (1, 8)),
        ("boardenvs", "alpha-beta", 1, "nodes"),
        ("boardenvs", "exact end", 1, "nodes"),
        *(("boardenvs", "MCTS", trees, "simulations") for trees in (1, 64)),
    }
    if find_spec("stable_baselines3"):
        expected |= {("boardenvs", "SB3 VecEnv", n, "plies") for n in (1, 8)}
    if find_spec("pyspiel"):
        expected |= {("OpenSpiel", "State loop", 1, "plies")}
    if find_spec("pygame"):
        expected |= {("PettingZoo", name, 1, "plies") for name in ("raw_env", "env")}
    assert {(r["library"], r["interface"], r["boards"], r["unit"]) for r in rows} == expected
    assert all(len(row["rates"]) == 2 and min(row["rates"]) > 0 for row in rows)
    assert (tmp_path / "bench_othello.png").stat().st_size > 10_000
