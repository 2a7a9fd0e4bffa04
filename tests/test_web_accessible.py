"""Accessibility: axe-core finds no serious fault, in both themes and on a phone."""

import json
import shutil
import subprocess

import pytest
from variants import make, random_record
from web_browser import Tab, needs_browser

from boardenvs import records

pytestmark = needs_browser
CASES = {"light": ("light", 1280), "dark phone": ("dark", 360)}


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("axe")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm to get axe-core with")
    command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), "axe-core@4"]
    if subprocess.run(command, capture_output=True, timeout=300).returncode:
        pytest.skip("npm could not get axe-core")
    return (folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


def views(tab, path):
    """Yield the name of each view while it is shown."""
    tab.new_game("othello", second="greedy")
    tab.text("Set up a position").click()
    yield "play"
    tab.button("New game").click()
    tab.opened("More agents")
    yield "new game"
    tab.button("Cancel").click()
    records.save(path, [random_record(make("wolf_and_sheep"), 1)] * 40)
    tab.open_records(path, 3)
    tab.find(".movelist .ply").nth(6).wait_for()
    yield "records"
    tab.view("Analyse")
    tab.button("Analyse game").click()
    tab.page.get_by_role("heading", name="Blunders").wait_for()
    tab.button("Stop").wait_for(state="hidden")  # until then the page changes
    yield "analyse"


@pytest.mark.parametrize("case", CASES)
def test_no_view_has_a_serious_fault(browser, server, axe, tmp_path, case):
    scheme, width = CASES[case]
    tab = Tab(browser, server, color_scheme=scheme, bypass_csp=True)
    tab.page.set_viewport_size({"width": width, "height": 800})
    tab.page.add_init_script(axe)
    tab.open()
    for name in views(tab, tmp_path / "games.jsonl"):
        found = tab.page.evaluate("axe.run()")["violations"]
        serious = [fault for fault in found if fault["impact"] in ("serious", "critical")]
        assert not serious, f"{name}: {json.dumps(serious, indent=1)}"
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, name
    tab.close()
