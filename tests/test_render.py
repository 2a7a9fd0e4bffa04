"""Pictures show the pieces in the right place and in every format; pictures of games
contain the pictures of their positions.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise, permutations, product
from math import dist, pi
from typing import ClassVar
from xml.etree.ElementTree import Element, fromstring

import pytest
from three_in_a_row import ThreeInARow
from variants import GAMES, make, random_line

from boardenvs import games, render
from boardenvs.envs.page import page_of
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.look import (
    BLACK,
    CROWN,
    RED,
    SHADOW,
    WHITE,
    WINNING_LINE,
    Circle,
    Drawing,
    Ink,
    Look,
    Placed,
    Polygon,
    Rect,
    Scene,
    Shape,
    Text,
    read_shapes,
)
from boardenvs.game.position import Position
from boardenvs.records import Record
from boardenvs.records.jsonl import parse_record, write_record
from boardenvs.render.geometry import is_light, label
from boardenvs.render.plain import write_plain
from boardenvs.render.raster import draw_rgb
from boardenvs.render.svg import write_drawing
from boardenvs.web.boards import describe_game

SVG = "{http://www.w3.org/2000/svg}"
# Corners, edges and inner squares, none of them mirror images of each other.
SQUARES = {"a1": (0, 7), "h1": (7, 7), "a8": (0, 0), "h8": (7, 0), "b5": (1, 3), "g2": (6, 6)}
UNIT = 64
PLIES = 7
OTHELLO = make("othello")


@pytest.fixture(params=GAMES)
def game(request: pytest.FixtureRequest) -> Game:
    return make(request.param)


def lone(role: int, square: int | None) -> Position:
    """A position, possible or not, with one piece of a role or none."""
    own = 0 if square is None else 1 << square
    return Position((own, 0), (), role, 0, False, OTHELLO)


def cells(text: str) -> dict[str, str]:
    """The text of each square, with brackets."""
    ranks = text.split("\n")[1:9]
    return {f + r[0]: r[2 + 3 * x : 5 + 3 * x] for r in ranks for x, f in enumerate("abcdefgh")}


def place(use: Element) -> tuple[float, float]:
    return float(use.get("x", "")), float(use.get("y", ""))


def uses(svg: str, what: str) -> list[tuple[float, float]]:
    """The columns and rows, from the upper left square, at which the document draws this."""
    found = [place(use) for use in fromstring(svg).iter(f"{SVG}use") if use.get("class") == what]
    return [(x - 0.5, y - 0.5) for x, y in found]


# ---- positions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [0, 1])
@pytest.mark.parametrize(
    ("game_id", "name"),
    [*(("othello", name) for name in SQUARES), *((game_id, "b5") for game_id in GAMES)],
)
def test_a_piece_is_in_its_square(game_id: str, name: str, role: int) -> None:
    game = make(game_id)
    square = game.parse_square(name)
    position = lone(role, square)
    shown = cells(render.to_ansi(game, position, colour=False))
    assert shown.pop(name) == f" {game.sides[role][0].upper()} "
    assert set(shown.values()) <= {" . ", " # "}

    column, row = square % 8, 7 - square // 8
    svg = render.to_svg(game, position)
    assert [uses(svg, drawn) for drawn in game.sides] == [[(column, row)], []][:: 1 - 2 * role]

    changed = (render.to_rgb(game, position) != render.to_rgb(game, lone(role, None))).any(axis=2)
    left, top = UNIT // 2 + UNIT * column, UNIT // 2 + UNIT * row
    inside = changed[top : top + UNIT, left : left + UNIT]
    assert inside.sum() == changed.sum()
    assert inside.sum() > UNIT * UNIT / 3


def test_the_last_action_is_marked(game: Game) -> None:
    positions, actions = random_line(game, 1, 12)
    for before, action, after in zip(positions, actions, positions[1:], strict=False):
        shown = cells(render.to_ansi(game, after, action, before=before, colour=False))
        marked = {name for name, cell in shown.items() if cell[0] == "["}
        named = game.action_name(action, before)
        assert marked == (set() if action == game.noop else set(named.split("-")))
        assert len(uses(render.to_svg(game, after, action, before=before), "mark")) == len(marked)


def test_othello_is_seen_as_its_players_know_it() -> None:
    """White on d4 and e5, black on d5 and e4, row 1 on top; black begins with d3, c4, f5 or e6."""
    shown = cells(render.to_ansi(OTHELLO, OTHELLO.start(), colour=False, legal=True))
    assert list(shown)[:8] == [f"{file}1" for file in "abcdefgh"]
    found = {sign: sorted(s for s in shown if shown[s].strip() == sign) for sign in "BW*"}
    assert found == {"B": ["d5", "e4"], "W": ["d4", "e5"], "*": ["c4", "d3", "e6", "f5"]}
    coloured = render.to_ansi(OTHELLO, OTHELLO.start(), colour=True)
    inks = {*re.findall(r"38;5;(\d+);48;5;(\d+)m([BW])", coloured)}
    assert inks == {("231", "16", "B"), ("16", "231", "W")}, "white on black, and black on white"
    svg = render.to_svg(OTHELLO, OTHELLO.start())
    assert {what: sorted(uses(svg, what)) for what in ("black", "white")} == {
        "black": [(3, 4), (4, 3)],  # columns and rows from the upper left
        "white": [(3, 3), (4, 4)],
    }
    assert render.to_rgb(OTHELLO, OTHELLO.start(), caption=False, unit=20).shape == (180, 180, 3)
    assert 'width="576" height="604.8"' in svg


def test_the_caption_says_who_passed_and_who_won() -> None:
    passing = parse_position(OTHELLO, "8/8/8/8/8/8/8/bw1b4 white")
    after = passing.step(OTHELLO.noop)
    end = after.step(after.legal_actions()[0])
    lines = [
        render.to_ansi(OTHELLO, OTHELLO.start(), colour=False, counts=True),
        render.to_ansi(OTHELLO, after, OTHELLO.noop, before=passing, colour=False),
        render.to_ansi(OTHELLO, end, colour=False),
    ]
    assert [text.split("\n")[-1] for text in lines] == [
        "black to move: black 2, white 2", "white passed, black to move", "black won: 4-0",
    ]  # fmt: skip


def test_the_ninth_file_of_go_is_j_wherever_it_is_named() -> None:
    """In moves, pictures, texts, prompts, records and pages; action numbers stay."""
    go = games.make("go")
    assert [go.action_name(a) for a in (8, 80)] == ["j1", "j9"]
    assert "i" not in "".join(map(go.action_name, range(go.board.size)))
    with pytest.raises(ValueError, match="'i5' is not a square: squares are a1 to j9 without i, "):
        go.parse_action("i5")
    position = go.start().step(go.parse_action("j5"))
    line = write_record(Record(go, (8,)))
    assert (json.loads(line)["actions"], parse_record(line).actions) == ("j1", (8,))
    files = [*"abcdefghj"]
    assert write_plain(position).split("\n")[0].split() == files
    assert render.to_ansi(go, position, colour=False).split("\n")[0].split() == files
    svg = fromstring(render.to_svg(go, position))
    assert [text.text for text in svg.iter(f"{SVG}text")][:9] == files
    assert describe_game(go)["look"]["files"][:9] == "abcdefghj"
    assert "file x, 1 to 9 for a to j without i,\nand rank y" in page_of(go)


def test_hexagons_touch_where_cells_of_hex_are_neighbours() -> None:
    game = games.make("hex")
    six = {(0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1)}
    centres = {}
    for x, y in product((4, 5, 6, 10), repeat=2):
        words = (*game.split((1 << 11 * y + x, 0)),)
        svg = render.to_svg(game, Position(words, (), 0, 0, False, game))
        centres[x, y] = uses(svg, "black")[0]
    lines = render.to_ansi(game, game.start(), colour=False).split("\n")[1:12]
    firsts = [line.index(".") for line in lines]  # of each row in a terminal, from the top
    assert [right - left for left, right in pairwise(firsts)] == [-2] * 10
    for (a, here), (b, there) in permutations(centres.items(), 2):
        assert (dist(here, there) < 1) == ((a[0] - b[0], a[1] - b[1]) in six)


def test_svg_refers_only_to_what_it_defines(game: Game) -> None:
    svg = render.to_svg(game, game.start(), legal=True)
    ids = {element.get("id") for element in fromstring(svg).iter()} - {None}
    assert set(re.findall(r'(?:href="|url\()#(\w+)', svg)) == ids


# ---- whole games --------------------------------------------------------------------------------


def contents(uses: Iterable[Element]) -> list[list[tuple[object, ...]]]:
    """The things on each board, relative to the board's corner."""
    boards: list[list[tuple[object, ...]]] = []
    left = top = 0.0
    for use in uses:
        x, y = place(use)
        if use.get("class") == "board":
            left, top = x, y
            boards.append([])
        elif use.get("class") not in ("label", "caption"):
            where = round(x - left, 2), round(y - top, 2)
            boards[-1].append((use.get("class"), use.get("href"), *where))
    return boards


