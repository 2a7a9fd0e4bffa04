"""What `pip install` brings: the wheel's content, and that a training runs from it alone."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONFIG = """\
game: othello
steps: 1000
self_play: {boards: 32, opening_plies: [0, 20]}
ppo: {hidden: [16], steps_per_update: 32, batch_size: 256}
evaluation: {pairs: 2}
report: {pairs: 2}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel would put among the packages."""
    pytest.importorskip("hatchling", reason="wheels are built with it: pip install '.[test]'")
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_holds_the_packages_and_nothing_else(site: Path) -> None:
    names = {path.name for path in site.iterdir() if path.suffix != ".dist-info"}
    assert names == {"boardenvs", "training"}
    tracked = subprocess.run(
        ["git", "ls-files", "boardenvs", "training"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.split()  # fmt: skip
    if not tracked:
        pytest.skip("what belongs to the project is known in a checkout only")
    expected = {p for p in tracked if not p.startswith("training/results/")}
    found = {str(p.relative_to(site)) for p in site.rglob("*") if p.is_file()}
    assert {p for p in found if not p.split("/")[0].endswith(".dist-info")} == expected


def test_a_training_runs_from_the_wheel_in_an_empty_folder(site: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(CONFIG)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    where = run("-c", "import boardenvs, training; print(boardenvs.__file__, training.__file__)")
    assert where.stdout.split() == [
        str(site / "boardenvs" / "__init__.py"),
        str(site / "training" / "__init__.py"),
    ]
    finished = run("-m", "training.ppo", "mine.yaml")
    assert finished.returncode == 0, finished.stderr
    assert (tmp_path / "runs" / "mine" / "report.md").is_file()
    missing = run("-m", "training.ppo", "none/there.yaml")
    assert missing.returncode == 2
    assert "unknown configuration file 'none/there.yaml'" in missing.stderr
    assert "game: othello" in missing.stderr
