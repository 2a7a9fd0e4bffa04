"""Prime Intellect's `verifiers`: games, and questions of exams, as tasks that a trainer loads.

    config = {"taskset": {"id": "boardenvs-verifiers", "game": "othello", "reward": "level"}}
    env = vf.load_environment(vf.resolve_env_config(config))

A task is a game against one of `opponents`, in turn, or with `reward="move"` a question of the
game's exam. The taskset brings a harness of its own, which asks in this process and one prompt at a
time, as each prompt has the whole game in it: each reply is a sample to train on.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import httpx
import verifiers.v1 as vf
from pydantic import model_validator

from boardenvs.records.jsonl import write_record
from boardenvs.text import ExamEnv, TextEnv

_LEVELS = [f"level:{number}" for number in range(1, 11)]


class BoardConfig(vf.TasksetConfig):
    """What tasks are drawn from.

    reward: "outcome" is 1, .5 or 0 of a game; "level" is that times a tenth of the opponent's
    level, so that a win against "level:10" is 1; "move" is what a move of an exam is worth, see
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
    retries: int = 2

    @model_validator(mode="after")
    def _check_opponents(self) -> BoardConfig:
        if not self.opponents or (self.reward == "level" and {*self.opponents} - {*_LEVELS}):
            raise ValueError(f"opponents is {self.opponents}: it must have one or more levels")
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
        common = {"game", "board", "legal_moves", "disguise", "retries"}
        more = {"seat", "opening_plies"} if self.INFINITE else set()
        parameters = config.model_dump(include=common | more)
        seeds: Iterable[int] = itertools.count()
        if not self.INFINITE:
            seeds = range(len(ExamEnv(**parameters)))
        for seed in seeds:
            opponent = {"opponent": config.opponents[seed % len(config.opponents)]}
            data = BoardData(
                name=f"{config.game}#{seed}",
                reward=config.reward,
                parameters=parameters | (opponent if self.INFINITE else {}),
                seed=seed,
            )
            yield BoardTask(data, config.task)


def _reward(env: TextEnv | ExamEnv, data: BoardData) -> float:
    """What the episode is worth, 0 to 1; a game that was broken off is lost."""
    if data.reward == "move":
        return env.reward
    score = (env.reward + 1) / 2 if env.done else 0.0
    if data.reward == "level":
        score *= int(data.parameters["opponent"].removeprefix("level:")) / len(_LEVELS)
    return score


class BoardEnvConfig(vf.EnvConfig):
    """One seat, `player`: the model that is trained or measured."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class BoardEnv(vf.Env[BoardEnvConfig]):
    """Plays the tasks. Metrics say how replies were read; `trace.info` has a game's record."""

    async def run(self, task: BoardTask, agents: vf.Agents) -> None:
        data = task.data
        env: Any = (ExamEnv if data.reward == "move" else TextEnv)(**data.parameters)
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
        if isinstance(env, TextEnv):
            talk.trace.info["record"] = write_record(env.result.record)


class OneTurnHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model for one reply to each prompt alone, without those before it."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def resume(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, _: Any, *rest: Any
    ) -> vf.ProgramResult:
        data, messages = rest[:2]
        system = [{"role": "system", "content": data.system_prompt}] if data.system_prompt else []
        asked = [{"role": "user", "content": message.content} for message in messages]
        async with httpx.AsyncClient(timeout=None) as client:
            answer = await client.post(
                f"{endpoint}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": system + asked},
            )
        return vf.ProgramResult(exit_code=int(answer.is_error), stdout="", stderr=answer.text)

    async def launch(self, *_: Any, **__: Any) -> vf.ProgramResult:
        raise NotImplementedError("BoardEnv opens each exchange")
