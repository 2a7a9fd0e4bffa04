"""Prime Intellect's `verifiers`: games, and questions of exams, as tasks that a trainer loads.

verifiers finds a taskset by the name of a module on Python's path: copy this folder there, and then

    config = {"taskset": {"id": "boardenvs-verifiers", "game": "othello"}}
    env = vf.load_environment(vf.resolve_env_config(config))

A task is a game against one of `opponents`, in turn, or with `reward="move"` a question of the
game's exam. Each prompt is asked alone and has the whole game in it, so each reply is a sample.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import httpx
import verifiers.v1 as vf

from boardenvs.records.jsonl import write_record
from boardenvs.text import ExamEnv, TextEnv
from boardenvs.text.reader import KINDS
from boardenvs.text.turn import RETRIES

__all__ = ["BoardTaskset", "OneTurnHarness", "VerifiersEnv"]


class BoardConfig(vf.TasksetConfig):
    """How tasks are made.

    reward: "outcome" is 1, .5 or 0 for a game; "move" is the reward of a move of an exam, see
    `ExamEnv`. The others are the parameters of `TextEnv`.
    """

    game: str = "othello"
    reward: Literal["outcome", "move"] = "outcome"
    opponents: list[str] = [f"level:{level}" for level in range(1, 11)]  # noqa: RUF012
    seat: str = "random"
    legal_moves: bool = True
    retries: int = RETRIES

    def parameters(self, number: int) -> dict[str, Any]:
        """Return the parameters of a task's environment."""
        given: dict[str, Any] = self.model_dump(include={"game", "legal_moves", "retries"})
        opponent = self.opponents[number % len(self.opponents)]
        game = {"seat": self.seat, "opponent": opponent}
        return given if self.reward == "move" else given | game


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
        if not self.INFINITE:
            seeds = range(len(ExamEnv(**config.parameters(0))))
        for seed in seeds:
            name, parameters = f"{config.game}#{seed}", config.parameters(seed)
            data = BoardData(name=name, reward=config.reward, parameters=parameters, seed=seed)
            yield BoardTask(data, config.task)


def _make(reward: str, parameters: dict[str, Any]) -> TextEnv:
    return (ExamEnv if reward == "move" else TextEnv)(**parameters)


class VerifiersConfig(vf.EnvConfig):
    """One seat, `player`: the model that is trained or measured."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class VerifiersEnv(vf.Env[VerifiersConfig]):
    """Plays the tasks. Metrics count how replies were read; `trace.info` has a game's record."""

    async def run(self, task: BoardTask, agents: vf.Agents) -> None:
        data = task.data
        env = _make(data.reward, data.parameters)
        await asyncio.to_thread(env.reset, seed=data.seed)
        async with agents.player.interaction(task) as talk:
            while not env.done and not (segment := await talk.turn(env.prompt)).terminated:
                why = talk.trace.calls[-1].finish_reason or "stop"
                await asyncio.to_thread(env.step, segment.last_reply, finish_reason=why)
        reward = env.reward
        if data.reward == "outcome":
            reward = (reward + 1) / 2 if env.done else 0.0  # a game that was broken off is lost
            talk.trace.info["record"] = write_record(env.record)
        talk.trace.record_reward(data.reward, reward)
        talk.trace.record_metrics({name: env.counts[name] for name in (*KINDS, "forfeits")})


class OneTurnHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model for one reply to each prompt alone, in this process."""

    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def resume(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, _: Any, *rest: Any
    ) -> vf.ProgramResult:
        messages = rest[1]
        asked = [{"role": "user", "content": message.content} for message in messages]
        async with httpx.AsyncClient(timeout=None) as client:
            answer = await client.post(
                f"{endpoint}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": asked},
            )
        return vf.ProgramResult(exit_code=int(answer.is_error), stdout="", stderr=answer.text)

    async def launch(self, *_: Any, **__: Any) -> vf.ProgramResult:
        raise NotImplementedError("VerifiersEnv opens each exchange")
