"""Print the speed of this checkout as a ratio to that of another commit, by default of the last tag
or, without one, of the commit before.

    .venv/bin/python .ci/speed.py [COMMIT [GAME ...]]

`vec_env` of 4,096 boards, both versions in turn, the best of nine rounds of each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT, ROUNDS = Path(__file__).parents[1], 9
# A line for each one that comes in: the CPU seconds of a hundred plies on all boards.
PLAY = """
import sys, time
sys.path.insert(0, sys.argv[1])
import boardenvs, numpy as np
assert boardenvs.__file__.startswith(sys.argv[1]), boardenvs.__file__
envs, rng = boardenvs.vec_env(sys.argv[2], 4096), np.random.default_rng(0)
_, info = envs.reset(seed=0)
for _ in sys.stdin:
    seconds = 0.0
    for _ in range(100):
        mask = info["action_mask"]
        actions = (rng.random(mask.shape, np.float32) * mask).argmax(1)
        began = time.process_time()
        *_, info = envs.step(actions)
        seconds += time.process_time() - began
    print(seconds, flush=True)
"""


def main(commit: str | None, games: list[str]) -> None:
    """Compare games with a commit, and print a line for each."""
    commit = commit or git("describe", "--tags", "--abbrev=0") or "HEAD~1"
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit, "boardenvs"], cwd=ROOT, capture_output=True
        )
        if archive.returncode:
            print(f"{commit} is not in this checkout: speed is not compared")
            return
        subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)
        for game in games:
            compare(commit, folder, game)


def compare(commit: str, folder: str, game: str) -> None:
    players = [start(path, game) for path in (folder, str(ROOT))]
    rounds = [[seconds(player) for player in players] for _ in range(ROUNDS + 1)][1:]
    for player in players:
        player.communicate()
    old, new = (min(column) for column in zip(*rounds, strict=True))
    rate = 100 * 4096 / new / 1e6
    print(f"{game}, vec_env: {rate:.2f} M plies a CPU second, {old / new:.2f} times {commit}'s")


def start(folder: str, game: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-c", PLAY, folder, game]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": ""}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd="/", env=environment, stdin=pipe, stdout=pipe, text=True)


def seconds(player: subprocess.Popen[str]) -> float:
    player.stdin.write("\n")
    player.stdin.flush()
    return float(player.stdout.readline())


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else None, sys.argv[2:] or ["othello"])
