"""Each public module's docstring, the game's page, tells the truth about its environments."""

import importlib
import re

import pytest
from gymnasium import spaces

from boardenvs import games
from boardenvs.envs.factory import env_name
from boardenvs.game import fen

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
    assert example == fen.write_position(game, game.start())


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_noop_and_mask_size(game_id):
    module, _ = page(game_id)
    game = games.make(game_id)
    assert f"has one legal action, noop ({game.noop})" in module.__doc__
    assert f"({game.num_actions},)" in module.__doc__
    assert re.search(rf"Action\s+{game.noop}\s+is\s+noop", module.__doc__)