def alone(game: Game, positions: list[Position], actions: list[int]) -> list[object]:
    """The contents of the pictures of single positions."""
    plies = zip([None, *positions], [None, *actions], positions, strict=False)
    return [
        contents(fromstring(render.to_svg(game, after, action, before=before)).iter(f"{SVG}use"))[0]
        for before, action, after in plies
    ]


def test_an_animation_shows_one_position_at_a_time(game: Game) -> None:
    positions, actions = random_line(game, 0, PLIES)
    document = fromstring(render.to_svg_animation(game, positions, actions, seconds=2))
    frames = [g for g in document.iter(f"{SVG}g") if g.get("visibility")]
    boards, count = alone(game, positions, actions), PLIES + 3
    shown = contents(use for frame in frames for use in frame.iter(f"{SVG}use"))
    assert shown == [*boards, boards[-1], boards[-1]]  # the last one stays longer
    for number, frame in enumerate(frames):
        (animation,) = frame.iter(f"{SVG}animate")
        assert animation.get("repeatCount") == "indefinite"
        times, values = (animation.attrib[key].split(";") for key in ("keyTimes", "values"))
        for moment in range(count):  # in the middle of each picture's time
            passed = sum(float(time) <= (moment + 0.5) / count for time in times)
            assert values[passed - 1] == ("visible" if moment == number else "hidden")


