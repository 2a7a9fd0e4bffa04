"""OpenEnv: a server of games and a client play as the environment does in process."""
# uv venv --allow-existing .venv-examples/openenv && . .venv-examples/openenv/bin/activate \
#     && uv pip install openenv==0.10.0 --editable . && python training/examples/openenv_server.py

import re
import threading
import time
from contextlib import contextmanager

import uvicorn

from boardenvs.text import ExamEnv, TextEnv
from boardenvs.text.adapters.openenv import BoardClient, Reply, app_of


def write(prompt):
    found = re.search(r"Your legal moves are: (.*)\.", prompt)
    return f"I play {max(found[1].split(', '))}." if found else "I pass."


@contextmanager
def served(**parameters):
    """A client of a server on this machine."""
    config = uvicorn.Config(app_of(**parameters), port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with BoardClient(base_url=f"http://127.0.0.1:{port}").sync() as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()


def compare(client, here, replies):
    """Play with both, reply by reply; the rewards of the episodes."""
    rewards = []
    for seed in range(3):
        result = client.reset(seed=seed)
        here.reset(seed=seed)
        for reply in (*replies, *["write"] * 100):
            assert result.observation.prompt == here.prompt
            if result.done:
                break
            text = write(here.prompt) if reply == "write" else reply
            result, step = client.step(Reply(text=text)), here.step(text)
            assert (result.reward, result.done) == (step.reward, step.done)
            assert result.observation.reading == step.reading.kind
        rewards.append(result.reward)
    print(client.state(), rewards)
    return rewards


settings = {"game": "othello", "opponent": "greedy", "legal_moves": True}
with served(**settings) as client:
    rewards = compare(client, TextEnv(**settings), ["I play a1.", "Well."])
    assert set(rewards) <= {-1, 0, 1}
settings = {"game": "othello", "legal_moves": True}
with served(exam=True, **settings) as client:
    compare(client, ExamEnv(**settings), [])
