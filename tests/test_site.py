"""The site: it builds without a warning, needs nothing from the web, and all its links lead on."""

import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest
from examples import ROOT

import boardenvs

needs = ["mkdocs", "material", "mkdocstrings_handlers"]
pytestmark = pytest.mark.skipif(
    not all(map(find_spec, needs)), reason="the site's generator is not installed: make docs"
)


class Page(HTMLParser):
    """The anchors of a page, its links, and what a browser loads for it."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.loaded.append(given["src"])
        if tag == "link" and "stylesheet" in given.get("rel", "") + given.get("as", ""):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built anew."""
    work = tmp_path_factory.mktemp("site")
    configuration = work / "build" / "site"
    shutil.copytree(ROOT / ".ci" / "site", configuration)
    pages, out = work / "runs" / "pages", work / "runs" / "site"
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"}
    write = [sys.executable, str(ROOT / ".ci" / "site" / "pages.py"), str(pages)]
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file"]
    for command in (write, [*build, str(configuration / "mkdocs.yml")]):
        shown = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert shown.returncode == 0, shown.stdout + shown.stderr
    return out


@pytest.fixture(scope="module")
def pages(site):
    found = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    return {path: page for path, page in found.items() if path.name != "404.html"}


def test_every_link_and_anchor_leads_somewhere(site, pages):
    broken = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages[target].anchors if target in pages else {""}
            if not target.exists() or (
                parts.fragment and target in pages and unquote(parts.fragment) not in known
            ):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_the_web(site, pages):
    assert [link for page in pages.values() for link in page.loaded if urlsplit(link).scheme] == []


def test_every_public_name_is_explained(site, pages):
    reference = pages[site / "api" / "boardenvs.html"]
    for name in boardenvs.__all__:
        if isinstance(getattr(boardenvs, name), ModuleType):
            assert any(
                link.endswith(f"{name.removesuffix('_v0')}.html") for link in reference.links
            )
        else:
            assert {f"boardenvs.{name}"} <= reference.anchors, name


def test_every_game_has_a_page_with_its_picture(site, pages):
    for game_id in boardenvs.games.BUILT_IN:
        page = pages[site / f"{game_id}.html"]
        assert any(link.endswith(f"{game_id}.svg") for link in page.loaded)
        assert "observation-space" in page.anchors


def test_search_has_an_index(site):
    text = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "observe_with_legal" in text
    assert (site / "search" / "search_index.js").exists()  # for pages opened from a file