# ---- shapes --------------------------------------------------------------------------------------

BRIGHT, HALF = Ink("#ff0000"), Ink("#ffffff", 0.5)
# On a black ground of 2x2: what is drawn, then points (x, y) and the red, green and blue there.
SHAPES: list[tuple[tuple[Shape, ...], dict[tuple[float, float], tuple[int, int, int]]]] = [
    (
        (Rect(0.2, 0.6, 1.5, 0.8, BRIGHT, 0.4),),
        {(1, 1): (255, 0, 0), (0.25, 1): (255, 0, 0), (0.25, 0.65): (0, 0, 0), (1, 0.55): (0, 0, 0),
         (1.65, 1): (255, 0, 0), (1.75, 1): (0, 0, 0)},
    ),
    (
        (Rect(0, 0, 1, 2, BRIGHT), Rect(0.5, 0, 1, 2, HALF)),
        {(0.3, 1): (255, 0, 0), (0.7, 1): (255, 128, 128), (1.2, 1): (128, 128, 128)},
    ),
    (
        (Circle(1.2, 1, 0.5, BRIGHT),),
        {(1.2, 1): (255, 0, 0), (0.75, 1): (255, 0, 0), (1.6, 1.4): (0, 0, 0),
         (1.2, 0.45): (0, 0, 0)},
    ),
    (
        (Circle(1, 1, 0.9, Ink("#100000"), "#ffff00"),),
        {(1 - 0.9 * 0.32, 1 - 0.9 * 0.42): (255, 255, 0), (1.8, 1.3): (16, 0, 0),
         (0.1, 0.1): (0, 0, 0)},
    ),
    (
        (Polygon(((0.5, 0.5), (1.5, 0.5), (0.5, 1.5)), BRIGHT, 0.2),),
        {(0.7, 0.7): (255, 0, 0), (1, 0.35): (255, 0, 0), (0.39, 0.39): (255, 0, 0),
         (0.32, 0.32): (0, 0, 0), (1, 0.25): (0, 0, 0), (1.4, 1.4): (0, 0, 0)},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("shapes", "colours"), SHAPES)
def test_pixels_have_the_colours_of_shapes(
    shapes: tuple[Shape, ...], colours: dict[tuple[float, float], tuple[int, int, int]]
) -> None:
    placed = (Placed("it", Drawing(2, 2, shapes), 1, 0),)
    pixels = draw_rgb(Scene(3, 2, "#000000", "", placed), 100)
    assert pixels.shape == (200, 300, 3)
    for (x, y), colour in colours.items():
        found = pixels[round(100 * y), round(100 * (x + 1))].tolist()
        assert found == pytest.approx(colour, abs=14), (x, y)


def test_letters_in_pixels_are_where_they_should_be_and_as_opaque() -> None:
    letter = Drawing(2, 2, (Text(1, 0.5, "H", 1, HALF),))
    pixels = draw_rgb(Scene(2, 2, "#000000", "", (Placed("it", letter, 0, 0),)), 100)
    assert pixels.max() == pytest.approx(128, abs=3)
    rows, columns, _ = pixels.nonzero()
    assert ((min(rows) + max(rows)) / 200, (min(columns) + max(columns)) / 200) == pytest.approx(
        (0.5, 1), abs=0.1
    )


def test_shapes_are_written_as_svg() -> None:
    words = {
        'x="0.2" y="0.6" width="1.5" height="0.8" rx="0.4" fill="#ff0000"/>',
        'width="1" height="2" fill="#ffffff" fill-opacity="0.5"/>',
        '<circle cx="1.2" cy="1" r="0.5" fill="#ff0000"/>',
        'points="0.5,0.5 1.5,0.5 0.5,1.5" fill="#ff0000" stroke="#ff0000" stroke-width="0.4" ',
        '<stop stop-color="#ffff00"/><stop offset="1" stop-color="#100000"/>',
        '<text x="1" y="0.85" font-size="1" fill="#ffffff" fill-opacity="0.5">&lt;</text>',
    }
    shapes = *(shape for shapes, _ in SHAPES for shape in shapes), Text(1, 0.5, "<", 1, HALF)
    svg = write_drawing(Drawing(2, 2, shapes))
    assert {part for part in words if part not in svg} == set()


# ---- libraries ----------------------------------------------------------------------------------


def test_text_needs_no_drawing_library_and_pixels_no_display() -> None:
    code = (
        "import os, sys; os.environ.pop('DISPLAY', None); os.environ.pop('SDL_VIDEODRIVER', None)\n"
        "from boardenvs import games, render; g = games.make('othello'); s = g.start()\n"
        "render.to_ansi(g, s); print([m for m in ('pygame', 'matplotlib') if m in sys.modules])\n"
        "print(render.to_rgb(g, s).shape, sys.modules['pygame'].display.get_init())"
    )
    shown = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert shown == "[]\n(605, 576, 3) False\n"


def test_missing_pygame_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r'pip install "boardenvs\[render\]"'):
        render.to_rgb(OTHELLO, OTHELLO.start())


