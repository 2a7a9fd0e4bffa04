"""Kills by hand: `python tests/rllib_kills.py`, where RLlib is installed; some minutes.

Two nodes are started on loopback addresses and train together. Then one of them is killed with -9,
and the run goes on without it until it is interrupted. Any Ray of this user on this machine is
stopped.
"""

from __future__ import annotations

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
    saved, out = folder / "runs/kills/checkpoints", folder / "shown.txt"
    (folder / "kills.yaml").write_text(SETTINGS)

    def steps() -> int:
        return max((int(p.stem) for p in saved.glob("*.ckpt")), default=0)

    print(f"in {folder}")
    try:
        start_nodes()
        run = train(folder, out)
        two = "ray::BoardEnvRunner"
        wait_for("a run of two runners", lambda: steps() > 0 and len(processes(two)) == 2)
        for pid in processes("raylet/raylet", SECOND):
            os.kill(pid, signal.SIGKILL)
        lost = "1 of 2 env runners have failed"
        wait_for("a line of the loss", lambda: lost in out.read_text(errors="replace"))
        before = steps()
        wait_for("steps without the node", lambda: steps() > before)
        run.send_signal(signal.SIGINT)
        assert run.wait(PATIENCE) == 130, "the run did not save and stop"
    finally:
        subprocess.run([RAY, "stop", "--force"], check=False, capture_output=True)


def start_nodes() -> None:
    shared = ["--num-cpus=1", "--object-store-memory=200000000"]
    head = ["--head", f"--node-ip-address={HEAD}", f"--port={PORT}", "--include-dashboard=false"]
    second = [f"--address={ADDRESS}", f"--node-ip-address={SECOND}"]
    for which in (head, second):
        subprocess.run([RAY, "start", *which, *shared], check=True, capture_output=True, cwd="/")


def train(folder: Path, shown: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-u", "-m", "training.rllib", "kills.yaml", "--address", ADDRESS]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    with shown.open("wb") as out:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=out)


def wait_for(what: str, come: Callable[[], bool]) -> None:
    began = time.monotonic()
    while not come():
        assert time.monotonic() < began + PATIENCE, f"{what}: not after {PATIENCE} s"
        time.sleep(0.2)
    print(f"{what}: after {time.monotonic() - began:.1f} s", flush=True)


def processes(*texts: str) -> list[int]:
    """Those whose command line has all these texts."""
    listed = subprocess.run(["ps", "-eo", "pid=,args="], check=True, capture_output=True, text=True)
    lines = [line for line in listed.stdout.splitlines() if all(text in line for text in texts)]
    return [int(line.split()[0]) for line in lines]


if __name__ == "__main__":
    main()
