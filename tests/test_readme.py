"""The README's examples run, and the files and figures that it names are there."""

import re
from pathlib import Path

import pytest

from boardenvs import games

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


def test_examples_run(capsys):
    pytest.importorskip("gymnasium")
    namespace = {}
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        exec(block, namespace)
    printed = capsys.readouterr().out
    assert "44952" in printed
    assert re.search(r"^black (100|50|0)", printed, re.MULTILINE)


def test_links_and_pictures_exist():
    root = Path(__file__).resolve().parents[1]
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    links += re.findall(r'<img src="([^"]+)"', README)
    assert len([link for link in links if link.startswith(".images/")]) > len(games.BUILT_IN)
    for link in links:
        assert (root / link).exists(), link


def test_every_game_is_shown():
    for game_id in games.BUILT_IN:
        assert f".images/{game_id}.svg" in README
        assert f"`{game_id}_v0`" in README


def test_the_map_names_what_is_there():
    package = Path(games.__file__).parents[1]
    tree = README.split("## Find your way")[1].split("```")[1]
    for folder in re.findall(r"^  (\w+)/", tree, re.MULTILINE):
        assert (package / folder).is_dir(), folder
    folders = {p.name for p in package.iterdir() if (p / "__init__.py").exists()}
    assert folders == set(re.findall(r"^  (\w+)/", tree, re.MULTILINE))
