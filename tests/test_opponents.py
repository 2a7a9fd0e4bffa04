"""What `opponent=` takes, in every environment that has it."""

from __future__ import annotations

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


def vector(opponent: Any) -> Any:
    env = BoardVectorEnv(OTHELLO, 8, opponent=opponent, seat="red")
    env.reset(seed=0)
    return env.batch.state.own.tolist()


def grouped(opponent: Any) -> Any:
    env = BoardVecEnv(OTHELLO, groups=[BoardGroup(8, opponent, "red")], seed=0)
    return env.state.own.tolist()


def single(opponent: Any) -> Any:
    env = BoardSingleEnv(OTHELLO, opponent=opponent, seat="red")
    env.reset(seed=0)
    return env.board.position.own


ENVIRONMENTS = pytest.mark.parametrize("begin", [vector, grouped, single])
Begin = Callable[[Any], Any]


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


@ENVIRONMENTS
@pytest.mark.parametrize(
    ("opponent", "error", "message"),
    [
        (5, TypeError, "5 is not an agent: it must have act"),
        (lambda a, b, c, d: 0, TypeError, "it must take"),
        ("greddy", ValueError, "unknown agent 'greddy'. Did you mean 'greedy'"),
        ("perfect", ValueError, "'perfect' cannot play othello"),
    ],
)
def test_what_cannot_be_used_is_said_at_once(
    begin: Begin, opponent: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        begin(opponent)


@ENVIRONMENTS
@pytest.mark.parametrize(
    ("choice", "error", "message"),
    [
        (
            lambda size: np.zeros(size, int),
            IllegalActionError,
            r"chose 0.*; legal: \[20, 29, 34, 43\]",
        ),
        (lambda size: np.zeros(size + 1, int), ValueError, "actions have shape"),
        (lambda size: np.full(size, 19.0), TypeError, "actions are float64: they must be integers"),
    ],
)
def test_what_an_opponent_may_not_choose_is_named(
    begin: Begin, choice: Callable[..., Any], error: type[Exception], message: str
) -> None:
    def act(game: games.Game, state: Any, rng: np.random.Generator) -> Any:
        return choice(len(state.ply))

    with pytest.raises(error, match=message):
        begin(act)


def test_another_opponent_that_takes_over_must_be_one_too() -> None:
    env = BoardVecEnv(OTHELLO, 4, opponent="random")
    with pytest.raises(ValueError, match="'perfect' cannot play othello"):
        env.boards.set_opponents("boards", ["perfect"])
