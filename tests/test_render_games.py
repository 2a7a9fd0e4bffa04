"""Whole games as pictures: each board holds what the picture of its position alone holds."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from itertools import pairwise

import pytest

from boardenvs import games, render
from boardenvs.game.contract import Game, Position

SVG = "{http://www.w3.org/2000/svg}"
PLIES = 7


@pytest.fixture(params=games.GAMES)
def game(request: pytest.FixtureRequest) -> Game:
    game_id: str = request.param
    return games.make(game_id)


def line(game: Game) -> tuple[list[Position], list[int]]:
    """A game in which the first legal action is played: the positions and the actions between."""
    positions, actions = [game.start()], list[int]()
    for _ in range(PLIES):
        actions.append(positions[-1].legal_actions()[0])
        positions.append(positions[-1].step(actions[-1]))
    return positions, actions


def contents(uses: Iterable[ElementTree.Element]) -> list[list[tuple[object, ...]]]:
    """What is placed with each board, where it is seen from the board's corner."""
    boards: list[list[tuple[object, ...]]] = []
    left = top = 0.0
    for use in uses:
        x, y = float(use.get("x", "")), float(use.get("y", ""))
        if use.get("class") == "board":
            left, top = x, y
            boards.append([])
        if use.get("class") not in ("label", "caption"):
            place = round(x - left, 2), round(y - top, 2)
            boards[-1].append((use.get("class"), use.get("href"), *place))
    return boards


def alone(game: Game, positions: list[Position], actions: list[int], *, caption: bool) -> object:
    """The contents of the pictures of single positions."""
    pictures = [render.to_svg(game, positions[0], caption=caption)]
    for before, action, after in zip(positions, actions, positions[1:], strict=False):
        pictures.append(render.to_svg(game, after, action, before=before, caption=caption))
    return [contents(ElementTree.fromstring(p).iter(f"{SVG}use"))[0] for p in pictures]


def test_a_sheet_shows_every_position_below_its_action(game: Game) -> None:
    positions, actions = line(game)
    sheet = ElementTree.fromstring(render.to_svg_sheet(game, positions, actions, columns=3))
    uses = list(sheet.iter(f"{SVG}use"))
    assert contents(uses) == alone(game, positions, actions, caption=False)
    corners = [
        (float(u.get("x", "")), float(u.get("y", ""))) for u in uses if "board" in u.attrib["class"]
    ]
    across = sorted({x for x, _ in corners})
    assert [across.index(x) for x, _ in corners] == [0, 1, 2, 0, 1, 2, 0, 1]
    down = sorted({y for _, y in corners})
    assert [down.index(y) for _, y in corners] == [0, 0, 0, 1, 1, 1, 2, 2]
    assert all(b - a > 9 for xs in (across, down) for a, b in pairwise(xs))
    labels = [u.attrib["href"][1:] for u in uses if u.get("class") == "label"]
    texts = {
        group.get("id"): text.text
        for group in sheet.iter(f"{SVG}g")
        for text in group.iter(f"{SVG}text")
    }
    names = [game.action_name(a, p) for a, p in zip(actions, positions, strict=False)]
    wanted = ["start", *(f"{ply}. {name}" for ply, name in enumerate(names, start=1))]
    assert [texts[label] for label in labels] == wanted


def is_visible(frame: ElementTree.Element, time: float) -> bool:
    """Whether the frame is seen at this part of the whole time; values are discrete."""
    animation = frame.find(f"{SVG}animate")
    assert animation is not None
    times = [float(text) for text in animation.attrib["keyTimes"].split(";")]
    values = animation.attrib["values"].split(";")
    assert times[0] == 0
    assert times == sorted(times)
    assert len(times) == len(values)
    return (
        next(v for t, v in reversed(list(zip(times, values, strict=True))) if t <= time)
        == "visible"
    )


def test_an_animation_shows_one_position_at_a_time(game: Game) -> None:
    positions, actions = line(game)
    document = ElementTree.fromstring(render.to_svg_animation(game, positions, actions, seconds=2))
    frames = [g for g in document.iter(f"{SVG}g") if g.get("visibility")]
    shown = contents(use for frame in frames for use in frame.iter(f"{SVG}use"))
    boards = alone(game, positions, actions, caption=True)
    assert isinstance(boards, list)
    assert shown == [*boards, boards[-1], boards[-1]]  # the last one stays
    assert [frame.get("visibility") for frame in frames] == ["visible"] + ["hidden"] * (PLIES + 2)
    for k in range(len(frames)):
        time = (k + 0.5) / len(frames)
        assert [is_visible(frame, time) for frame in frames] == [i == k for i in range(len(frames))]
    for animation in document.iter(f"{SVG}animate"):
        assert animation.get("dur") == f"{2 * len(frames)}s"
        assert animation.get("calcMode") == "discrete"


def test_a_game_of_one_position(game: Game) -> None:
    for draw in (render.to_svg_sheet, render.to_svg_animation):
        document = ElementTree.fromstring(draw(game, [game.start()], []))
        assert len(contents(document.iter(f"{SVG}use"))) in (1, 3)
