"""Type checkers know the options of the environments, and what they know is true.

It is this file that is checked, as everything is by `make lint`: there a `type: ignore` where
nothing is wrong is an error.
"""

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel

import boardenvs
from boardenvs import games, lines_of_action_v0, othello_v0, wolf_and_sheep_v0 as wolf_v0
from boardenvs.agents.spec import AGENTS, factory_of
from boardenvs.cli import app
from boardenvs.envs import factory
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.envs.vector import BoardVectorEnv


def test_right_options_pass() -> None:
    env = othello_v0.env(reward="goal", render_mode="ansi", holes=1)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, _reward, terminated, truncated, _info = env.last()
        mask = observation["action_mask"]
        env.step(None if terminated or truncated else env.action_space(agent).sample(mask))
    wolf_v0.raw_env(rules="described", max_plies=None)
    lines_of_action_v0.vec_env(8, opponent="greedy", opening_plies=(0, 4), max_steps=30)
    boardenvs.env("othello", holes=1)
    assert boardenvs.vec_env("othello", 8).reset()[0].shape[0] == 8
    assert callable(boardenvs.play.review)


WRONG: list[Callable[[], object]] = [
    lambda: othello_v0.env(rewrd="goal"),  # type: ignore[call-arg]
    lambda: othello_v0.env(reward="goals"),  # type: ignore[arg-type]
    lambda: wolf_v0.raw_env(rules="clasic"),  # type: ignore[arg-type]
    lambda: lines_of_action_v0.vec_env(4, seats=1),  # type: ignore[call-arg]
    lambda: othello_v0.env().reset(sed=1),  # type: ignore[call-arg]
    lambda: boardenvs.vec_env("othello", 8, oponent="greedy"),
    lambda: boardenvs.plya_match(1),  # type: ignore[attr-defined]
]


@pytest.mark.parametrize("wrong", WRONG)
def test_misspelt_options_are_found(wrong: Callable[[], object]) -> None:
    """By whoever runs them too."""
    with pytest.raises((AttributeError, TypeError, ValueError)):
        wrong()


def options_of(function: Callable[..., object]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "on_illegal"}


def types_of(function: Callable[..., object]) -> dict[str, object]:
    """The types of the options, those of `**options` too."""
    hints = get_type_hints(function)
    return {name: hints[name] for name in options_of(function)} | (
        get_type_hints(*get_args(hints["options"])) if "options" in hints else {}
    )


ENVIRONMENTS = [
    ("env", BoardAECEnv),
    ("raw_env", BoardAECEnv),
    ("parallel_env", BoardParallelEnv),
    ("vec_env", BoardVectorEnv),
    ("single_env", BoardSingleEnv),
]


@pytest.mark.parametrize(("name", "environment"), ENVIRONMENTS)
def test_options_are_those_of_the_constructors(name, environment):
    assert options_of(getattr(factory, name)) == options_of(environment)


@pytest.mark.parametrize(("name", "environment"), ENVIRONMENTS[:-1])
@pytest.mark.parametrize("game_id", games.BUILT_IN)
def test_a_module_has_the_options_of_its_game_and_environment(game_id, name, environment):
    module = import_module(f"boardenvs.{game_id}_v0")
    function = getattr(module, name)
    assert inspect.getsource(function).startswith(f"def {name}(")
    hints, rules = types_of(function), games.parameters(game_id)
    assert {*rules} <= {*hints}
    others = {k: kind for k, kind in hints.items() if k not in rules}
    assert others == types_of(environment.__init__)
    game = function().game
    assert game == games.make(game_id)
    for rule in rules:
        for value in get_args(hints[rule]) if get_origin(hints[rule]) is Literal else ():
            assert getattr(function(**{rule: value}).game, rule) == value


# ---- defaults ------------------------------------------------------------------------------------

DEFAULTS = Path(__file__).parent / "defaults.txt"
PACKAGES = ("", ".agents", ".arena", ".exams", ".game", ".games", ".play", ".records", ".render",
            ".search", ".tablebase", ".text")  # fmt: skip
MODULES = (
    *("boardenvs.envs.factory", *(f"boardenvs.{name}_v0" for name in games.BUILT_IN)),
    "boardenvs.envs.groups",
    *("training.run_settings", "training.gumbel.gumbel_settings"),
    "training.ntuple.ntuple_settings",
)


def called_by_users() -> Iterator[tuple[str, Any]]:
    """Public functions and classes of packages and modules, players and commands."""
    for module in map(import_module, [*(f"boardenvs{name}" for name in PACKAGES), *MODULES]):
        for name in sorted(getattr(module, "__all__", vars(module))):
            value = getattr(module, name)
            its = getattr(value, "__module__", "")
            if its.startswith(("boardenvs.", "training.")) and not name.startswith("_"):
                yield f"{module.__name__}.{name}", value
    yield from ((f"player {name}", factory_of(name)) for name in AGENTS)
    yield from ((f"command {c.name}", c.callback) for c in app.registered_commands)


def defaults(function: Any) -> str:
    """Those that a signature shows as they are, "depth=4 rules='classic'"."""
    plain = (bool, int, float, str, tuple, BaseModel, NoneType)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # no function, or a type of C's
        return ""
    return " ".join(f"{p.name}={p.default!r}" for p in parameters if isinstance(p.default, plain))


def all_defaults() -> str:
    lines = dict[int, str]()
    for name, value in called_by_users():
        methods = [m for m in vars(value) if m[0] != "_"] if inspect.isclass(value) else []
        for title, its in [(name, value), *((f"{name}.{m}", getattr(value, m)) for m in methods)]:
            if text := defaults(its):
                lines.setdefault(id(its), f"{title}: {text}\n")
    return "".join(sorted(lines.values()))


def test_defaults_are_those_that_users_have() -> None:
    """A new one belongs into the changelog; `python tests/test_types.py` writes the file again."""
    assert all_defaults() == DEFAULTS.read_text(encoding="utf-8")


if __name__ == "__main__":
    DEFAULTS.write_text(all_defaults(), encoding="utf-8", newline="\n")
