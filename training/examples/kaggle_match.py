"""Kaggle environments: two writers play under Kaggle's runner, and their game is shown as a page.

Kaggle's package asks for many others, among them for its other games; none is needed here.
"""
# uv venv --allow-existing .venv-examples/text && . .venv-examples/text/bin/activate \
#     && uv pip install --requirement training/examples/text.txt --editable . \
#     && uv pip install --no-deps kaggle-environments==1.33.2 \
#     && python training/examples/kaggle_match.py

import random
import re

import kaggle_environments

from boardenvs import records
from boardenvs.text.adapters import kaggle

kaggle.register()
GAME = {"game": "wolf_and_sheep", "seed": 3, "openingPlies": 2, "disguise": True}


def writer(observation, configuration):
    found = re.search(r"Your legal moves are: (.*)\.", observation.prompt)
    moves = found[1].split(", ") if found else ["pass"]
    return f"I play {random.Random(observation.prompt).choice(moves)}."


def nonsense(observation, configuration):
    return "I like this game."


def fails(observation, configuration):
    raise RuntimeError("broken")


env = kaggle_environments.make("boardenvs", configuration=GAME)
steps = env.run([writer, writer])
(verdict,) = records.check([env.text.result.record])  # what the rules say of the game
assert (verdict.ending, verdict.error) == ("finished", None)
assert [agent.reward * 50 + 50 for agent in steps[-1]] == [*verdict.goal]
print(env.render(mode="ansi"))
assert "<svg" in env.render(mode="html")

again = kaggle_environments.make("boardenvs", configuration=GAME, steps=steps[:8])
again.run([writer, writer])
assert again.text.result.record.actions == env.text.result.record.actions

for loser in (nonsense, fails):
    env = kaggle_environments.make("boardenvs", configuration=GAME)
    last = env.run([loser, writer])[-1]
    print(loser.__name__, [agent.status for agent in last], [agent.reward for agent in last])
    assert (last[1].reward, last[1].status) == (1, "DONE")
