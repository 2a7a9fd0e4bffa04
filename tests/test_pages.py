"""Each public module's docstring, the game's page, tells the truth about its environments."""

import importlib
import inspect
import re

import pytest
from gymnasium import spaces
from three_in_a_row import ThreeInARow

import boardenvs
from boardenvs import games
from boardenvs.envs.core import env_name
from boardenvs.envs.page import page_of
from boardenvs.envs.single import BoardSingleEnv

GAME_IDS = list(games.BUILT_IN)


def page(game_id):
    module = importlib.import_module(f"boardenvs.{env_name(games.make(game_id))}")
    rows = re.findall(r"^\| ([^|]+?) +\| ([^|]+?) \|$", module.__doc__, re.MULTILINE)
    return module, dict(rows)


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_table(game_id):
    module, table = page(game_id)
    env = module.env()
    env.reset()
    agent = env.possible_agents[0]
    action_space, views = env.action_space(agent), env.observation_space(agent)
    assert table["Import"] == f"`from boardenvs import {env_name(games.make(game_id))}`"
    assert isinstance(action_space, spaces.Discrete)
    assert table["Actions"] == "Discrete"
    assert table["Action Values"] == f"Discrete({action_space.n})"
    assert table["Action Shape"] == str(action_space.shape)
    assert table["Parallel API"] == "Yes"
    assert module.parallel_env().possible_agents == env.possible_agents
    assert table["Agents"] == f"`agents= {env.possible_agents}`"
    assert table["Number of Agents"] == str(env.num_agents)
    assert table["Observation Shape"] == str(views["observation"].shape)
    assert table["Observation Values"] == "[0, 1]"
    assert table["State Shape"] == str(env.state_space.shape)


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_planes_cover_the_observation(game_id):
    module, table = page(game_id)
    numbers = [key for key in table if re.fullmatch(r"\d+( to \d+)?", key)]
    listed = []
    for key in numbers:
        first, _, last = key.partition(" to ")
        listed += range(int(first), int(last or first) + 1)
    assert listed == list(range(module.env().game.observation_shape[-1]))


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_options_and_example_position(game_id):
    module, _ = page(game_id)
    options = module.__doc__.split("## Options")[1].split("##")[0]
    documented = set(re.findall(r"^- `(\w+)`", options, re.MULTILINE))
    assert documented == {"render_mode", "reward", *games.parameters(game_id)}
    game = games.make(game_id)
    (example,) = re.findall(r'text: `"([^"]+)"`', options)
    assert example == game.start().fen()


def test_any_game_has_a_page():
    page = page_of(ThreeInARow())
    assert page.startswith("# Three in a row\n\nThree in a row win; a full board")
    assert 'boardenvs.env("three_in_a_row:ThreeInARow", render_mode="ansi")' in page
    assert "| 1 | the opponent's pieces |\n\n" in page  # two planes
    assert "`id`" not in page
    assert "gymnasium.make" not in page.split("## Gymnasium")[1]  # it is not registered


def test_the_page_says_whose_default_a_scale_of_rewards_is():
    page = page_of(games.make("othello"))
    by_scale = dict(re.findall(r'^\| `"(\w+)"` \|.* \| ([^|]+) \|$', page, re.MULTILINE))
    assert set(by_scale) == {"goal", "zero_sum"}
    for maker in ("env", "raw_env", "parallel_env", "vec_env"):
        parameters = inspect.signature(getattr(boardenvs.othello_v0, maker)).parameters
        assert f"`{maker}`" in by_scale[parameters["reward"].default]
    single = inspect.signature(BoardSingleEnv).parameters["reward"].default
    assert "`gymnasium.make`" in by_scale[single]
