"""Minari: recorded games as a dataset, and a player that is cloned from it.

The player is a table: for each kind of square, by its distances to the edges, how much more often
`level:5` took it than it would have by chance.
"""
# uv venv --allow-existing .venv-examples/text && . .venv-examples/text/bin/activate \
#     && uv pip install --requirement training/examples/text.txt --editable . \
#     && python training/examples/minari_dataset.py

import os
import tempfile

import minari
import numpy as np

import boardenvs
from boardenvs.records import record_match
from boardenvs.records.minari import write_dataset

folder = tempfile.TemporaryDirectory()
os.environ["MINARI_DATASETS_PATH"] = folder.name
game = boardenvs.games.make("othello")

match = boardenvs.play_match(game, "level:5", "random", pairs=20)
records = record_match(game, match, ("level:5", "random"))
write_dataset(records, "boardenvs/othello/level5-v0", players=["level:5"])

dataset = minari.load_dataset("boardenvs/othello/level5-v0")
returns = [episode.rewards.sum() for episode in dataset]
print(f"{dataset.total_episodes} episodes, {dataset.total_steps} steps, returns {np.mean(returns)}")
assert np.isclose(np.mean(returns), match.score * 2 - 1)

rank, file = np.divmod(np.arange(64), 8)
away = np.sort([np.minimum(rank, 7 - rank), np.minimum(file, 7 - file)], axis=0)
kind = np.append(away[0] * 4 + away[1], 16)  # the last is a pass
taken, expected = np.ones(17), np.ones(17)
for episode in dataset:
    np.add.at(taken, kind[episode.actions], 1)
    masks = episode.observations["action_mask"][:-1]
    np.add.at(expected, np.broadcast_to(kind, masks.shape), masks / masks.sum(1, keepdims=True))
liked = (taken / expected)[kind]


def cloned(game, state, rng):
    return np.where(game.legal(state), liked, -1).argmax(axis=1)


score = boardenvs.play_match(game, cloned, "random", pairs=100).score
print(f"score of the clone against random: {score:.3f}")
assert score > 0.6