def test_numbers_in_squares_are_written_smaller_where_they_are_long() -> None:
    sizes = [label("1" * digits).shapes[1].size for digits in (1, 2, 3)]  # type: ignore[union-attr]
    assert sizes == pytest.approx([0.36, 0.36, 0.3])


def test_columns_of_a_plain_board_are_as_wide_as_their_names() -> None:
    files, row, *_ = write_plain(make("connect_four:columns=12").start()).splitlines()
    assert [m.start() for m in re.finditer(r"\b\d", files)] == [
        m.start() for m in re.finditer(r"\.", row)
    ]


def test_pieces_without_a_look_of_their_own_have_the_letters_of_their_sides() -> None:
    game = ThreeInARow()
    position = game.start().step(0).step(9)
    assert {*re.findall(">([A-Z])</text>", render.to_svg(game, position))} == {"C", "N"}


def test_letters_stand_out_from_their_pieces() -> None:
    first, second = Look().pieces_of(("cross", "nought"))
    assert [look.colour for look in (first, second)] == ["#000000", "#ffffff"]
    assert first.drawing.shapes[-1] == Text(0.5, 0.5, "C", 0.5, Ink("#ffffff"))
    assert second.drawing.shapes[-1] == Text(0.5, 0.5, "N", 0.5, Ink("#000000"))
    assert Look(numbered=True).file_labels(3) == ["1", "2", "3"]


