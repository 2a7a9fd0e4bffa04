"""`boardenvs play --window`: games by mouse and keys, in a window that no screen shows."""

import time
from collections import deque

import numpy as np
import pytest
from typer.testing import CliRunner

from boardenvs.agents import explain, make_agent
from boardenvs.cli import app
from boardenvs.game.fen import parse_position
from boardenvs.games import BUILT_IN, make
from boardenvs.play import GameSession, KeptGame, MoveNotation
from boardenvs.play.store import GameStore
from boardenvs.play.window import WindowGame
from boardenvs.records import load
from boardenvs.render import to_rgb

pygame = pytest.importorskip("pygame", reason="the extra render is not installed")

SLOW = "alphabeta:depth=30"
E3 = 20
ARROWS = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}


class Player:
    """Sits before the window, and sees nothing but squares and pixels."""

    def __init__(self, window):
        self.window, self.cursor, self.flipped = window, [0, 0], False

    @property
    def session(self):
        return self.window.game.session

    def post(self, kind, **what):
        pygame.event.post(pygame.event.Event(kind, **what))
        self.see()

    def see(self):
        assert self.window.frame()

    def until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end
            self.see()
            time.sleep(0.002)

    def pixels(self):
        return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)

    def pixel_of(self, square):
        """The middle of a square: the board is 9 squares wide with its frame."""
        unit = pygame.display.get_surface().get_width() / 9
        file, rank = square % 8, square // 8
        if self.flipped:
            file, rank = 7 - file, 7 - rank
        return round((file + 1) * unit), round((8 - rank) * unit)

    def drag(self, start, end):
        for kind, square in ((pygame.MOUSEBUTTONDOWN, start), (pygame.MOUSEBUTTONUP, end)):
            self.post(kind, pos=self.pixel_of(square), button=1)

    def click(self, square):
        self.drag(square, square)

    def key(self, name, mod=0):
        self.post(pygame.KEYDOWN, key=pygame.key.key_code(name), mod=mod)

    def go_to(self, square):
        for axis, (less, more) in enumerate((("left", "right"), ("down", "up"))):
            wanted = (square % 8, square // 8)[axis]
            while self.cursor[axis] != wanted:
                name = more if self.cursor[axis] < wanted else less
                self.key(name)
                self.cursor[axis] += sum(ARROWS[name])

    def by_mouse(self, action):
        squares = self.session.game.action_squares(action, self.session.position)
        for square in squares:
            self.click(square)
        if not squares:
            self.key("p")

    def by_dragging(self, action):
        squares = self.session.game.action_squares(action, self.session.position)
        self.drag(squares[0], squares[-1])

    def by_keys(self, action):
        for square in self.session.game.action_squares(action, self.session.position):
            self.go_to(square)
            self.key("return")
        if action == self.session.game.noop:
            self.key("return")


@pytest.fixture
def sit(tmp_path, monkeypatch):
    """Opens a window at a new game: the player before it."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("boardenvs.play.window.game._UNIT", 24)  # small pictures are drawn sooner
    windows = []

    def open_window(game_id, *players, start=None, tournament=False):
        game = make(game_id)
        session = GameSession(game, start and parse_position(game, start), players=players or None)
        store = GameStore(tmp_path / "play.jsonl")
        windows.append(WindowGame(KeptGame(session, store), MoveNotation(game, tournament)))
        windows[-1].open()
        player = Player(windows[-1])
        player.see()
        return player

    yield open_window
    for window in windows:
        window.close()


def play_out(player, how, seed):
    """A random game, of which the window has the same moves."""
    rng = np.random.default_rng(seed)
    twin = GameSession(player.session.game)
    while not twin.is_over:
        action = int(rng.choice(twin.legal_actions()))
        how(action)
        twin.play(action)
        assert player.session.actions == twin.actions
    return twin


@pytest.mark.parametrize("game_id", BUILT_IN)
def test_a_whole_game_with_the_mouse(sit, game_id, tmp_path):
    player = sit(game_id)
    twin = play_out(player, player.by_mouse, 3)
    (record,) = load(tmp_path / "play.jsonl")
    assert (record.actions, record.goal) == (twin.actions, twin.goal)


@pytest.mark.parametrize("game_id", BUILT_IN)
def test_a_whole_game_with_the_keys(sit, game_id, tmp_path):
    player = sit(game_id)
    twin = play_out(player, player.by_keys, 4)
    (record,) = load(tmp_path / "play.jsonl")
    assert (record.actions, record.goal) == (twin.actions, twin.goal)


@pytest.mark.parametrize("game_id", ["lines_of_action", "wolf_and_sheep"])
def test_pieces_are_dragged(sit, game_id):
    player = sit(game_id)
    for _ in range(6):
        action = player.session.legal_actions()[-1]
        before = len(player.session.actions)
        player.by_dragging(action)
        assert player.session.actions[before:] == (action,)
    square = player.session.game.action_squares(
        player.session.legal_actions()[0], player.session.position
    )[0]
    before = player.session.actions
    player.drag(square, square)  # taken up
    player.key("escape")
    player.post(pygame.MOUSEBUTTONDOWN, pos=player.pixel_of(square), button=1)
    player.post(pygame.MOUSEBUTTONUP, pos=(1, 1), button=1)  # dropped beside the board
    assert player.session.actions == before


def test_squares_that_are_no_move_do_nothing(sit):
    player = sit("othello")
    legal = player.session.legal_actions()
    for square in set(range(64)) - set(legal):
        player.click(square)
    assert player.session.actions == ()


def test_the_board_is_that_of_other_pictures(sit):
    """With the last move marked, and the legal ones."""
    player = sit("othello")
    for _ in range(5):
        player.by_mouse(player.session.legal_actions()[0])
    session = player.session
    unit = pygame.display.get_surface().get_width() // 9
    drawn = to_rgb(
        session.game, session.position, session.actions[-1],
        before=session.before, legal=True, caption=False, unit=unit,
    )  # fmt: skip
    inner = slice(unit // 2 + 1, unit // 2 + 8 * unit)
    np.testing.assert_array_equal(player.pixels()[inner, inner], drawn[inner, inner])


def test_the_flipped_board(sit):
    player = sit("othello")
    upright = player.pixels()
    player.key("f")
    player.flipped = True
    assert (player.pixels() != upright).any()
    # The arrows go as the eye does: from a1, now in the upper right corner, left and down to e3.
    for name in ["left"] * 4 + ["down"] * 2 + ["return"]:
        player.key(name)
    assert player.session.actions == (E3,)
    reply = player.session.legal_actions()[0]
    player.click(reply)
    assert player.session.actions == (E3, reply)


def test_against_an_agent(sit, tmp_path):
    player = sit("othello", "human", "alphabeta:depth=1")
    player.by_mouse(E3)
    player.until(lambda: len(player.session.actions) == 2)
    played, agent = player.session.actions, make_agent("alphabeta:depth=1")
    player.key("u")
    assert player.session.actions == ()
    player.key("r")
    assert player.session.actions == played
    (record,) = load(tmp_path / "play.jsonl")
    assert record.players == ("human", "alphabeta:depth=1")

    game, position = player.session.game, player.session.position
    best = explain(agent, game, position).moves[0].action
    player.key("h")
    player.until(lambda: "would play" in player.window._news)
    assert game.action_name(best) in player.window._news
    assert player.window._hint == game.action_squares(best)

    player.key("g")
    assert player.session.resigned is None
    player.key("g")
    assert player.session.resigned == 0
    player.key("u")
    assert not player.session.is_over
    player.key("n")
    assert player.session.actions == ()
    assert len(load(tmp_path / "play.jsonl")) == 1


def test_a_slow_agent_is_stopped_and_told_to_go_on(sit):
    player = sit("othello", "human", SLOW)
    player.by_keys(E3)
    began = time.monotonic()
    for name in ("f", "f", "left", "up"):
        player.key(name)
    assert time.monotonic() - began < 20, "the window waits for the agent"
    assert "thinking" in player.window._status()
    process = player.window._thinker._process
    player.key("s")
    assert not process.is_alive()
    assert "stopped" in player.window._status()
    player.key("s")
    assert "thinking" in player.window._status()
    player.key("u")
    assert player.session.actions == ()
    assert "your turn" in player.window._status()


def test_an_agent_that_fails_is_told(sit):
    for agent, start, told in (
        ("python:arena_agents:Otherwise", None, "legal"),
        ("python:arena_agents:dying", "8/8/8/2rrr3/3br3/2b5/8/8 red 11", "process ended"),
    ):
        player = sit(
            "othello", *(("human", agent) if start is None else (agent, agent)), start=start
        )
        if start is None:
            player.by_mouse(E3)
        player.until(lambda player=player: "stopped" in player.window._status())
        assert told in player.window._problem


def test_a_pass_is_said_and_made(sit):
    for key in ("p", "return"):
        player = sit("othello", start="brr5/8/8/8/8/8/8/8 red 3")
        assert "must pass" in player.window._status()
        player.key(key)
        assert player.session.actions == (player.session.game.noop,)
        assert player.window._news == "red has no move and passes"


def test_buttons_by_mouse_and_tab(sit):
    player = sit("othello")
    player.by_mouse(E3)
    width, height = pygame.display.get_surface().get_size()
    second = (width * 3 // 14, height - width // 9 // 2)  # Undo, of seven
    player.post(pygame.MOUSEBUTTONDOWN, pos=second, button=1)
    assert player.session.actions == ()
    for _ in range(2):
        player.key("tab")
    player.key("return")  # Redo, since Undo has nothing to do
    assert len(player.session.actions) == 1


def test_another_size(sit):
    player = sit("othello")
    pygame.display.set_mode((700, 500), pygame.RESIZABLE)
    player.key("h", pygame.KMOD_CTRL)  # no key of ours
    unit = 500 // 11.5
    left = (700 - int(9 * unit)) // 2
    player.post(pygame.MOUSEBUTTONDOWN, pos=(left + 5 * unit, 6 * unit), button=1)
    player.post(pygame.MOUSEBUTTONUP, pos=(left + 5 * unit, 6 * unit), button=1)
    assert [player.session.game.action_name(a) for a in player.session.actions] == ["e3"]


def test_the_command_keeps_the_game_when_the_window_is_closed(tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    real, file = pygame.event.get, tmp_path / "games.jsonl"
    unit = 0
    script = deque([None, "click", None, "close"])

    def get():
        nonlocal unit
        what = script.popleft()
        unit = pygame.display.get_surface().get_width() / 9
        if what == "close":
            return [pygame.event.Event(pygame.QUIT)]
        if what == "click":
            at = {"pos": (round(5 * unit), round(6 * unit)), "button": 1}
            kinds = (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP)
            return [pygame.event.Event(kind, **at) for kind in kinds]
        return real()

    monkeypatch.setattr(pygame.event, "get", get)
    words = ["play", "othello", "--as", "both", "--window", "--record", str(file)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert str(file.name) in result.output.replace("\n", "")
    (record,) = load(file)
    assert [record.game.action_name(a) for a in record.actions] == ["e3"]
    assert pygame.display.get_surface() is None
