"""TextArena: two writers play Othello, and one that plays against the rules loses."""
# uv venv --allow-existing .venv-examples/text && . .venv-examples/text/bin/activate \
#     && uv pip install --requirement training/examples/text.txt --editable . \
#     && uv pip install --no-deps kaggle-environments==1.33.2 \
#     && python training/examples/textarena_match.py

import random
import re

import textarena as ta

from boardenvs import records
from boardenvs.text.adapters.textarena import TextBoardEnv  # which registers all games

rng = random.Random(0)


def at_random(prompt):
    found = re.search(r"Your legal moves are: (.*)\.", prompt)
    return f"I play {rng.choice(found[1].split(', '))}." if found else "I pass."


def play(env, writers, seed):
    """The rewards of a game, and what TextArena says of it."""
    env.reset(num_players=2, seed=seed)
    done = False
    while not done:
        player, observed = env.get_observation()
        prompt = observed[-1][1]
        assert f"You are {env.text.game.roles[player]}" in prompt, prompt
        done, _ = env.step(writers[player](prompt))
    return env.close()


env = ta.make("boardenvs/othello")
assert isinstance(env, TextBoardEnv)
for seed in range(5):
    rewards, info = play(env, (at_random, at_random), seed)
    record = env.text.result.record
    (verdict,) = records.check([record])  # what the rules say of the game
    assert (verdict.ending, verdict.error) == ("finished", None)
    assert [reward * 50 + 50 for reward in (rewards[0], rewards[1])] == [*verdict.goal]
    assert info[0]["turn_count"] + info[1]["turn_count"] == len(record.actions)
    print(seed, rewards)

rewards, info = play(env, (at_random, lambda prompt: "I play a1."), seed=1)
print(rewards, info[1])
assert rewards == {0: 1, 1: -1}
assert (info[1]["invalid_move"], info[1]["turn_count"]) == (True, 0)
