"""The page of a game, and the docstring of its module, tell the truth about its environments."""

import importlib
import re
from itertools import chain

import pytest
from three_in_a_row import ThreeInARow

from boardenvs import games
from boardenvs.envs.core import env_name
from boardenvs.envs.page import page_of
from boardenvs.game.notation import Parts


def page(game_id):
    module = importlib.import_module(f"boardenvs.{env_name(games.make(game_id))}")
    text = page_of(games.make(game_id))
    rows = re.findall(r"^\| ([^|]+?) +\| ([^|]+?) \|$", text, re.MULTILINE)
    return module, text, dict(rows)


@pytest.mark.parametrize("game_id", games.BUILT_IN)
def test_table(game_id):
    module, _, table = page(game_id)
    env = module.env()
    env.reset()
    agent = env.possible_agents[0]
    actions, views = env.action_space(agent), env.observation_space(agent)
    expected = {
        "Import": f"`from boardenvs import {env_name(env.game)}`",
        "Action Values": f"Discrete({actions.n})",
        "Agents": f"`agents= {env.possible_agents}`",
        "Observation Shape": str(views["observation"].shape),
        "State Shape": str(env.state_space.shape),
    }
    assert {key: table[key] for key in expected} == expected
    planes = [range(int(n[0]), int(n[-1]) + 1) for key in table if (n := re.findall(r"\d+", key))]
    assert [*chain(*planes)] == list(range(env.game.observation_shape[-1]))
    assert f"int8 {env.game.observation_shape}" in module.__doc__.replace("\n", " ")
    assert f"action {actions.n - 1} " in module.__doc__.replace("\n", " ")


@pytest.mark.parametrize("game_id", games.BUILT_IN)
def test_y_is_the_rank_in_all_that_is_said_of_squares(game_id):
    module, text, _ = page(game_id)
    game = games.make(game_id)
    last = {int(n) for n in re.findall(r"Action [sx], 0 to\s(\d+)", text)}
    assert last <= {game.action_sizes[0] - 1}
    named = re.findall(r"\b(\d+)\sis\s([a-z]\d+)\b", text)
    assert all(game.square_name(int(number)) == name for number, name in named)
    if isinstance(game.notation, Parts):
        first = sum(game.notation.parts[0].sizes(game))
        assert f"From {first} on: " in text.replace("\n", " ")
    (row,) = re.findall(r"`observation\[(.+?), x-1, plane\]`", text)
    numbers = re.findall(r"`s = (.+?)`", text) + re.findall(
        r"Action (\d[^,]+?\(x-1\))", module.__doc__
    )
    for square in range(game.board.size):
        name = game.square_name(square)
        place = {"x": square % game.board.columns + 1, "y": int(re.sub(r"\D", "", name))}
        assert eval(row, place) == square // game.board.columns
        assert {eval(number.replace("\n", " "), place) for number in numbers} <= {square}


def test_rules_are_paragraphs_on_a_line_each():
    texts = [games.make(game_id).rules_text for game_id in games.BUILT_IN]
    assert not any("\n" in part for text in texts for part in text.split("\n\n"))
    assert sum("\n\n" in text for text in texts) > 3


@pytest.mark.parametrize("game_id", games.BUILT_IN)
def test_options_and_example_position(game_id):
    _, text, _ = page(game_id)
    options = text.split("## Options")[1].split("##")[0]
    documented = set(re.findall(r"^- `(\w+)`", options, re.MULTILINE))
    assert documented == {"render_mode", "reward", *games.parameters(game_id)}
    (example,) = re.findall(r'text: `"([^"]+)"`', options)
    assert example == games.make(game_id).start().fen()


def test_any_game_has_a_page():
    page = page_of(ThreeInARow())
    assert page.startswith("# Three in a row\n\nThree in a row win; a full board")
    assert 'boardenvs.env("three_in_a_row:ThreeInARow", render_mode="ansi")' in page
    assert "| 1 | the opponent's pieces |\n\n" in page  # two planes
    assert "`id`" not in page
    assert "gymnasium.make" not in page.split("## Gymnasium")[1]  # it is not registered
