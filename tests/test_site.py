"""The site that `make docs` has built: it needs nothing from the web, and all its links lead on."""

import json
from html.parser import HTMLParser
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest
from examples import ROOT

import boardenvs

SITE = ROOT / "runs" / "site"
pytestmark = pytest.mark.skipif(not SITE.exists(), reason="there is no site: make docs")


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
def pages():
    found = {path: Page(path.read_text(encoding="utf-8")) for path in SITE.rglob("*.html")}
    return {path: page for path, page in found.items() if path.name != "404.html"}


def test_every_link_and_anchor_leads_somewhere(pages):
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{path}: {link}"


def test_nothing_is_loaded_from_the_web(pages):
    assert [link for page in pages.values() for link in page.loaded if urlsplit(link).scheme] == []


def test_every_public_name_is_explained(pages):
    reference = pages[SITE / "api" / "boardenvs.html"]
    for name in boardenvs.__all__:
        if isinstance(getattr(boardenvs, name), ModuleType):
            page = f"{name.removesuffix('_v0')}.html"
            assert any(link.endswith(page) for link in reference.links)
        else:
            assert f"boardenvs.{name}" in reference.anchors


def test_every_game_has_a_page_with_its_picture(pages):
    for game_id in boardenvs.games.BUILT_IN:
        page = pages[SITE / f"{game_id}.html"]
        assert any(link.endswith(f"{game_id}.svg") for link in page.loaded)
        assert "observation-space" in page.anchors


def test_all_games_are_in_the_navigation_and_their_pictures_lead_to_them(pages):
    links = pages[SITE / "index.html"].links
    for game_id in boardenvs.games.BUILT_IN:
        assert links.count(f"{game_id}.html") >= 2  # there, and around its picture


def test_search_has_an_index():
    text = (SITE / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "observe_planes" in text
    titles = [x["title"] for x in json.loads(text)["docs"] if x["location"].startswith("howto.")]
    for words in ("DQN", "own observation", "board size", "resume", "GPU"):
        assert any(words.lower() in title.lower() for title in titles), words
    assert (SITE / "search" / "search_index.js").exists()  # for pages opened from a file
