"""Kills by hand: `python tests/rllib_kills.py`, where RLlib is installed; some minutes.

Two nodes are started on loopback addresses and train together. Then a whole node is killed with
-9, then the nodes are stopped; the run is resumed on two new ones. What became of it is printed.
Any Ray of this user on this machine is stopped.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RAY = Path(sys.executable).with_name("ray")
HEAD, SECOND, PORT = "127.0.0.2", "127.0.0.3", 6399
ADDRESS = f"{HEAD}:{PORT}"
PATIENCE = 240  # seconds until something must have happened

SETTINGS = """
game: othello
steps: 50000000
checkpoint_every: 10000
self_play:
  boards: 128
  opponents: {greedy: 0.125}
  pool: {share: 0.25, every: 20000}
ppo: {hidden: [64, 64], steps_per_update: 32, batch_size: 1024}
evaluation: {every: 40000, opponents: [random], pairs: 50}
report: {opponents: [random], pairs: 50}
"""


def main() -> None:
    """Go through all of it; AssertionError where something does not come true."""
    # Nodes of one cluster must have one token.
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(16))
    folder = Path(tempfile.mkdtemp(prefix="rllib_kills_"))
    (folder / "kills.yaml").write_text(SETTINGS)
    print(f"in {folder}")
    try:
        start_nodes()
        run = train(folder)
        two = "ray::BoardEnvRunner"
        wait_for("a run of two runners", lambda: bool(steps(folder)) and len(processes(two)) == 2)
        lose_a_node(folder)
        run.send_signal(signal.SIGINT)
        assert run.wait(PATIENCE) == 130, "the run did not save and stop"
        stop_nodes()
        resume(folder)
    finally:
        stop_nodes()


def lose_a_node(folder: Path) -> None:
    for pid in processes("raylet/raylet", SECOND):
        os.kill(pid, signal.SIGKILL)
    wait_for("a line of the loss", lambda: "1 of 2 env runners have failed" in shown(folder))
    before = steps(folder)[-1]
    wait_for("steps without the node", lambda: steps(folder)[-1] > before)


def resume(folder: Path) -> None:
    """The rest of the run on new nodes, which ends soon."""
    done, names = steps(folder)[-1], pool(folder)
    start_nodes()
    again = train(folder, "--resume", "--set", f"steps={done + 50_000}")
    assert again.wait(PATIENCE) == 0, shown(folder)
    result = json.loads((folder / "runs/kills/result.json").read_text())
    judged = [evaluation["steps"] for evaluation in result["evaluations"]]
    assert judged[0] == 0, judged
    assert judged == sorted(set(judged)), judged
    assert result["steps"] >= done + 50_000
    assert names < pool(folder)
    print(f"resumed at {done:,} steps with {len(names)} opponents, ended at {result['steps']:,}")


def start_nodes() -> None:
    shared = ["--num-cpus=1", "--object-store-memory=200000000"]
    head = ["--head", f"--node-ip-address={HEAD}", f"--port={PORT}", "--include-dashboard=false"]
    second = [f"--address={ADDRESS}", f"--node-ip-address={SECOND}"]
    for which in (head, second):
        subprocess.run([RAY, "start", *which, *shared], check=True, capture_output=True, cwd="/")


def stop_nodes() -> None:
    subprocess.run([RAY, "stop", "--force"], check=False, capture_output=True)


def train(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-u", "-m", "training.rllib", "kills.yaml", "--address", ADDRESS]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    with (folder / "shown.txt").open("ab") as out:
        return subprocess.Popen(
            [*command, *options], cwd=folder, env=environment, stdout=out, stderr=out
        )


def wait_for(what: str, come: Callable[[], bool]) -> None:
    began = time.monotonic()
    while not come():
        assert time.monotonic() < began + PATIENCE, f"{what}: not after {PATIENCE} s"
        time.sleep(0.2)
    print(f"{what}: after {time.monotonic() - began:.1f} s", flush=True)


def shown(folder: Path) -> str:
    return (folder / "shown.txt").read_text(errors="replace")


def steps(folder: Path) -> list[int]:
    """Those of the checkpoints that are there."""
    return sorted(int(p.stem) for p in (folder / "runs/kills/checkpoints").glob("*.ckpt"))


def pool(folder: Path) -> set[str]:
    return {path.name for path in (folder / "runs/kills/pool").iterdir()}


def processes(*texts: str) -> list[int]:
    """Those whose command line has all these texts."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if all(text in line for text in texts):
            found.append(int(path.parent.name))
    return found


if __name__ == "__main__":
    main()
