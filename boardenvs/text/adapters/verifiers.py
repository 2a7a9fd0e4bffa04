"""Prime Intellect's `verifiers`: games, and questions of exams, as tasks that a trainer loads.

    config = {"taskset": {"id": "boardenvs-verifiers", "game": "othello", "reward": "level"}}
    env = vf.load_environment(vf.resolve_env_config(config))

A task is a game against one of `opponents`, in turn, or with `reward="move"` a question of the
game's exam.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import verifiers.v1 as vf
from pydantic import model_validator

from boardenvs.agents.levels import LEVELS
from boardenvs.records.jsonl import write_record
from boardenvs.text import ExamEnv, TextEnv
from boardenvs.text.question import RETRIES

_LEVELS = [f"level:{number}" for number in range(1, LEVELS + 1)]


class BoardConfig(vf.TasksetConfig):
    """What tasks are drawn from.

    reward: "outcome" is 1, .5 or 0 of a game; "level" is that times a tenth of the opponent's
    level, so that a win against "level:10" is 1; "move" is the reward of a move of an exam, see
    `ExamEnv`. The others are the parameters of `TextEnv`.
    """

    game: str = "othello"
    reward: Literal["outcome", "level", "move"] = "outcome"
    opponents: list[str] = _LEVELS
    seat: str = "random"
    opening_plies: tuple[int, int] = (0, 0)
    board: Literal["ascii", "fen", "json"] = "ascii"
    legal_moves: bool = True
    disguise: int | None = None
    retries: int = RETRIES

    def parameters(self, number: int) -> dict[str, Any]:
        """Those of the environment of this task."""
        names = {"game", "board", "legal_moves", "disguise", "retries"}
        if self.reward == "move":
            return dict(self.model_dump(include=names))
        opponent = self.opponents[number % len(self.opponents)]
        names |= {"seat", "opening_plies"}
        return {**self.model_dump(include=names), "opponent": opponent}

    @model_validator(mode="after")
    def _check(self) -> BoardConfig:
        """Raise what is wrong before there is a task."""
        if not self.opponents or (self.reward == "level" and {*self.opponents} - {*_LEVELS}):
            raise ValueError(
                f"opponents is {self.opponents}: it must have one or more, and nothing but levels "
                "where these are paid"
            )
        for number in range(len(self.opponents)):
            _made(self.reward, self.parameters(number))
        return self


class BoardData(vf.TaskData):
    """A task: the parameters of its environment, and the game's seed or the question's number."""

    reward: str
    parameters: dict[str, Any]
    seed: int


class BoardTask(vf.Task[BoardData, vf.State, vf.TaskConfig]):
    """A game, or a question of an exam."""


class BoardTaskset(vf.Taskset[BoardTask, BoardConfig]):
    """Games with the seeds 0, 1, 2 and so on without an end, or all questions of the exam."""

    def __init__(self, config: BoardConfig) -> None:
        super().__init__(config)
        self.INFINITE = config.reward != "move"

    def load(self) -> Iterator[BoardTask]:
        config = self.config
        seeds: Iterable[int] = itertools.count()
        if config.reward == "move":
            seeds = range(len(ExamEnv(**config.parameters(0))))
        for seed in seeds:
            name, parameters = f"{config.game}#{seed}", config.parameters(seed)
            data = BoardData(name=name, reward=config.reward, parameters=parameters, seed=seed)
            yield BoardTask(data, config.task)


def _made(reward: str, parameters: dict[str, Any]) -> TextEnv:
    """The environment of a task."""
    return (ExamEnv if reward == "move" else TextEnv)(**parameters)


def _reward(env: TextEnv, data: BoardData) -> float:
    """Of an episode, 0 to 1; a game that was broken off is lost."""
    if data.reward == "move":
        return env.reward
    score = (env.reward + 1) / 2 if env.done else 0.0
    if data.reward == "level":
        score *= int(data.parameters["opponent"].removeprefix("level:")) / LEVELS
    return score


class BoardEnvConfig(vf.EnvConfig):
    """One seat, `player`: the model that is trained or measured."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class TextBoardEnv(vf.Env[BoardEnvConfig]):
    """Plays the tasks. Metrics say how replies were read; `trace.info` has a game's record."""

    async def run(self, task: BoardTask, agents: vf.Agents) -> None:
        data = task.data
        env = _made(data.reward, data.parameters)
        await asyncio.to_thread(env.reset, seed=data.seed)
        async with agents.player.interaction(task) as talk:
            while not env.done and not (segment := await talk.turn(env.prompt)).terminated:
                call = talk.trace.calls[-1]
                used = call.usage
                await asyncio.to_thread(
                    env.step,
                    segment.last_reply,
                    finished=call.finish_reason != "length",
                    tokens=(used.input_tokens, used.completion_tokens) if used else (0, 0),
                )
        talk.trace.record_reward(data.reward, _reward(env, data))
        talk.trace.record_metrics(env.counts.to_json())
        if data.reward != "move":
            talk.trace.info["record"] = write_record(env.result.record)
