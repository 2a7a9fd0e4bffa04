"""OpenEnv: a server of games and a client play as the environment does in this process."""
# uv venv --allow-existing .venv-examples/openenv && . .venv-examples/openenv/bin/activate \
#     && uv pip install openenv==0.10.0 --editable . && python training/examples/openenv_server.py

import re
import threading
import time

import uvicorn

from boardenvs.text import TextEnv
from boardenvs.text.adapters.openenv import BoardClient, Reply, app_of


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
