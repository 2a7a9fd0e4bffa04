"""The page that tells how to add a game: its blocks stand in Breakthrough's files, or run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from variants import HERE, PACKAGE

from training.config import Config
from training.settings import read_settings

ROOT = HERE.parent
PAGE = ROOT / "boardenvs" / "games" / "README.md"
BLOCKS = re.findall(
    r"^```(\w+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)
SOURCE = (PACKAGE / "boardenvs_breakthrough.py").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language]


def run(*words: str) -> str:
    """What a command prints in the folder of the package, which is not installed."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *words],
        cwd=PACKAGE,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_blocks_of_each_kind() -> None:
    assert {kind for kind, _ in BLOCKS} == {"python", "console", "toml", "yaml"}
    assert sum(block in SOURCE for block in blocks("python")) >= 11


@pytest.mark.parametrize("block", [block for block in blocks("python") if block not in SOURCE])
def test_code_that_is_not_in_the_file_runs(block: str) -> None:
    run("-c", block)


def test_commands_print_what_is_shown() -> None:
    (block,) = blocks("console")
    for part in block.split("$ ")[1:]:
        command, *shown = part.splitlines()
        program, *words = shlex.split(command)
        printed = run(*(["-m", "boardenvs"] if program == "boardenvs" else []), *words)
        assert program in ("boardenvs", "python")
        assert printed.splitlines()[-len(shown) :] == shown or not shown


def test_the_entry_point_is_the_package_s() -> None:
    (block,) = blocks("toml")
    text = (PACKAGE / "pyproject.toml").read_text(encoding="utf-8")
    assert block in text
    (place,) = tomllib.loads(text)["project"]["entry-points"]["boardenvs.games"].values()
    assert place == "boardenvs_breakthrough:Breakthrough"


def test_the_configuration_is_one(tmp_path: Path) -> None:
    (block,) = blocks("yaml")
    settings = yaml.safe_load(block)
    assert settings["game"] == "breakthrough"
    # By its place: it is not installed here.
    settings["game"] = "boardenvs_breakthrough:Breakthrough"
    (tmp_path / "breakthrough.yaml").write_text(yaml.safe_dump(settings))
    assert read_settings(Config, tmp_path / "breakthrough.yaml", trust=True).steps == 500_000