def area(points: Sequence[tuple[float, float]]) -> float:
    """Of a polygon; 0 or nearly so where its sides are not in order."""
    turns = zip(points, [*points[1:], points[0]], strict=True)
    return abs(sum(a * d - b * c for (a, b), (c, d) in turns)) / 2


def test_shapes_of_badges_are_what_their_texts_say() -> None:
    lines = """
        discs #aaaaaa 0.2,0.3,0.1 0.5,0.5,0.2
        half #bbbbbb 0.5,0.2 0.8,0.2 0.7,0.9
        pair #cccccc 0.6,0.1 0.9,0.1 0.9,0.4
    """
    one, two, half, right, left = read_shapes(lines)
    assert (one, two) == (
        Circle(0.2, 0.3, 0.1, Ink("#aaaaaa")), Circle(0.5, 0.5, 0.2, Ink("#aaaaaa"))
    )  # fmt: skip
    assert isinstance(half, Polygon)
    assert area(half.points) == pytest.approx((0.6 + 0.4) / 2 * 0.7)
    assert {(round(1 - x, 3), y) for x, y in half.points} == {*half.points}
    assert right == Polygon(((0.6, 0.1), (0.9, 0.1), (0.9, 0.4)), Ink("#cccccc"))
    assert left == Polygon(((0.4, 0.1), (0.1, 0.1), (0.1, 0.4)), Ink("#cccccc"))


def test_rings_are_round_and_discs_fit_their_squares() -> None:
    for shape in WINNING_LINE[1].shapes:
        assert isinstance(shape, Polygon)
        radii = {round(dist(point, (0.5, 0.5)), 2) for point in shape.points}
        inner, outer = sorted(radii)
        assert 0.3 < inner < outer < 0.45
        assert area(shape.points) == pytest.approx(pi * (outer**2 - inner**2), rel=0.01)
    for look in (BLACK, WHITE, RED):
        shadow, rim, body = look.drawing.shapes
        for disc in (shadow, rim, body):
            assert isinstance(disc, Circle)
            assert disc.radius < min(disc.x, 1 - disc.x, disc.y, 1 - disc.y)
            assert (disc.glow is None) == (disc is not body)
        assert shadow.ink == SHADOW != rim.ink != body.ink
    (crown,) = CROWN.shapes
    assert isinstance(crown, Polygon)
    assert area(crown.points) == pytest.approx(0.1032)


class Stacked(ThreeInARow):
    """Its pieces would float."""

    can_be_set_up: ClassVar = False


def test_a_game_of_ones_own_says_whether_pieces_can_be_placed_by_hand() -> None:
    assert [describe_game(kind())["placed"] for kind in (ThreeInARow, Stacked)] == [[], None]
    without = {name for name in games.BUILT_IN if not games.make(name).can_be_set_up}
    assert without == {"chess", "connect_four", "nine_mens_morris"}


@pytest.mark.parametrize(("name", "top"), [("othello", "1"), ("lines_of_action", "8")])
def test_ranks_are_numbered_from_their_side(name: str, top: str) -> None:
    """Othello's from the top, others' from the bottom."""
    game = make(name)
    svg = fromstring(render.to_svg(game, game.start()))
    heights = {text.text: float(text.attrib["y"]) for text in svg.iter(f"{SVG}text")}
    assert min((x for x in heights if x in set("12345678")), key=heights.__getitem__) == top


def test_the_first_square_is_dark() -> None:
    board = make("chess").board
    assert [is_light(square, board) for square in (0, 1, 7, 8, 63)] == [
        False,
        True,
        True,
        True,
        False,
    ]
