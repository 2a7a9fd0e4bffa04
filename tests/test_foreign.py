"""Players of others: told apart by what they take, found in modules, refused with a reason."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arena_agents import lowest
from variants import GAMES

from boardenvs.agents import as_agent, make_agent
from boardenvs.envs.factory import raw_env
from boardenvs.game.openings import random_openings
from boardenvs.games import make

GAME = make("othello")
STATE = random_openings(GAME, 20, (0, 40), np.random.default_rng(0))
LOWEST = GAME.legal(STATE).argmax(axis=1)


class Callable2:
    """A policy object, called as PettingZoo's examples do."""

    def __call__(self, observation: dict[str, Any], agent: str) -> int:
        return lowest(observation, agent)


class Batched:
    def act(self, game: Any, state: Any, rng: Any) -> Any:
        return game.legal(state).argmax(axis=1)


def with_option(observation: dict[str, Any], agent: str, temperature: float = 1.0) -> int:
    return lowest(observation, agent)


FORMS: dict[str, Any] = {
    "policy(observation, agent)": lowest,
    "policy(observation)": lambda observation: lowest(observation, ""),
    "policy with an option": with_option,
    "policy with a choice": lambda observation, best=True, agent=7: (
        lowest(observation, "") + 99 * (best is not True or agent != 7)
    ),
    "policy(observation, agent=None)": lambda observation, agent=None: lowest(observation, agent),
    "a batched function with rng=None": lambda game, state, rng=None: game.legal(state).argmax(1),
    "a partial": partial(with_option, temperature=2.0),
    "a callable object": Callable2(),
    "a class of callables": Callable2,
    "an agent": Batched(),
    "a class of agents": Batched,
    "a batched function": lambda game, state, rng: game.legal(state).argmax(axis=1),
    "a factory": lambda: lowest,
    "a factory with an option": lambda weights=None: lowest,
}


@pytest.mark.parametrize("given", FORMS.values(), ids=FORMS)
def test_every_form_plays(given: object) -> None:
    assert np.array_equal(as_agent(given).act(GAME, STATE, np.random.default_rng(0)), LOWEST)


@pytest.mark.parametrize("game_id", GAMES)
def test_a_policy_sees_what_pettingzoo_shows(game_id: str) -> None:
    seen: list[tuple[dict[str, Any], str]] = []

    def policy(observation: dict[str, Any], agent: str) -> int:
        seen.append((observation, agent))
        return lowest(observation, agent)

    game, env = make(game_id), raw_env(game_id)
    env.reset()
    state = game.init(1)
    while not game.is_over(state)[0]:
        (action,) = as_agent(policy).act(game, state, np.random.default_rng(0))
        (observation, role) = seen.pop()
        shown = env.last()[0]
        assert role == env.agent_selection
        assert {name: array.dtype for name, array in observation.items()} == {
            name: array.dtype for name, array in shown.items()
        }
        np.testing.assert_equal(observation, shown)
        env.step(action)
        state = game.step(state, np.array([action]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (5, "5 is not an agent"),
        (None, "None is not an agent"),
        (lambda a, b, c, d: 0, r"takes \(a, b, c, d\): it must take"),
        (min, "does not say what it takes"),
        (lambda *inputs, **options: 5, "does not say what it takes"),  # as modules of torch are
        (lambda: 5, "5 is not an agent"),
    ],
)
def test_what_is_no_agent_is_refused(given: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        as_agent(given)


def test_modules_of_the_current_folder_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "class Bots:\n    @staticmethod\n    def first(o, a): return o['action_mask'].argmax()\n"
    (tmp_path / "my_bots.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    agent = make_agent("python:my_bots:Bots.first")
    assert np.array_equal(agent.act(GAME, STATE, np.random.default_rng(0)), LOWEST)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("python", "lacks target"),
        ("python:arena_agents", "write MODULE:NAME"),
        ("python:arena_agents:", "write MODULE:NAME"),
        ("python:no_such_module_here:f", "cannot import 'no_such_module_here'"),
        ("python:arena_agents:lowset", "Did you mean 'lowest'"),
        ("python:arena_agents:os", "is not an agent"),
    ],
)
def test_what_names_no_agent_is_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec)
