"""Ludax: a player of ours against the AlphaZero network of ludax-agents, in Othello.

That network is a ResNet of 310,000 parameters, and plays its most probable move without search.
Its board is ours with the ranks mirrored.
"""
# uv venv --allow-existing .venv-examples/ludax && . .venv-examples/ludax/bin/activate \
#     && uv pip install ludax==1.0.0 ludax-agents==1.0.0 dm-haiku==0.0.17 jax==0.5.3 \
#     mctx==0.0.5 --editable '.[fast]' \
#     && python training/examples/ludax_match.py trained

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import haiku as hk
import jax
import numpy as np
from ludax_agents import get_checkpoint_path
from ludax_agents.network import AZNet
from ludax_agents.policy import _CheckpointUnpickler, _compat_shaped_array

import boardenvs

BOARDS = 64  # judged at once: each other number would be compiled again

with open(get_checkpoint_path("reversi"), "rb") as file, _compat_shaped_array():
    saved = _CheckpointUnpickler(file).load()


@hk.without_apply_rng
@hk.transform_with_state
def network(planes):
    size = saved["config"]
    judge = AZNet(65, size.num_channels, size.num_layers, size.resnet_v2)
    return judge(planes, is_training=False, test_local_stats=False)


logits_of = jax.jit(lambda planes: network.apply(*saved["model"], planes)[0][0])


def ludax(game, state, rng):
    planes = game.observe(state)[:, ::-1]
    padded = np.zeros((-len(planes) % BOARDS + len(planes), 8, 8, 2), bool)
    padded[: len(planes)] = planes
    parts = [logits_of(part) for part in padded.reshape(-1, BOARDS, 8, 8, 2)]
    logits = np.concatenate(parts)[: len(planes)]
    squares, passing = np.split(logits, [64], axis=1)
    mirrored = squares.reshape(-1, 8, 8)[:, ::-1].reshape(-1, 64)
    legal = game.legal(state)
    return np.where(legal, np.hstack([mirrored, passing]), -np.inf).argmax(axis=1)


player, pairs = sys.argv[1], int((sys.argv[2:] or [500])[0])
match = boardenvs.play_match("othello", player, ludax, pairs, opening_plies=(10, 10))
assert not match.forfeits.any(), match.stats
ours, its_own = (stats.ms_per_move for stats in match.stats)
print(f"{player} against ludax-agents: {match}")
print(f"CPU milliseconds a move: {ours:.2f}, of ludax-agents {its_own:.2f}")
