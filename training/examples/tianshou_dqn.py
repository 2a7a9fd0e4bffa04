"""Tianshou: DQN with masks, as black or red of Othello against a random opponent.

Tianshou's DQN looks for planes and mask under the names "obs" and "mask": a Gymnasium wrapper
renames what `mask_in_observation` gives.
"""
# python3 -m venv .venv-examples/tianshou && . .venv-examples/tianshou/bin/activate \
#     && pip install torch==2.13.0 tianshou==2.0.1 --editable '.[fast]' \
#     && python training/examples/tianshou_dqn.py

import sys

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Box, Dict
from gymnasium.wrappers import TransformObservation
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import boardenvs

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(SEED)
np.random.seed(SEED)
torch.set_num_threads(1)


def make_env():
    env = gymnasium.make("boardenvs/Othello-v0", opponent="random", mask_in_observation=True)
    space = Dict(obs=Box(0, 1, (8, 8, 2), np.int8), mask=Box(0, 1, (65,), np.int8))
    return TransformObservation(
        env, lambda seen: {"obs": seen["observation"], "mask": seen["action_mask"]}, space
    )


envs = DummyVectorEnv([make_env] * 32)
envs.seed(SEED)
network = Net(state_shape=(8, 8, 2), action_shape=65, hidden_sizes=[256, 256])
policy = DiscreteQLearningPolicy(
    model=network, action_space=envs.action_space[0], eps_training=0.1
)
dqn = DQN(
    policy=policy, optim=AdamOptimizerFactory(lr=5e-4), n_step_return_horizon=5,
    target_update_freq=500,
)  # fmt: skip
collector = Collector(dqn, envs, VectorReplayBuffer(100_000, 32), exploration_noise=True)
collector.reset()
dqn.run_training(
    OffPolicyTrainerParams(
        training_collector=collector, max_epochs=1, epoch_num_steps=60_000, batch_size=128,
        collection_step_num_env_steps=64, update_step_num_gradient_steps_per_sample=0.1,
        show_progress=False, verbose=False,
    )
)  # fmt: skip


def trained(game, state, rng):
    with torch.no_grad():
        values = network(game.observe(state))[0].numpy()
    return np.where(game.legal(state), values, -np.inf).argmax(axis=1)


score = boardenvs.play_match(boardenvs.games.make("othello"), trained, "random", pairs=200).score
print(f"score against random: {score:.3f}")
sys.exit(score < 0.8)
