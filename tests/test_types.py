"""Type checkers know the options of the environments, and what they know is true."""

import inspect
from pathlib import Path
from typing import get_type_hints

import pytest

from boardenvs import games, lines_of_action_v0, othello_v0, wolf_and_sheep_v0
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.options import BoardOptions, SingleOptions, VectorOptions
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.envs.vector import BoardVectorEnv
from boardenvs.utils.spec import parameters_of

ROOT = Path(__file__).resolve().parents[1]

RIGHT = """\
import boardenvs
from boardenvs import lines_of_action_v0, othello_holes_v0, othello_v0, reversi_v0
from boardenvs import wolf_and_sheep_v0

env = othello_v0.env(reward="goal", render_mode="ansi", holes=1)
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    if terminated or truncated:
        action = None
    else:
        action = env.action_space(agent).sample(observation["action_mask"])
    env.step(action)
wolf_and_sheep_v0.raw_env(rules="described", max_plies=None)
lines_of_action_v0.parallel_env(rules="classic", max_steps=30)
reversi_v0.vec_env(8, opponent="greedy", seat="black", opening_plies=(0, 4), copy=False)
othello_holes_v0.vec_env(num_envs=8, reward="goal", holes=2)
boardenvs.env("othello", holes=1)
boardenvs.vec_env("othello", 8).reset()[0].shape
boardenvs.render.Picture, boardenvs.play.review
"""

WRONG = [
    'boardenvs.othello_v0.env(rewrd="goal")',
    'boardenvs.othello_v0.env(reward="goals")',
    'boardenvs.othello_holes_v0.raw_env(rules="classic")',
    "boardenvs.reversi_v0.parallel_env(hole=1)",
    'boardenvs.wolf_and_sheep_v0.env(rules="clasic")',
    "boardenvs.wolf_and_sheep_v0.vec_env(4, max_steps=3)",
    "boardenvs.lines_of_action_v0.vec_env(4, seats=1)",
    "boardenvs.othello_v0.env().reset(sed=1)",
    'boardenvs.vec_env("othello", 8, oponent="greedy")',
    'boardenvs.env("othello", rewrd="goal")',
    "boardenvs.plya_match(1)",
]


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """What mypy says of a file with what is right, and of one with what is wrong."""
    api = pytest.importorskip("mypy.api")
    folder = tmp_path_factory.mktemp("snippets")
    (folder / "right.py").write_text(RIGHT, encoding="utf-8")
    (folder / "wrong.py").write_text("\n".join(["import boardenvs", *WRONG]), encoding="utf-8")
    # As `make lint` checks everything else, with what it keeps.
    options = [
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(ROOT / ".mypy_cache"),
    ]
    shown, error, _ = api.run([*options, str(folder)])
    assert not error, error
    errors = [line for line in shown.splitlines() if ": error:" in line]
    return {name: [x for x in errors if f"{name}.py:" in x] for name in ("right", "wrong")}


def test_right_options_pass(complaints):
    assert complaints["right"] == []


def test_each_misspelt_option_is_found(complaints):
    found = complaints["wrong"]
    lines = {int(line.split(":")[1]) for line in found}
    assert lines == set(range(2, 2 + len(WRONG))), found


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (BoardOptions, BoardAECEnv),
        (BoardOptions, BoardParallelEnv),
        (SingleOptions, BoardSingleEnv),
        (VectorOptions, BoardVectorEnv),
    ],
)
def test_options_are_those_of_the_constructors(options, environment):
    own = ("on_illegal",)
    parameters = inspect.signature(environment).parameters.values()
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in own]
    assert set(get_type_hints(options)) == set(named)
    hints = get_type_hints(environment.__init__)
    assert all(hints[name] == hint for name, hint in get_type_hints(options).items())


@pytest.mark.parametrize(
    ("module", "rules"),
    [
        (othello_v0, othello_v0.OthelloRules),
        (wolf_and_sheep_v0, wolf_and_sheep_v0.WolfAndSheepRules),
        (lines_of_action_v0, lines_of_action_v0.LinesOfActionRules),
    ],
)
def test_rule_options_are_those_of_the_game(module, rules):
    declared = get_type_hints(rules)
    assert set(declared) == set(games.parameters(module.game_id))
    known = parameters_of(games.GAMES[module.game_id])
    for name, hint in declared.items():
        if known[name] is str:  # declared more narrowly, by its values
            for value in hint.__args__:
                assert getattr(games.make(module.game_id, **{name: value}), name) == value
            with pytest.raises(ValueError, match="none") as told:
                games.make(module.game_id, **{name: "none"})
            assert all(value in str(told.value) for value in hint.__args__)
        else:
            assert hint == known[name]
