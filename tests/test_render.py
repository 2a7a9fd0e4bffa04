"""Pictures show what is on the board, at the right place, in every form."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from boardenvs import games, render
from boardenvs.board.bitboard import parse_square
from boardenvs.game.contract import Game, Position
from boardenvs.game.look import Circle, Look, Polygon
from boardenvs.render import __main__ as gallery
from boardenvs.render.geometry import board_look

IMAGES = Path(__file__).parent.parent / ".images"
SVG = "{http://www.w3.org/2000/svg}"
# Corners, edges and the inside; no two of them are mirror images of each other.
SQUARES = {"a1": (0, 7), "h1": (7, 7), "a8": (0, 0), "h8": (7, 0), "b5": (1, 3), "g2": (6, 6)}
UNIT = 64


@pytest.fixture(params=games.GAMES)
def game(request: pytest.FixtureRequest) -> Game:
    game_id: str = request.param
    return games.make(game_id)


def lone(role: int, square: int | None) -> Position:
    """A position, possible or not, with one piece of a role or none."""
    return Position(
        0 if square is None else 1 << square, 0, (), role, 0, False, games.make("othello")
    )


def plain(text: str) -> str:
    """The text without ANSI colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def cells(text: str) -> dict[str, str]:
    """What the text shows on each square, with the brackets around it."""
    ranks = plain(text).split("\n")[1:9]
    return {f + r[0]: r[2 + 3 * x : 5 + 3 * x] for r in ranks for x, f in enumerate("abcdefgh")}


def uses(svg: str, what: str) -> list[tuple[float, float]]:
    """The columns and rows, from the upper left square, where the document draws this."""
    root = ElementTree.fromstring(svg)
    found = [use for use in root.iter(f"{SVG}use") if use.get("class") == what]
    return [(float(use.get("x", "")) - 0.5, float(use.get("y", "")) - 0.5) for use in found]


# ---- pieces, holes ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SQUARES)
@pytest.mark.parametrize("role", [0, 1])
def test_a_piece_is_in_its_square(game: Game, role: int, name: str) -> None:
    position = lone(role, parse_square(name))
    shown = cells(render.to_ansi(game, position))
    assert shown[name] == f" {game.roles[role][0].upper()} "
    free = set(shown.values()) - {shown[name]}
    assert free <= {" . ", " # "}

    column, row = SQUARES[name]
    assert uses(render.to_svg(game, position), game.roles[role]) == [(column, row)]
    assert uses(render.to_svg(game, position), game.roles[1 - role]) == []

    empty = render.to_rgb(game, lone(role, None))
    changed = (render.to_rgb(game, position) != empty).any(axis=2)
    left, top = UNIT // 2 + UNIT * column, UNIT // 2 + UNIT * row
    inside = changed[top : top + UNIT, left : left + UNIT]
    assert inside.sum() == changed.sum()
    assert inside.sum() > UNIT * UNIT / 3


# ---- marks, targets, caption --------------------------------------------------------------------


