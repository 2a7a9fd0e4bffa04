"""OpenEnv: a server of games, or of questions of an exam, and its client.

    uvicorn.run(app_of(game="lines_of_action", opponent="level:3"))
    with BoardClient(base_url="http://localhost:8000").sync() as env:
        result = env.step(Reply(text='{"move": "b1-b3"}'))

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
    """A player's reply."""

    text: str
    finish_reason: str = "stop"  # "length" if a limit of tokens cut it off


class Asked(Observation):
    """The next prompt, empty at the end, and how the last reply was read."""

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
        found = self._env.step(action.text, finish_reason=action.finish_reason)
        prompt, reward, done, reading = found
        return Asked(prompt=prompt, reading=reading.kind, reward=reward, done=done)

    @property
    def state(self) -> State:
        return self._state


class BoardClient(EnvClient[Reply, Asked, State]):
    """The client of such a server."""

    def _step_payload(self, action: Reply) -> dict[str, Any]:
        return dict(action.model_dump())

    def _parse_result(self, payload: Mapping[str, Any]) -> StepResult[Asked]:
        rest = {name: payload.get(name) for name in ("reward", "done")}
        return StepResult(observation=Asked(**payload["observation"] | rest), **rest)

    def _parse_state(self, payload: Mapping[str, Any]) -> State:
        return State(**payload)


def app_of(*, sessions: int = 16, **parameters: Any) -> FastAPI:
    """Return a server for this many sessions at once, each with a `BoardEnvironment`."""
    BoardEnvironment(**parameters)  # raises for wrong parameters
    return create_fastapi_app(
        lambda: BoardEnvironment(**parameters), Reply, Asked, max_concurrent_envs=sessions
    )
