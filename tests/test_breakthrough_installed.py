"""Breakthrough as a package: installed, every way of using a game is there, with no change here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from variants import HERE, PACKAGE

ROOT = HERE.parent

# Some tests of all games, which an installed one joins.
SUITE = ("agents", "interfaces", "properties", "render", "vector")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the package is installed in."""
    folder = tmp_path_factory.mktemp("installed")
    source = folder / "source"  # building writes beside what is built
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    options = ["--no-build-isolation", "--target", str(folder / "site"), str(source)]
    subprocess.run([*pip, *options], check=True)
    return folder / "site"


def run(folder: Path, *words: object, path: Path = ROOT) -> str:
    """What Python prints, started in this folder."""
    before = os.environ.get("PYTHONPATH", "")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(path), str(ROOT), before]),
        "COLUMNS": "160",
    }
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tests_of_all_games_run_over_it(site: Path) -> None:
    files = [HERE / f"test_{name}.py" for name in SUITE]
    words = ["-m", "pytest", "-x", "-rp", "-p", "no:cacheprovider", "-k", "breakthrough"]
    printed = run(ROOT, *words, *files, path=site)
    for name in SUITE:
        assert f"PASSED tests/test_{name}.py::" in printed


def test_commands(site: Path, tmp_path: Path) -> None:
    def boardenvs(*words: object) -> str:
        return run(tmp_path, "-m", "boardenvs", *words, path=site)

    assert "breakthrough" in boardenvs("games")
    assert "Reach the opponent's home rank" in boardenvs("games", "breakthrough")
    boardenvs("match", "breakthrough", "greedy", "random", "--pairs", 1, "--record", "games.jsonl")
    assert "breakthrough" in boardenvs("records", "games.jsonl")
    position = "8/8/8/8/b6w/8/8/8 black 30"
    assert "wins in 5 plies" in boardenvs("analyse", "breakthrough", position, "--prove")


REGISTRIES = """
import gymnasium
from pettingzoo.env_registry import registration

import boardenvs

for kind in ("aec", "parallel"):
    print(registration.make(kind, "boardenvs/breakthrough-v0").possible_agents)
one = gymnasium.make("boardenvs/Breakthrough-v0", opponent="greedy")
print(one.reset(seed=1)[0].shape)
many = gymnasium.make_vec(
    "boardenvs/Breakthrough-v0", 3, vectorization_mode="vector_entry_point"
)
print(many.reset(seed=1)[0].shape)
"""

POLICIES = """
import sys
import numpy as np
from boardenvs import games, make_agent
from boardenvs.agents.policy_file import load_policy

assert "boardenvs_breakthrough" not in sys.modules
policy = load_policy("policy.npz")
print(games.spec_of(policy.game), "boardenvs_breakthrough" in sys.modules)
game = games.make("breakthrough")
print(make_agent("policy:policy.npz").act(game, game.init(3), np.random.default_rng(0)).tolist())
"""


def test_gymnasium_and_pettingzoo_know_its_names(site: Path, tmp_path: Path) -> None:
    roles, shapes = ["['black', 'white']"] * 2, ["(8, 8, 3)", "(3, 8, 8, 3)"]
    assert run(tmp_path, "-c", REGISTRIES, path=site).splitlines() == roles + shapes


def test_a_policy_file_names_it(site: Path, tmp_path: Path) -> None:
    save = (
        "from pathlib import Path; from boardenvs import games; "
        "from boardenvs.agents.policy_file import save_policy; "
        "from test_policy import random_policy; "
        "save_policy(random_policy(games.make('breakthrough')), Path('policy.npz'))"
    )
    run(tmp_path, "-c", f"import sys; sys.path.append({str(HERE)!r}); {save}", path=site)
    game, actions = run(tmp_path, "-c", POLICIES, path=site).splitlines()
    assert game == "breakthrough True"
    assert len(set(actions.strip("[]").split(", "))) == 1
