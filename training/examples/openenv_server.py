"""OpenEnv: a server of games, or of questions of an exam, and its client.

They play as the environment does in this process. Each session of a client has an environment of
its own.
"""
# uv venv --allow-existing .venv-examples/openenv && . .venv-examples/openenv/bin/activate \
#     && uv pip install openenv==0.10.0 --editable . && python training/examples/openenv_server.py

import re
import threading
import time

import uvicorn
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app

from boardenvs.text import ExamEnv, TextEnv


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

    def __init__(self, exam=False, **parameters):
        super().__init__()
        self._env = (ExamEnv if exam else TextEnv)(**parameters)
        self._state = State()

    def reset(self, seed=None, episode_id=None, **_):
        self._state = State(episode_id=episode_id)
        return Asked(prompt=self._env.reset(seed=seed), done=self._env.done)

    def step(self, action, timeout_s=None, **_):
        self._state.step_count += 1
        found = self._env.step(action.text, finish_reason=action.finish_reason)
        prompt, reward, done, reading = found
        return Asked(prompt=prompt, reading=reading.kind, reward=reward, done=done)

    @property
    def state(self):
        return self._state


class BoardClient(EnvClient[Reply, Asked, State]):
    """The client of such a server."""

    def _step_payload(self, action):
        return action.model_dump()

    def _parse_result(self, payload):
        rest = {name: payload.get(name) for name in ("reward", "done")}
        return StepResult(observation=Asked(**payload["observation"] | rest), **rest)

    def _parse_state(self, payload):
        return State(**payload)


def app_of(sessions=16, **parameters):
    """Return a server for this many sessions at once."""
    return create_fastapi_app(
        lambda: BoardEnvironment(**parameters), Reply, Asked, max_concurrent_envs=sessions
    )


def write(prompt):
    found = re.search(r"Your legal moves are: (.*)\.", prompt)
    return f"Final answer: {max(found[1].split(', '))}" if found else "pass"


settings = {"game": "othello", "opponent": "greedy", "legal_moves": True}
server = uvicorn.Server(uvicorn.Config(app_of(**settings), port=0, log_level="warning"))
threading.Thread(target=server.run).start()
while not server.started:
    time.sleep(0.05)
port = server.servers[0].sockets[0].getsockname()[1]
here = TextEnv(**settings)
try:
    with BoardClient(base_url=f"http://127.0.0.1:{port}").sync() as client:
        for seed in range(3):
            result, prompt = client.reset(seed=seed), here.reset(seed=seed)
            replies = ["a1", "Well."]  # an illegal move, and no answer
            while not result.done:
                assert result.observation.prompt == prompt
                reply = replies.pop(0) if replies else write(prompt)
                result, step = client.step(Reply(text=reply)), here.step(reply)
                assert (result.reward, result.done) == (step.reward, step.done)
                assert result.observation.reading == step.reading.kind
                prompt = step.prompt
            print(f"game {seed}: reward {result.reward}, {client.state().step_count} replies")
finally:
    server.should_exit = True
