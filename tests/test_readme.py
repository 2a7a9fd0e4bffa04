"""README and guides: examples, links, anchors, pictures, and what they must name."""

import re
import runpy

import pytest
from examples import ROOT, TUTORIALS, guides, readme_examples, run_example, tutorials
from test_examples_long import TRAINING

from boardenvs import games

README = (ROOT / "README.md").read_text(encoding="utf-8")
LINK = re.compile(r'(?:\]\(|<img src=")(?!https?:|mailto:)([^)#"\s]*)(?:#([^)"\s]*))?')


def without_code(path):
    return re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def links(guide):
    """What a guide links to and shows here: the files, or folders without a guide, and anchors."""
    for target, anchor in LINK.findall(without_code(guide)):
        path = (guide.parent / target).resolve() if target else guide
        inner = path / "README.md"
        yield inner if inner.exists() else path, anchor


def anchors(path):
    """The anchors of a page's headings, as GitHub and the site make them."""
    titles = re.findall(r"^#+ (.+)$", without_code(path), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles]


def test_the_readme_takes_a_minute():
    assert len(README.splitlines()) <= 130


def test_examples_run_as_they_stand(tmp_path):
    """Except the second one, the training, which `test_learning.py` runs."""
    game, training, match = readme_examples()
    assert re.search(r"^black (100|50|0)", run_example(game, tmp_path, readme=True), re.MULTILINE)
    printed = run_example(match, tmp_path, readme=True)
    score = r"^(\d\.\d{3}) \[\d\.\d{3}, \d\.\d{3}\] \(\+\d+ =\d+ -\d+\)$"
    assert float(re.search(score, printed, re.MULTILINE)[1]) > 0.5
    assert "learn(" in training.text


@pytest.mark.parametrize("guide", guides(), ids=lambda guide: str(guide.relative_to(ROOT)))
def test_links_anchors_and_pictures_exist(guide):
    for path, anchor in links(guide):
        assert path.exists(), path
        assert path.is_relative_to(ROOT), path
        assert not anchor or anchor in anchors(path), f"{path}#{anchor}"


def test_nothing_is_installed_from_an_index():
    """The package is on none: what people read installs a checkout, or from an address."""
    for path in [*guides(), TUTORIALS / "notebook.ipynb"]:
        text = path.read_text(encoding="utf-8")
        found = re.findall(r"pip install\b[^`\n]*\bboardenvs(?:\[[\w,]+\])?(?![\w\[-]| @ ).*", text)
        assert not found, path


def test_every_game_is_shown():
    for game_id in games.BUILT_IN:
        assert f".images/{game_id}.svg" in README
        assert f"`{game_id}_v0`" in README
    comparison = (ROOT / ".ci/bench/comparison.md").read_text(encoding="utf-8")
    assert f"| Two-player board games | {len(games.BUILT_IN)} |" in comparison


def test_the_pictures_are_those_that_the_project_draws():
    picture = runpy.run_path(str(ROOT / ".ci" / "pictures.py"))["picture"]
    for game_id in games.BUILT_IN:
        assert picture(game_id) == (ROOT / ".images" / f"{game_id}.svg").read_text("utf-8"), game_id


def test_every_guide_can_be_reached():
    """From README, by links from guide to guide."""
    reached, new = set(), [ROOT / "README.md"]
    while new:
        guide = new.pop()
        reached.add(guide)
        new += [path for path, _ in links(guide) if path.suffix == ".md" and path not in reached]
    assert set(guides()) <= reached


def test_every_tutorial_is_followed():
    others = {"engine.md", "rllib.md"}  # the second one is a program of test_example
    assert {page for page, _ in TRAINING.values()} | others == {p.name for p in tutorials()}


def test_the_commands_are_explained():
    from boardenvs.cli import app

    text = (ROOT / "boardenvs" / "cli" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^boardenvs ([\w-]+)", text, re.MULTILINE))
    assert named == {
        command.name or command.callback.__name__.replace("_", "-")
        for command in app.registered_commands
    }
