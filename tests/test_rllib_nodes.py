"""Contests on two nodes of a Ray cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray", reason="Ray is not installed here: make rllib")

from command_line import run
from ray.cluster_utils import Cluster

import boardenvs
from boardenvs.arena import Entrant, Pairing, make_settings, run_tournament
from boardenvs.arena.executor import HERE as THIS_PROCESS
from boardenvs.arena.executor import Executor
from boardenvs.arena.pairing import play_in_parts
from boardenvs.arena.tournament import JOURNAL
from boardenvs.game.errors import StopPlayError

HERE = Path(__file__).parent
NODES = {"head": "127.0.0.2", "first": "127.0.0.3", "last": "127.0.0.4"}
OTHER_VERSION = "raise ImportError('boardenvs of another version')\n"

pytestmark = pytest.mark.usefixtures("in_python")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A head without a core, and a node with one; another boardenvs comes first on both."""
    folder = tmp_path_factory.mktemp("nodes")
    (folder / "boardenvs").mkdir()
    (folder / "boardenvs" / "__init__.py").write_text(OTHER_VERSION)
    (folder / "log").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder, HERE))))
        patch.setenv("ARENA_TEST_LOG", str(folder / "log"))
        patch.setenv("RAY_enable_worker_prestart", "0")  # of workers that no test needs
        patch.setenv("RAY_prestart_worker_first_driver", "0")
        found = Cluster()
        found.folder = folder
        add_node(found, "head", 0, include_dashboard=False)
        add_node(found, "first", 1)
        yield found
        found.shutdown()


def add_node(cluster: Any, name: str, cores: int, **options: Any) -> Any:
    return cluster.add_node(
        num_cpus=cores,
        node_ip_address=NODES[name],
        object_store_memory=80_000_000,
        env_vars={"ARENA_TEST_NODE": name, "ARENA_TEST_PIDS": str(cluster.folder / "pids")},
        **options,
    )


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 200
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def results(folder: Path) -> list[Any]:
    """A tournament's results so far, as players, games and openings."""
    found = [json.loads(line) for line in (folder / JOURNAL).read_text().splitlines()[1:]]
    names = "first", "second", "games", "openings", "void"
    return sorted([result.get(name) for name in names] for result in found)


def start_arena(out: Path, address: str, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "boardenvs", "arena", "--game", "reversi", "--pairs", "1",
         "--opening-plies", "2", "4", "--address", address, "--out", str(out), *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (HERE.parent, HERE)))},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def test_a_tournament_has_the_results_of_processes_though_a_node_and_a_player_die(
    cluster: Any, tmp_path: Path
) -> None:
    """The node costs nobody a game; the games of a player that ends its process are void."""
    entrants, log = ["random", "python:arena_agents:on_nodes"], cluster.folder / "log"
    settings = make_settings(entrants, ["reversi"], pairs=1, opening_plies=(2, 4))
    run_tournament(settings, tmp_path / "here", workers=0)
    last, out = add_node(cluster, "last", 1), tmp_path / "out"
    process = start_arena(out, cluster.address, *entrants, "python:arena_agents:dying")
    wait_for(lambda: process.poll() is not None or "last" in log.read_text())
    cluster.remove_node(last, allow_graceful=False)
    output, _ = process.communicate()
    assert "report, results and pictures are in" in output
    whole = [result for result in results(out) if result[-1] is None]
    assert whole == results(tmp_path / "here")
    assert len(results(out)) == 3
    assert set(log.read_text().split()) == {"first", "last"}


def test_ctrl_c_ends_all_of_it_and_the_rest_is_played_in_processes(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, pids, waiting = tmp_path / "out", cluster.folder / "pids", "python:arena_agents:waiting"
    process = start_arena(out, cluster.address, "random", waiting)
    wait_for(lambda: process.poll() is not None or (pids.exists() and pids.read_text() != ""))
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate()
    assert process.returncode == 130, output
    go_on = f"boardenvs arena --resume --out {out} --address {cluster.address} --trust\n"
    assert output.endswith(f"interrupted; go on with: {go_on}")
    assert "Traceback" not in output
    pid = pids.read_text().strip()
    wait_for(lambda: not Path(f"/proc/{pid}").exists())
    run("arena", "--resume", "--trust", "--out", out, "--workers", 1)
    assert len(results(out)) == 1


def test_matches_are_those_of_this_process(cluster: Any) -> None:
    """And a player that cannot be made there ends the contest, as its files may be missing."""
    game = boardenvs.games.make("othello")
    greedy, random = (Entrant(name, name) for name in ("greedy", "random"))
    missing = Entrant("missing", "python:arena_agents:only_here")
    pairing = Pairing("othello", game, greedy, random, 3, (4, 8), 1)
    expected = play_in_parts(pairing, THIS_PROCESS)
    with Executor(address=cluster.address) as executor:
        found = play_in_parts(pairing, executor)
        assert np.array_equal(found.actions, expected.actions)  # type: ignore[arg-type]
        pairing = Pairing("othello", game, missing, random, 1, (4, 8), 1)
        with pytest.raises(StopPlayError, match=r"missing cannot be made on .*no weights here"):
            play_in_parts(pairing, executor)


@pytest.mark.parametrize("words", [["match", "othello", "random", "greedy"], ["arena"]])
def test_an_address_where_nothing_listens_is_named(words: list[str], tmp_path: Path) -> None:
    for address in ("127.0.0.1:1", "ray://127.0.0.1:1"):
        out = ["--out", tmp_path / address[:3]] * (words == ["arena"])
        assert f"nothing listens at {address}" in run(*words, *out, "--address", address, code=2)