def test_the_last_action_is_marked(game: Game) -> None:
    before = game.start()
    for _ in range(12):
        if before.terminated:
            break
        action = before.legal_actions()[len(before.legal_actions()) // 2]
        after = before.step(action)
        shown = cells(render.to_ansi(game, after, action, before=before))
        marked = {name for name, cell in shown.items() if cell[0] == "["}
        named = game.action_name(action, before)
        assert marked == (set() if action == game.noop else set(named.split("-")))
        assert len(uses(render.to_svg(game, after, action, before=before), "mark")) == len(marked)
        before = after


# ---- forms --------------------------------------------------------------------------------------


def test_rgb_shape_and_type(game: Game) -> None:
    pixels = render.to_rgb(game, game.start())
    assert pixels.dtype == np.uint8
    assert pixels.shape == (605, 576, 3)
    assert pixels.flags.c_contiguous
    assert render.to_rgb(game, game.start(), caption=False, unit=20).shape == (180, 180, 3)


def test_rgb_has_the_colours_of_the_board(game: Game) -> None:
    look = board_look(game.look.board)
    pixels = render.to_rgb(game, lone(0, None))
    for name in ("a1", "a2", "h1", "e5"):
        x, y = "abcdefgh".index(name[0]), int(name[1]) - 1
        colour = look.dark if (x + y) % 2 == 0 else look.light
        assert tuple(pixels[32 + 64 * (7 - y) + 20, 32 + 64 * x + 20]) == tuple(
            bytes.fromhex(colour[1:])
        )


def test_svg_refers_only_to_what_it_defines(game: Game) -> None:
    svg = render.to_svg(game, game.start(), legal=True)
    ids = {element.get("id") for element in ElementTree.fromstring(svg).iter()} - {None}
    referred = set(re.findall(r'(?:href="|url\()#(\w+)', svg))
    assert referred == ids


def test_pieces_without_a_look_are_discs_with_the_letters_of_their_roles() -> None:
    fox, hens = Look().pieces_of(("fox", "hens"))
    assert "F" in {getattr(shape, "text", None) for shape in fox.drawing.shapes}
    assert "H" in {getattr(shape, "text", None) for shape in hens.drawing.shapes}
    assert fox.colour != hens.colour


def test_an_unknown_board_look_is_named() -> None:
    with pytest.raises(ValueError, match=r"unknown board look 'feld'. Did you mean 'felt'"):
        board_look("feld")


@pytest.mark.parametrize("index", [0, 1])
def test_pieces_stay_inside_their_square(game: Game, index: int) -> None:
    for shape in game.look.pieces_of(game.roles)[index].drawing.shapes:
        match shape:
            case Circle():
                assert shape.radius <= min(shape.x, shape.y, 1 - shape.x, 1 - shape.y)
            case Polygon():
                assert all(0 <= value <= 1 for point in shape.points for value in point)
            case _:
                pytest.fail(f"{shape} has no extent that can be told")


# ---- imports ------------------------------------------------------------------------------------


def run(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return result.stdout


def test_importing_and_text_need_no_drawing_library() -> None:
    code = (
        "import sys; from boardenvs import games, render; g = games.make('othello'); "
        "render.to_ansi(g, g.start()); render.to_svg(g, g.start()); "
        "print([m for m in ('pygame', 'matplotlib') if m in sys.modules])"
    )
    assert run(code) == "[]\n"


def test_pixels_need_no_display_and_print_nothing() -> None:
    code = (
        "import os; os.environ.pop('DISPLAY', None); os.environ.pop('SDL_VIDEODRIVER', None)\n"
        "from boardenvs import games, render; g = games.make('othello')\n"
        "shape = render.to_rgb(g, g.start()).shape\n"
        "import pygame; print(shape, pygame.display.get_init())"
    )
    assert run(code) == "(605, 576, 3) False\n"


def test_missing_pygame_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    game = games.make("othello")
    with pytest.raises(ImportError, match=r'pip install "boardenvs\[render\]"'):
        render.to_rgb(game, game.start())


# ---- the README's pictures ----------------------------------------------------------------------


def test_there_is_a_picture_of_every_game_and_no_other() -> None:
    assert {path.name for path in IMAGES.glob("*.svg")} == {
        f"{game_id}.svg" for game_id in games.BUILT_IN
    }


@pytest.mark.parametrize("game_id", games.BUILT_IN)
def test_the_pictures_are_up_to_date(game_id: str) -> None:
    saved = (IMAGES / f"{game_id}.svg").read_text(encoding="utf-8")
    assert saved == gallery.picture(game_id), "run `python -m boardenvs.render .images`"


def test_the_command_writes_the_pictures(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "boardenvs.render", str(tmp_path / "new")]
    subprocess.run(command, check=True)
    for path in IMAGES.glob("*.svg"):
        assert (tmp_path / "new" / path.name).read_bytes() == path.read_bytes()
