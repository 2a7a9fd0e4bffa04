"""verifiers: a policy that writes, trained by the rewards of its moves in Othello's exam.

The policy is a table: a weight for each kind of square, by its distances to the edges. It is served
as a model behind an endpoint; verifiers loads the environment by its id, asks there, and pays
each reply the reward of its move. REINFORCE learns from these traces alone.
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
from verifiers.v1.serve import EnvClient, EnvServer

import boardenvs
from boardenvs.text import ExamEnv, TextPlayer

BATCHES, BATCH, RATE = 8, 25, 0.5
weights = defaultdict(float)
batch = 0  # what chance is drawn from, with the prompt: in whatever order prompts are answered


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
    if not moves:
        return "I pass."
    rng = np.random.default_rng([batch, zlib.crc32(prompt.encode())])
    return json.dumps({"move": str(rng.choice(moves, p=probabilities(moves)))})


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = write(asked["messages"][-1]["content"])
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        kind = {"id": "0", "object": "chat.completion", "created": 0, "model": asked["model"]}
        sent = json.dumps({**kind, "choices": [{"index": 0, **choice}]}).encode()
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


def mean_value(env):
    """The mean value of moves in questions that were not trained on."""
    found = []
    for number in range(len(env)):
        if number % 3 == 0:
            env.reset(seed=number)
            rewards = env.rewards()
            found.append(probabilities(rewards) @ [*rewards.values()])
    return np.mean(found)


async def play(env, tasks, url):
    client = vf.EvalClientConfig(base_url=url)
    context = vf.ModelContext(client=client, model="table", sampling=vf.SamplingConfig())
    async with env.serving():
        slots = [slot for task in tasks for slot in env.slots(task)]
        episodes = await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))
    wrong = [
        (error.type, error.message) for e in episodes for t in (e, *e.traces) for error in t.errors
    ]
    assert all(episode.ok for episode in episodes), wrong
    return [trace for episode in episodes for trace in episode.traces]


async def play_served(config, count, url):
    """The episodes of a server, as trainers have it: they send it tasks, and get traces back."""
    server = EnvServer(config, address="tcp://127.0.0.1:0")
    serving, client = asyncio.create_task(server.run()), EnvClient(server.address)
    asked = {"client": vf.EvalClientConfig(base_url=url), "sampling": vf.SamplingConfig()}
    tasks = [json.loads(task.data.model_dump_json()) for task in server.env.taskset.take(count)]
    found = [await client.run(model="table", task_data=task, **asked) for task in tasks]
    await client.close()
    serving.cancel()
    return found


def config(**settings):
    settings = {"id": "boardenvs-verifiers", "game": "othello", **settings}
    return vf.resolve_env_config({"taskset": settings})


ThreadingHTTPServer.request_queue_size = 100  # as many ask at once
server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"

exam, env = ExamEnv("othello", legal_moves=True), vf.load_environment(config(reward="move"))
before = mean_value(exam)
rng = np.random.default_rng(0)
tasks = [task for task in env.taskset if task.data.idx % 3]
for batch in range(BATCHES):
    traces = asyncio.run(play(env, rng.permutation(np.array(tasks, object))[:BATCH], url))
    for trace in traces:
        learn(trace)
    print(f"{batch:2d} paid {np.mean([trace.reward for trace in traces]):.3f}")
after = mean_value(exam)
print(f"mean reward of questions that were held out: {before:.3f}, then {after:.3f}")
assert after > before + 0.08

# Whole games, paid by the level of the opponent.
for episode in asyncio.run(play_served(config(reward="level"), 2, url)):
    assert episode.ok, episode
    (trace,) = episode.traces
    print(trace.task.data.name, trace.reward, trace.metrics)
    assert trace.metrics["move"] > 20
    assert not trace.metrics["illegal"] + trace.metrics["forfeits"]

player = TextPlayer(write, legal_moves=True)
score = boardenvs.play_match(boardenvs.games.make("othello"), player, "random", pairs=50).score
print(f"score against random: {score:.3f}")
assert score > 0.6
