"""Type checkers know the options of the environments, and what they know is true.

It is this file that is checked, as everything is by `make lint`: there a `type: ignore` where
nothing is wrong is an error.
"""

import inspect
from collections.abc import Callable
from typing import get_type_hints

import pytest

import boardenvs
from boardenvs import games, lines_of_action_v0, othello_holes_v0, othello_v0, reversi_v0
from boardenvs import wolf_and_sheep_v0 as wolf_v0
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.factory import BoardOptions, SingleOptions, VectorOptions
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.envs.vector import BoardVectorEnv
from boardenvs.utils.spec import parameters_of


def test_right_options_pass() -> None:
    env = othello_v0.env(reward="goal", render_mode="ansi", holes=1)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, _reward, terminated, truncated, _info = env.last()
        mask = observation["action_mask"]
        env.step(None if terminated or truncated else env.action_space(agent).sample(mask))
    wolf_v0.raw_env(rules="described", max_plies=None)
    lines_of_action_v0.parallel_env(rules="classic", max_steps=30)
    reversi_v0.vec_env(8, opponent="greedy", seat="black", opening_plies=(0, 4), copy=False)
    othello_holes_v0.vec_env(num_envs=8, reward="goal", holes=2)
    boardenvs.env("othello", holes=1)
    assert boardenvs.vec_env("othello", 8).reset()[0].shape[0] == 8
    assert callable(boardenvs.render.Picture)
    assert callable(boardenvs.play.review)


WRONG: list[Callable[[], object]] = [
    lambda: othello_v0.env(rewrd="goal"),  # type: ignore[call-arg]
    lambda: othello_v0.env(reward="goals"),  # type: ignore[arg-type]
    lambda: othello_holes_v0.raw_env(rules="classic"),  # type: ignore[call-arg]
    lambda: reversi_v0.parallel_env(hole=1),  # type: ignore[call-arg]
    lambda: wolf_v0.env(rules="clasic"),  # type: ignore[arg-type]
    lambda: wolf_v0.vec_env(4, max_steps=3),  # type: ignore[call-arg]
    lambda: lines_of_action_v0.vec_env(4, seats=1),  # type: ignore[call-arg]
    lambda: othello_v0.env().reset(sed=1),  # type: ignore[call-arg]
    lambda: boardenvs.vec_env("othello", 8, oponent="greedy"),  # type: ignore[call-arg]
    lambda: boardenvs.env("othello", rewrd="goal"),  # type: ignore[call-arg]
    lambda: boardenvs.plya_match(1),  # type: ignore[attr-defined]
]


@pytest.mark.parametrize("wrong", WRONG)
def test_misspelt_options_are_found(wrong: Callable[[], object]) -> None:
    """By whoever runs them too."""
    with pytest.raises((AttributeError, TypeError, ValueError)):
        wrong()


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
        (wolf_v0, wolf_v0.WolfAndSheepRules),
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
