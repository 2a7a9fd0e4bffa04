"""What `opponent=` takes, in every environment that has it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from boardenvs import IllegalActionError, games
from boardenvs.agents import make_agent
from boardenvs.envs.batch import BoardGroup
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.envs.vector import BoardVectorEnv

OTHELLO = games.make("othello")


def vector(opponent: Any, steps: int = 0) -> Any:
    env = BoardVectorEnv(OTHELLO, 8, opponent=opponent, seat="red")
    env.reset(seed=0)
    for _ in range(steps):
        env.step(OTHELLO.legal(env.batch.state).argmax(axis=1))
    return env.batch.state.own.tolist()


def grouped(opponent: Any, steps: int = 0) -> Any:
    env = BoardVecEnv(OTHELLO, groups=[BoardGroup(8, opponent, "red")], seed=0)
    for _ in range(steps):
        env.step(env.action_masks().argmax(axis=1))
    return env.state.own.tolist()


def single(opponent: Any, steps: int = 0) -> Any:
    env = BoardSingleEnv(OTHELLO, opponent=opponent, seat="red")
    env.reset(seed=0)
    for _ in range(steps):
        env.step(env.action_masks().argmax())
    return env.board.position.own


ENVIRONMENTS = pytest.mark.parametrize("begin", [vector, grouped, single])
Begin = Callable[..., Any]


def last_of_one(observation: dict[str, Any]) -> int:
    return int(np.flatnonzero(observation["action_mask"])[-1])


def last_of_one_as_role(observation: dict[str, Any], agent: str) -> int:
    assert agent == "black"
    return last_of_one(observation)


def last_of_all(game: games.Game, state: Any, rng: np.random.Generator) -> Any:
    return game.num_actions - 1 - game.legal(state)[:, ::-1].argmax(axis=1)


class Last:
    def act(self, game: games.Game, state: Any, rng: np.random.Generator) -> Any:
        return last_of_all(game, state, rng)


@ENVIRONMENTS
def test_functions_agents_classes_and_texts_play(begin: Begin) -> None:
    played = [begin(x) for x in (last_of_one, last_of_one_as_role, last_of_all, Last, Last())]
    opened = OTHELLO.start().step(43).own
    assert all(np.all(np.array(own) == opened) for own in played)
    assert begin("greedy") == begin(make_agent("greedy"))


def chooses(choice: Callable[[int], Any]) -> Callable[..., Any]:
    def act(game: games.Game, state: Any, rng: np.random.Generator) -> Any:
        return choice(len(state.ply))

    return act


@ENVIRONMENTS
@pytest.mark.parametrize(
    ("opponent", "error", "message"),
    [
        (5, TypeError, "5 is not an agent: it must have act"),
        (lambda a, b, c, d: 0, TypeError, "it must take"),
        ("greddy", ValueError, "unknown agent 'greddy'. Did you mean 'greedy'"),
        ("perfect", ValueError, "'perfect' cannot play othello"),
        (chooses(np.zeros), TypeError, "actions are float64: they must be integers"),
        (chooses(lambda n: np.zeros(n + 1, int)), ValueError, "actions have shape"),
        (
            chooses(lambda n: np.zeros(n, int)),
            IllegalActionError,
            r"chose 0.*; legal: \[20, 29, 34, 43\]",
        ),
    ],
)
def test_what_cannot_be_used_is_said_at_once(
    begin: Begin, opponent: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        begin(opponent)


@ENVIRONMENTS
def test_what_an_opponent_was_asked_stays_as_it_was(begin: Begin) -> None:
    asked, copies = [], []

    def act(game: games.Game, state: Any, rng: np.random.Generator) -> Any:
        asked.append(state)
        copies.append(copy.deepcopy(state))
        return last_of_all(game, state, rng)

    begin(act, steps=20)
    assert len(asked) > 20
    for state, then in zip(asked, copies, strict=True):
        for column, was in zip(state.arrays, then.arrays, strict=True):
            np.testing.assert_array_equal(column, was)


def test_another_opponent_that_takes_over_must_be_one_too() -> None:
    env = BoardVecEnv(OTHELLO, 4, opponent="random")
    with pytest.raises(ValueError, match="'perfect' cannot play othello"):
        env.boards.set_opponents("boards", ["perfect"])
