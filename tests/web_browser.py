"""The page in headless Chromium: a user's actions, which wait for their effects."""

import contextlib
import importlib.util
import re
import shutil
import time

import pytest
from web_server import PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None or importlib.util.find_spec("playwright") is None,
    reason="there is no chromium, or no playwright, to open the page with",
)
OVER = re.compile("won|wins|draw|stopped after|resigned", re.IGNORECASE)
TURN = re.compile("your turn|must pass")


@contextlib.contextmanager
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = {"args": ["--no-sandbox", "--disable-dev-shm-usage"]}
        with playwright.chromium.launch(executable_path=CHROMIUM, **options) as browser:
            yield browser


def shown(selector):
    """The text of the element."""
    return property(lambda tab: tab.find(selector).inner_text())


class Tab:
    """A tab of a browser, and its errors."""

    def __init__(self, browser, server, **options):
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("dialog", lambda dialog: dialog.accept())
        # Agents get their seeds from this, so games are the same each time.
        self.page.add_init_script("Math.random = () => 0.5")
        self.server, self.faults = server, []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(error))
        self.away = False  # whether the server is, so that lost connections are no fault
        self.find, self.field = self.page.locator, self.page.get_by_label
        self.text = self.page.get_by_text

    def _console(self, message):
        if message.type in ("error", "warning") and not self.away:
            self.faults.append(message.text)

    def open(self, address=None):
        self.page.goto(address or self.server.url)
        self.find(".square.legal, .square.movable").first.wait_for()
        return self

    def close(self):
        self.context.close()
        assert not self.faults, self.faults

    # ---- contents

    caption, note, problem = shown(".caption"), shown(".note"), shown(".status > .problem")
    current, players = shown(".movelist [aria-current]"), shown(".players")
    said = property(lambda tab: tab.find("[aria-live=polite]").text_content())
    plies = property(lambda tab: tab.find(".movelist .ply").count() - 1)
    position = property(lambda tab: tab.field("Position as text").input_value())

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)

    def square(self, name):
        return self.page.get_by_role("button", name=re.compile(f"^{name}, "))

    def label(self, name):
        return self.square(name).get_attribute("aria-label")

    def view(self, name):
        self.page.get_by_role("navigation").get_by_text(name, exact=True).click()

    # ---- actions

    def opened(self, summary):
        """Have the part of the page with this summary open."""
        found = self.find("details").filter(has=self.page.get_by_text(summary, exact=True))
        if found.get_attribute("open") is None:
            found.locator("> summary").click()

    def new_game(self, game, first="human", second="human"):
        before = self.said
        self.view("Play")
        self.button("New game").click()
        self.field("Game", exact=True).select_option(game)
        if second == "human":
            self.field("Another person").check()
        else:
            self.opened("More agents")
            self.field("Text of the agent").fill(second)
        if first == "human":
            self.find("input[name=you]").first.check()
        else:
            self.field("Neither").check()
            self.field("The first side is played by").fill(first)
        self.button("Begin").click()
        self.find("dialog.newgame").wait_for(state="hidden")
        if first == "human":
            self.until(lambda: self.said != before and self.said.startswith("New game"))

    def open_records(self, path, number=None):
        """Open a file, and one of its games."""
        self.view("Records")
        self.field("Open records").set_input_files(str(path))
        if number is not None:
            self.button(f"Open game {number}").click()

    def until(self, condition):
        """Wait until it is true."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"{self.caption} / {self.note}"
            self.page.wait_for_timeout(5)

    def until_ply(self, plies):
        self.until(lambda: self.plies == plies)

    def until_note(self, text):
        self.until(lambda: text in self.note)

    def wait_for_turn(self):
        """Wait until it is the human's turn; False where the game is over."""
        self.until(lambda: OVER.search(self.caption) or TURN.search(self.note))
        return not OVER.search(self.caption)

    def move(self, *names):
        """Play on these squares, each after the reply to the one before."""
        for name in names:
            before = self.plies
            self.square(name).click()
            self.until(lambda before=before: self.plies > before)
            assert self.wait_for_turn()

    def play_on(self, choose):
        """Play until the game is over; `choose(target)` clicks or types."""
        while self.wait_for_turn():
            before = self.plies
            if self.button("Pass").is_visible():
                choose(self.button("Pass"))
            for kind in (".square.movable", ".square.legal"):
                if self.plies == before and self.find(kind).count():
                    choose(self.find(kind).first)
            self.until(lambda before=before: self.plies > before)

    def with_keys(self, target):
        """Choose a square with the arrow keys and Enter, and anything else with Tab and Enter."""
        number = target.get_attribute("data-square")
        if number is None:
            target.focus()
        else:
            self.find(".square[tabindex='0']").focus()
            rank, file = divmod(int(number), 8)
            to_a1 = ["ArrowLeft"] * 7 + ["ArrowDown"] * 7
            for key in [*to_a1, *["ArrowRight"] * file, *["ArrowUp"] * rank]:
                self.page.keyboard.press(key)
        self.page.keyboard.press("Enter")
