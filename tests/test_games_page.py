"""The page that tells how to add a game: its blocks stand in the files of its games, or run."""

from __future__ import annotations

import re
import shlex

import gymnasium
import pytest
from command_line import run
from pettingzoo.env_registry import registration
from variants import HERE, PACKAGE

from boardenvs import games

ROOT = HERE.parent
PAGE = ROOT / "boardenvs" / "games" / "README.md"
BLOCKS = re.findall(
    r"^```(\w+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)
EXAMPLES = [HERE / "sowing.py", HERE / "author_games.py"]
FILES = [*PACKAGE.glob("*.py"), *PAGE.parent.glob("*.py"), *EXAMPLES]
SOURCE = "".join(path.read_text(encoding="utf-8") for path in FILES)


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language]


@pytest.fixture
def registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is registered is forgotten afterwards."""
    for holder, name in (
        (games.GAMES, "_factories"),
        (gymnasium, "registry"),
        (registration, "aec_registry"),
        (registration, "parallel_registry"),
    ):
        monkeypatch.setattr(holder, name, dict(getattr(holder, name)))


@pytest.mark.usefixtures("registries", "in_python")
@pytest.mark.parametrize("block", [block for block in blocks("python") if block not in SOURCE])
def test_code_that_is_not_in_the_file_runs(block: str) -> None:
    exec(block.replace("seed=0)", "seed=0, num_games=1)"), {})


@pytest.mark.usefixtures("in_python")
def test_commands_print_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks("console")
    for part in block.split("$ ")[1:]:
        command, *shown = part.splitlines()
        program, *words = shlex.split(command)
        if program == "boardenvs":
            printed = run(*words)
        else:
            assert (program, words[0]) == ("python", "-c")
            exec(words[1], {})
            printed = capsys.readouterr().out
        assert printed.splitlines()[-len(shown) :] == shown or not shown


def test_the_entry_point_is_the_package_s() -> None:
    """With which the package is installed in test_breakthrough_installed.py."""
    (block,) = blocks("toml")
    assert block in (PACKAGE / "pyproject.toml").read_text(encoding="utf-8")
