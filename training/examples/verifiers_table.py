"""verifiers: a policy that writes, trained by the rewards of its moves in Othello's exam.

The policy is a table: a weight for each kind of square, by its distances to the edges. It is served
as a model behind an endpoint. verifiers loads the environment by its id, asks the model, and pays
each reply the reward of its move. REINFORCE learns from these traces alone.

It runs with verifiers 0.4.0, the newest in November 2026, and 0.3.1. They differ in the numbers of
tasks: 0.3.1 leaves `task.data.idx` None, so `task.data.seed` tells tasks apart here.
"""
# uv venv --allow-existing .venv-examples/text && . .venv-examples/text/bin/activate \
#     && uv pip install --requirement training/examples/text.txt --editable . \
#     && python training/examples/verifiers_table.py

import asyncio
import json
import re
import threading
import zlib
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import verifiers.v1 as vf

from boardenvs.text import ExamEnv

BATCHES, BATCH, RATE = 8, 25, 0.5
weights = defaultdict(float)
batch = 0  # with the prompt, the seed of a reply: prompts are answered in any order


def kind(move):
    column, row = ord(move[0]) - ord("a"), int(move[1:]) - 1
    return tuple(sorted((min(column, 7 - column), min(row, 7 - row))))


def probabilities(moves):
    likely = np.exp([weights[kind(move)] for move in moves])
    return likely / likely.sum()


def moves_in(prompt):
    found = re.search(r"Your legal moves are: (.*)\.", prompt)
    return found[1].split(", ") if found else []


def write(prompt):
    moves = moves_in(prompt)
    rng = np.random.default_rng([batch, zlib.crc32(prompt.encode())])
    move = str(rng.choice(moves, p=probabilities(moves))) if moves else "pass"
    return json.dumps({"move": move})


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": write(asked["messages"][-1]["content"])}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        kind = {"id": "0", "object": "chat.completion", "created": 0, "model": asked["model"]}
        sent = json.dumps({**kind, "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *args):
        pass


def learn(trace):
    prompt, reply = (message.content for message in trace.branches[-1].messages)
    moves, chosen = moves_in(prompt), json.loads(reply)["move"]
    better = trace.reward - 0.5
    for move, probability in zip(moves, probabilities(moves), strict=True):
        weights[kind(move)] += RATE * better * ((move == chosen) - probability)


def mean_reward(exam):
    """The expected reward in the questions that are held out."""
    found = []
    for number in range(0, len(exam), 3):
        exam.reset(seed=number)
        rewards = exam.rewards()
        found.append(probabilities(rewards) @ [*rewards.values()])
    return np.mean(found)


async def play(env, tasks, url):
    client = vf.EvalClientConfig(base_url=url)
    context = vf.ModelContext(client=client, model="table", sampling=vf.SamplingConfig())
    async with env.serving():
        slots = [slot for task in tasks for slot in env.slots(task)]
        episodes = await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))
    assert all(episode.ok for episode in episodes), episodes
    return [trace for episode in episodes for trace in episode.traces]


ThreadingHTTPServer.request_queue_size = 100  # as many ask at once
server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"

# The id is that of the module `boardenvs_verifiers` beside this file.
taskset = {"id": "boardenvs-verifiers", "game": "othello", "reward": "move"}
exam = ExamEnv("othello", legal_moves=True)
env = vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
before, rng = mean_reward(exam), np.random.default_rng(0)
tasks = np.array([task for task in env.taskset if task.data.seed % 3], object)
for batch in range(BATCHES):
    traces = asyncio.run(play(env, rng.permutation(tasks)[:BATCH], url))
    for trace in traces:
        learn(trace)
    print(f"{batch:2d} paid {np.mean([trace.reward for trace in traces]):.3f}")
after = mean_reward(exam)
print(f"mean reward of questions that were held out: {before:.3f}, then {after:.3f}")
assert after > before + 0.08
