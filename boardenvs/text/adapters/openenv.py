"""OpenEnv: a server of games, or of questions of an exam, and its client.

    uvicorn.run(app_of(game="lines_of_action", opponent="level:3"))
    with BoardClient(base_url="http://localhost:8000").sync() as env:
        result = env.step(Reply(text="I move b1-b3"))

Each session of a client has an environment of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app

from boardenvs.text.env import TextEnv
from boardenvs.text.exam import ExamEnv


class Reply(Action):
    """What a player writes."""

    text: str
    finished: bool = True  # not cut off by a limit of tokens


class Asked(Observation):
    """What a player is asked; empty at the end. reading: what the last reply was read as."""

    prompt: str
    reading: str = ""


class BoardEnvironment(Environment[Reply, Asked, State]):
    """A `TextEnv`, or with `exam=True` an `ExamEnv`, of these parameters."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, *, exam: bool = False, **parameters: Any) -> None:
        super().__init__()
        self._env: TextEnv = (ExamEnv if exam else TextEnv)(**parameters)
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: object) -> Asked:
        self._state = State(episode_id=episode_id)
        return Asked(prompt=self._env.reset(seed=seed), done=self._env.done)

    def step(self, action: Reply, timeout_s: float | None = None, **_: object) -> Asked:
        self._state.step_count += 1
        step = self._env.step(action.text, finished=action.finished)
        return Asked(
            prompt=step.prompt, reading=step.reading.kind, reward=step.reward, done=step.done
        )

    @property
    def state(self) -> State:
        return self._state


class BoardClient(EnvClient[Reply, Asked, State]):
    """The same at the other end of the line."""

    def _step_payload(self, action: Reply) -> dict[str, Any]:
        return dict(action.model_dump())

    def _parse_result(self, payload: Mapping[str, Any]) -> StepResult[Asked]:
        rest = {name: payload.get(name) for name in ("reward", "done")}
        asked = Asked(**payload["observation"] | rest)
        return StepResult(observation=asked, **rest)

    def _parse_state(self, payload: Mapping[str, Any]) -> State:
        return State(**payload)


def app_of(*, sessions: int = 16, **parameters: Any) -> FastAPI:
    """A server for so many sessions at once; the parameters are those of `BoardEnvironment`."""
    BoardEnvironment(**parameters)  # raises what is wrong with them before anybody comes
    return create_fastapi_app(
        lambda: BoardEnvironment(**parameters), Reply, Asked, max_concurrent_envs=sessions
    )
