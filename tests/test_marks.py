"""What squares show besides pieces, and actions that share a square: the same everywhere."""

from xml.etree.ElementTree import fromstring

import pytest
from fences import Fences
from test_page import data_of

from boardenvs import render
from boardenvs.game.check import check_rules
from boardenvs.game.session import GameSession
from boardenvs.games import make
from boardenvs.records import make_record
from boardenvs.records.page import write_page
from boardenvs.text.prompt import write_prompt

pytestmark = pytest.mark.usefixtures("as_written")

GAME = Fences()
SVG = "{http://www.w3.org/2000/svg}"
MOVES = ("b2f", "c1p", "d2f")


def line():
    positions = [GAME.start()]
    for name in MOVES:
        positions.append(positions[-1].step(GAME.parse_action(name)))
    return positions


def test_the_rules_of_the_example_are_consistent():
    check_rules(GAME, num_games=5)


def test_walls_and_numbers_are_in_pictures_texts_and_pages():
    """Fences on b2 and d2, a post on c1, and how many there are, in a1."""
    svg = fromstring(render.to_svg(GAME, line()[-1]))
    drawn = {
        (use.get("class"), f"{'abcd'[int(float(use.get('x')))]}{3 - int(float(use.get('y')))}")
        for use in svg.iter(f"{SVG}use")
    }
    assert {("ann_fences", "b2"), ("ann_fences", "d2"), ("posts", "c1"), ("label", "a1")} <= drawn
    assert "3" in [text.text for text in svg.iter(f"{SVG}text")]

    text = render.to_ansi(GAME, line()[-1], colour=False, counts=True)
    assert text.split("\n")[2:4] == ["2  .    .  f .    .  f 2", "1  A 3  .    .  p .    1"]
    assert text.endswith("\nbob to move: ann 2, bob 0")  # points, not squares

    (game,) = data_of(write_page([make_record(GAME, [*map(GAME.parse_action, MOVES)])]))["games"]
    badges, labels = game["steps"][-1][4]
    fences, none, posts = ({GAME.square_name(s) for s in squares} for squares in badges)
    assert (fences, none, posts) == ({"b2", "d2"}, set(), {"c1"})
    assert labels == {str(GAME.parse_square("a1")): "3"}


def test_prompts_explain_every_kind_of_move():
    """As the game writes them; a part without a legal move has an example too."""
    said = write_prompt(GameSession(GAME))
    assert "a fence along its upper edge as a square and f, like b1f; or for a fence along" in said
    assert "as a square and p, like b1p. Think" in said
    assert "a hyphen and the square that it goes to, as in b1-b3" in write_prompt(
        GameSession(make("lines_of_action"))
    )
